/**
 * Text of strangers, as a terminal may show it: what would move the cursor, change colours or turn the order of
 * letters is shown as its escape. Line breaks and tabs stay.
 */
export function toTerminalText(text: string): string {
  return text.replaceAll(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

// Control characters, and the marks that reorder or hide text.
const UNSAFE = /(?![\n\t])[\p{Cc}\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/gu;
