/**
 * The word index of each database: FTS5 in SQLite, tsvector in PostgreSQL. The oldest supported Node versions have a SQLite
 * without FTS5: there a search scans the words, and the first process with FTS5 indexes the rest.
 */
import { readInteger } from "../tables/columns.ts";
import { change, first } from "../statement.ts";
import type { Store, Transaction } from "../store.ts";
import type { QueryWord } from "./words.ts";

export type WordIndex = "fts5" | "scan" | "tsvector";

export function* findWordIndex(dialect: Store["dialect"]): Transaction<WordIndex> {
  if (dialect === "postgres") return "tsvector";
  const row = yield* first("SELECT sqlite_compileoption_used('ENABLE_FTS5') AS fts5");
  return row !== undefined && readInteger(row, "fts5") === 1 ? "fts5" : "scan";
}

/** Words as a chunk's row holds them. */
export function toWordColumn(index: WordIndex, words: readonly string[]): string {
  return index === "tsvector" ? toVector(words) : ` ${words.join(" ")} `;
}

// PostgreSQL stores at most 255 positions of a word, each up to 16,383.
const MOST_POSITIONS = 255;
const LAST_POSITION = 16_383;

function toVector(words: readonly string[]): string {
  const positions = new Map<string, number[]>();
  for (const [index, word] of words.entries()) {
    const known = positions.get(word);
    if (known === undefined) positions.set(word, [Math.min(index + 1, LAST_POSITION)]);
    else if (known.length < MOST_POSITIONS && index < LAST_POSITION) known.push(index + 1);
  }
  return [...positions].map(([word, at]) => `'${word}':${at.join(",")}`).join(" ");
}

/** Adds new chunks to the index. SQLite needs this extra step. */
export function* indexNewChunks(index: WordIndex): Transaction<void> {
  if (index !== "fts5") return;
  // Created here, not by a migration: migrations must work on every Node version.
  yield* change(
    `CREATE VIRTUAL TABLE IF NOT EXISTS toolwright_context_words
     USING fts5(words, content='', contentless_delete=1, tokenize='ascii')`,
  );
  yield* change(
    `INSERT INTO toolwright_context_words (rowid, words)
     SELECT id, words FROM toolwright_context_chunks WHERE is_indexed = 0`,
  );
  yield* change("UPDATE toolwright_context_chunks SET is_indexed = 1 WHERE is_indexed = 0");
}

/** Whether a process without FTS5 wrote chunks, or no index exists yet. */
export function* hasNewChunks(index: WordIndex): Transaction<boolean> {
  if (index !== "fts5") return false;
  const table = yield* first("SELECT 1 AS found FROM sqlite_master WHERE name = 'toolwright_context_words'");
  const chunk = yield* first("SELECT id FROM toolwright_context_chunks WHERE is_indexed = 0 LIMIT 1");
  return table === undefined || chunk !== undefined;
}

/** Must come before the chunks themselves are deleted. */
export function* forgetChunks(index: WordIndex, itemId: number): Transaction<void> {
  if (index !== "fts5") return;
  yield* indexNewChunks(index);
  yield* change(
    "DELETE FROM toolwright_context_words WHERE rowid IN (SELECT id FROM toolwright_context_chunks WHERE item_id = ?1)",
    itemId,
  );
}

/** A query for `?1`: chunks with their score, the higher the better. */
export function hitsSql(index: WordIndex, mode: "all" | "any"): string {
  switch (index) {
    case "fts5":
      return `SELECT rowid AS chunk_id, -rank AS score FROM toolwright_context_words
        WHERE toolwright_context_words MATCH ?1`;
    case "tsvector":
      return `SELECT id AS chunk_id, CAST(ts_rank(words, CAST(?1 AS TSQUERY), 1) AS DOUBLE PRECISION) AS score
        FROM toolwright_context_chunks WHERE words @@ CAST(?1 AS TSQUERY)`;
    case "scan":
      return `SELECT id AS chunk_id,
          (SELECT COUNT(*) FROM json_each(?1) w WHERE c.words LIKE w.value) AS score
        FROM toolwright_context_chunks c WHERE ${mode === "all" ? "NOT " : ""}EXISTS
          (SELECT 1 FROM json_each(?1) w WHERE c.words ${mode === "all" ? "NOT " : ""}LIKE w.value)`;
  }
}

/** The value of `?1`. Words have only letters and digits, so none needs escaping. */
export function toMatch(index: WordIndex, mode: "all" | "any", words: readonly QueryWord[]): string {
  switch (index) {
    case "fts5":
      return words
        .map(({ word, isPrefix }) => `"${word}"${isPrefix ? "*" : ""}`)
        .join(mode === "all" ? " " : " OR ");
    case "tsvector":
      return words
        .map(({ word, isPrefix }) => `'${word}'${isPrefix ? ":*" : ""}`)
        .join(mode === "all" ? " & " : " | ");
    case "scan":
      return JSON.stringify(words.map(({ word, isPrefix }) => `% ${word}${isPrefix ? "" : " "}%`));
  }
}
