/**
 * Makes untrusted text (from a model, a tool, a server or a user) safe to print on a terminal. Characters that move the
 * cursor, change colours, reorder or hide text are escaped, and no text can imitate a line of our own output. Print
 * untrusted text through these functions only.
 */
import { toShownJson } from "../util/shown-value.ts";
import { escapeUnsafe, escapeUnsafeInJson, hasUnsafe } from "../util/storable-text.ts";

/** Several lines, such as the output of a tool: keeps line breaks and tabs. */
export function toTerminalText(text: string): string {
  return escapeUnsafe(text);
}

/** One line: escapes line breaks and tabs too. */
export function toTerminalLine(text: string): string {
  return toTerminalText(text.replaceAll("\n", String.raw`\n`).replaceAll("\t", String.raw`\t`));
}

/** Several lines within our own output: marks every line after the first. Idempotent. */
export function toTerminalBlock(text: string): string {
  return toTerminalText(text.replace(/\n+$/, "")).replaceAll(/\n(?! {2}\| )/g, "\n  | ");
}

/** A name or an id in a sentence: quoted, unless it is a plain word. */
export function toTerminalName(name: string): string {
  return /^[\p{L}\p{N}_.:@/+~#=%-]+$/u.test(name) && !hasUnsafe(name) ? name : JSON.stringify(name);
}

/** JSON that is safe to print: control characters are escaped. */
export function toTerminalJson(value: unknown, indent = 2): string {
  return escapeUnsafeInJson(toShownJson(value, indent));
}

/** Whether a text contains a character that must be escaped. */
export function isUnsafeForTerminal(text: string): boolean {
  return /[\n\t]/.test(text) || hasUnsafe(text);
}

/** Quotes a word for any POSIX shell. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** The same for printing: unsafe characters are escaped in a form that bash and zsh accept when pasted. */
export function printedWord(word: string): string {
  if (!isUnsafeForTerminal(word)) return quoted(word);
  // Bytes, because \u depends on the locale of the shell and would absorb hex digits that follow it.
  const bytes = Array.from(word, (character) =>
    /[\w @%+=:,./-]/.test(character)
      ? character
      : [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join(""),
  );
  return `$'${bytes.join("")}'`;
}
