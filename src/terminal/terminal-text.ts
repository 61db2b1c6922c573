/**
 * Text that came from elsewhere (a model, a tool, a server, a name that somebody chose), as a terminal may show it. What
 * would move the cursor, change colours, reorder or hide letters is shown as its escape, and nothing can look like a
 * line of ours. Every surface uses these functions and no others.
 */
import { toShownJson } from "../util/shown-value.ts";

/** Several lines, such as the output of a tool: line breaks and tabs stay. */
export function toTerminalText(text: string): string {
  return text.replaceAll(UNSAFE, escapeOf);
}

/** One line: line breaks and tabs are shown as their escapes too. */
export function toTerminalLine(text: string): string {
  return toTerminalText(text.replaceAll("\n", String.raw`\n`).replaceAll("\t", String.raw`\t`));
}

/** Several lines among ours: every line after the first has a mark. To do it twice changes nothing. */
export function toTerminalBlock(text: string): string {
  return toTerminalText(text.replace(/\n+$/, "")).replaceAll(/\n(?! {2}\| )/g, "\n  | ");
}

/** A name or an id within a sentence: in quotes, unless it is a plain word. */
export function toTerminalName(name: string): string {
  return /^[\p{L}\p{N}_.:@/+~#=%-]+$/u.test(name) ? name : JSON.stringify(name);
}

/** JSON for programs that may end up on a terminal: the value as it is shown everywhere, its controls escaped. */
export function toTerminalJson(value: unknown, indent = 2): string {
  // Outside its texts, JSON has no such character but line breaks.
  return toShownJson(value, indent).replaceAll(UNSAFE, (character) =>
    character.split("").map(unitEscape).join(""),
  );
}

/** Whether a text has a character that must not be printed as it is. */
export function isUnsafeForTerminal(text: string): boolean {
  return /[\n\t]/.test(text) || text.search(UNSAFE) !== -1;
}

// Control characters, marks that reorder or hide text, separators of lines, halves of pairs, and letters without a shape.
// oxlint-disable-next-line eslint/no-misleading-character-class
const UNSAFE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u034F\u115F\u1160\u17B4\u17B5\u3164\uFFA0]/gu;

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : unitEscape(character);
}

function unitEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** A word as every shell takes it for one. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** The same in print, so that it can be pasted: what a terminal must not get is spelled out, for bash and zsh. */
export function printedWord(word: string): string {
  if (!isUnsafeForTerminal(word)) return quoted(word);
  // By bytes: \u would depend on the locale of the shell, and may not be followed by a letter that is a digit too.
  const bytes = Array.from(word, (character) =>
    /[\w @%+=:,./-]/.test(character)
      ? character
      : [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join(""),
  );
  return `$'${bytes.join("")}'`;
}
