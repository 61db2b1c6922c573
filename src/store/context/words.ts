/**
 * The words of a text, as they are indexed and searched for. They are cut and folded here and not by the databases, so
 * that both find the same, and so that no query can hold syntax: a word is letters and digits only.
 */

const LONGEST_WORD = 64;
const MOST_QUERY_WORDS = 16;
/** Shorter words have to match as a whole. */
const SHORTEST_PREFIX = 3;

/** Letters with their accents, which may be characters of their own. */
const RUN = /[\p{L}\p{N}\p{M}]+/gu;
/** Scripts without spaces are cut into single characters. */
const SINGLE = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]`;
const WORD = new RegExp(String.raw`${SINGLE}|(?:(?!${SINGLE})[\p{L}\p{N}])+`, "gu");

export interface PlacedWord {
  readonly word: string;
  /** Where it, or what it is a part of, begins in the text. */
  readonly index: number;
}

export function* placedWords(text: string): Generator<PlacedWord> {
  for (const { 0: run, index } of text.matchAll(RUN)) {
    const folded = run.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
    for (const [word] of folded.matchAll(WORD)) {
      yield { word: word.slice(0, LONGEST_WORD).toWellFormed(), index };
    }
  }
}

export function wordsOf(text: string): string[] {
  return [...placedWords(text)].map(({ word }) => word);
}

export interface QueryWord {
  readonly word: string;
  /** It matches longer words that begin so. */
  readonly isPrefix: boolean;
}

/** What is searched for: the first words of a query, each once. */
export function queryWords(query: string): QueryWord[] {
  const words = [...new Set(wordsOf(query))].slice(0, MOST_QUERY_WORDS);
  return words.map((word) => ({ word, isPrefix: word.length >= SHORTEST_PREFIX }));
}

export function matchesWord({ word, isPrefix }: QueryWord, found: string): boolean {
  return isPrefix ? found.startsWith(word) : found === word;
}
