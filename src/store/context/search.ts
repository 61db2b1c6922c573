/** Finds chunks by their words: the best one of each item. */
import { readInteger, readText } from "../tables/columns.ts";
import { all, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { inLocation, type ItemLocation, locationParameters } from "./location.ts";
import { hitsSql, toMatch, type WordIndex } from "./word-index.ts";
import type { QueryWord } from "./words.ts";

export interface Hit {
  readonly drive: string;
  readonly path: string;
  readonly version: number;
  /** The text of the chunk. */
  readonly body: string;
  readonly startLine: number;
}

/** Items with all of the words come first; where they are too few, items with any follow. */
export function* searchWords(
  index: WordIndex,
  words: readonly QueryWord[],
  location: ItemLocation,
  limit: number,
): Transaction<Hit[]> {
  if (words.length === 0) return [];
  const found = yield* search(index, "all", words, location, limit);
  if (found.length >= limit || words.length === 1) return found;
  const known = new Set(found.map(nameOf));
  const further = yield* search(index, "any", words, location, limit + found.length);
  return [...found, ...further.filter((hit) => !known.has(nameOf(hit)))].slice(0, limit);
}

function* search(
  index: WordIndex,
  mode: "all" | "any",
  words: readonly QueryWord[],
  location: ItemLocation,
  limit: number,
): Transaction<Hit[]> {
  const rows = yield* all(
    `WITH hits AS MATERIALIZED (${hitsSql(index, mode)}), placed AS (
       SELECT c.item_id, c.start_char, c.chars, c.start_line, h.score,
         ROW_NUMBER() OVER (PARTITION BY c.item_id ORDER BY h.score DESC, c.position) AS rank_in_item
       FROM hits h JOIN toolwright_context_chunks c ON c.id = h.chunk_id)
     SELECT i.drive, i.path, i.version, p.start_line, ${BODY}
     FROM placed p JOIN toolwright_context_items i ON i.id = p.item_id
     WHERE p.rank_in_item = 1 AND ${inLocation(3)} ORDER BY p.score DESC, i.drive, i.path LIMIT ?2`,
    toMatch(index, mode, words),
    limit,
    ...locationParameters(location),
  );
  return rows.map(toHit);
}

/** The text of a chunk `p` of an item `i`. */
export const BODY = "substr(i.content, CAST(p.start_char AS INTEGER) + 1, CAST(p.chars AS INTEGER)) AS body";

export function toHit(row: Row): Hit {
  return {
    drive: readText(row, "drive"),
    path: readText(row, "path"),
    version: readInteger(row, "version"),
    body: readText(row, "body"),
    startLine: readInteger(row, "start_line"),
  };
}

function nameOf({ drive, path }: Hit): string {
  return `${drive}:${path}`;
}
