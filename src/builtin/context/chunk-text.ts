/** Cuts a text into chunks that a model can embed at once. Never cuts inside a character. */
import type { Chunk } from "../../store/context/items.ts";
import { wordsOf } from "../../store/context/words.ts";

const LONGEST_CHUNK = 2_000;

/** The first chunk also contains the words of the path, so that an item can be found by its name. */
export function chunkText(path: string, content: string): Chunk[] {
  const chunks: Chunk[] = [];
  let startChar = 0;
  let startLine = 1;
  for (let start = 0; start < content.length || chunks.length === 0;) {
    const end = cutAfter(content, start, LONGEST_CHUNK);
    const body = content.slice(start, end);
    const words = wordsOf(body);
    const chars = countCharacters(body);
    chunks.push({
      startChar,
      chars,
      startLine,
      words: chunks.length === 0 ? [...wordsOf(path), ...words] : words,
    });
    startChar += chars;
    startLine += countLines(body);
    start = end;
  }
  return chunks;
}

/** The end of a chunk: after a paragraph, a line or a word, if one ends in its second half. */
function cutAfter(text: string, start: number, longest: number): number {
  const last = start + longest;
  if (last >= text.length) return text.length;
  for (const end of ["\n\n", "\n", " "]) {
    const found = text.lastIndexOf(end, last - end.length);
    if (found >= start + longest / 2) return found + end.length;
  }
  return wholeCharacters(text, last);
}

/** The nearest index at or before this one that is not inside a character. */
export function wholeCharacters(text: string, index: number): number {
  const isInside = index > 0 && index < text.length && /^[\uDC00-\uDFFF]/.test(text.slice(index, index + 1));
  return isInside ? index - 1 : index;
}

export function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** Counts as databases do: a surrogate pair is one character. */
function countCharacters(text: string): number {
  return text.length - (text.match(/[\uD800-\uDBFF]/g)?.length ?? 0);
}
