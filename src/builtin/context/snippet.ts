/** The part of a chunk that shows why it matched, on one line. */
import { matchesWord, placedWords, type QueryWord } from "../../store/context/words.ts";
import { cleanLine } from "../../terminal/clean-text.ts";
import { countLines, wholeCharacters } from "./chunk-text.ts";

const BEFORE = 80;
const LONGEST = 300;

export interface Snippet {
  readonly snippet: string;
  /** The number of lines before the snippet. */
  readonly linesBefore: number;
}

/** The text around the first matching word, else the beginning of the chunk. */
export function cutSnippet(body: string, words: readonly QueryWord[]): Snippet {
  const found = firstMatch(body, words) ?? 0;
  const start = wholeCharacters(body, Math.max(0, found - BEFORE));
  const end = wholeCharacters(body, Math.min(body.length, start + LONGEST));
  const line = cleanLine(body.slice(start, end), LONGEST);
  const snippet = `${start > 0 ? "…" : ""}${line}${end < body.length ? "…" : ""}`;
  return { snippet, linesBefore: countLines(body.slice(0, found)) };
}

function firstMatch(body: string, words: readonly QueryWord[]): number | undefined {
  for (const { word, index } of placedWords(body)) {
    if (words.some((wanted) => matchesWord(wanted, word))) return index;
  }
  return undefined;
}
