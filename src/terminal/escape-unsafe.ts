/**
 * The characters that no untrusted text may bring to a reader: on a terminal, in JSON, and on the page. They move the
 * cursor, change colours, reorder or hide text. It must import nothing: browsers load it too.
 */

// Control characters, characters that reorder or hide text, line separators, lone surrogates, and invisible letters.
// oxlint-disable-next-line eslint/no-misleading-character-class
const UNSAFE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u034F\u115F\u1160\u17B4\u17B5\u3164\uFFA0]/gu;

/** Keeps line breaks and tabs. */
export function escapeUnsafe(text: string): string {
  return text.replaceAll(UNSAFE, escapeOf);
}

/** Outside of strings, JSON contains no such character except line breaks, so its value stays the same. */
export function escapeUnsafeInJson(json: string): string {
  return json.replaceAll(UNSAFE, (character) => character.split("").map(unitEscape).join(""));
}

export function hasUnsafe(text: string): boolean {
  return text.search(UNSAFE) !== -1;
}

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : unitEscape(character);
}

function unitEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
