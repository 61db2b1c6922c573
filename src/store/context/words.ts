/**
 * Splits text into words for the index and for queries. Splitting and case folding happen here, not in the databases, so that
 * both find the same, and no query can contain syntax: a word has only letters and digits.
 */

const LONGEST_WORD = 64;
const MOST_QUERY_WORDS = 16;
/** Shorter words have to match as a whole. */
const SHORTEST_PREFIX = 3;

/** Letters with their accents, which may be characters of their own. */
const RUN = /[\p{L}\p{N}\p{M}]+/gu;
/** Scripts without spaces are split into single characters. */
const SINGLE = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]`;
const WORD = new RegExp(String.raw`${SINGLE}|(?:(?!${SINGLE})[\p{L}\p{N}])+`, "gu");

export interface PlacedWord {
  readonly word: string;
  /** The offset in the text of the word, or of the word that it is a part of. */
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
  /** It also matches longer words with this prefix. */
  readonly isPrefix: boolean;
}

/** The search terms: the first distinct words of a query. */
export function queryWords(query: string): QueryWord[] {
  const words = [...new Set(wordsOf(query))].slice(0, MOST_QUERY_WORDS);
  return words.map((word) => ({ word, isPrefix: word.length >= SHORTEST_PREFIX }));
}

export function matchesWord({ word, isPrefix }: QueryWord, found: string): boolean {
  return isPrefix ? found.startsWith(word) : found === word;
}
