/** Words of a command line. */
import { isUnsafeForTerminal } from "./terminal-text.ts";

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
