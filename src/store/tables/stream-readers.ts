/**
 * Readers of runs, and the parts that are kept for them. The end of a task deletes the parts of its responses, which
 * may hold what tools redact. Parts that a live reader has not read by then are encrypted for it: only its process can
 * read them.
 */
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { encryptFor } from "../../util/private-text.ts";
import { readInteger, readIntegerOrNull, readText } from "./columns.ts";

export interface StreamReader {
  readonly runId: string;
  readonly readerId: string;
}

/** In characters, for one reader. */
const MOST_SEALED = 16 * 2 ** 20;

const ENTER = `INSERT INTO toolwright_stream_readers (run_id, reader_id, read_index, until_ms, public_key)
VALUES (?1, ?2, ?3, {now} + CAST(?4 AS BIGINT), ?5)
ON CONFLICT (run_id, reader_id) DO UPDATE SET read_index = excluded.read_index, until_ms = excluded.until_ms`;

/** From now on nothing is deleted that the reader has not read. Returns the index of the last part that was deleted before. */
export function* enterReader(
  { runId, readerId }: StreamReader,
  readIndex: number,
  forMs: number,
  publicKey: string,
): Transaction<number> {
  // Another reader of a run that does not exist yet may have deleted it.
  yield* wantUnlessOver(runId);
  const deleted = yield* lockStream(runId);
  yield* forgetExpired();
  yield* change(ENTER, runId, readerId, readIndex, forMs, publicKey);
  return deleted ?? -1;
}

function wantUnlessOver(runId: string): Transaction<number> {
  return change(
    `INSERT INTO toolwright_streams (run_id, next_index) SELECT ?1, 0
     WHERE NOT EXISTS (SELECT 1 FROM toolwright_runs r WHERE r.id = ?1 AND r.state IN ('finished', 'failed', 'cancelled'))
     ON CONFLICT DO NOTHING`,
    runId,
  );
}

/** A deletion either sees a reader, or commits before the reader enters. `undefined` if the run is not read. */
function* lockStream(runId: string): Transaction<number | undefined> {
  const row = yield* first("SELECT deleted_index FROM toolwright_streams WHERE run_id = ?1 {update}", runId);
  return row && (readIntegerOrNull(row, "deleted_index") ?? -1);
}

/** Readers of processes that have died. */
function* forgetExpired(): Transaction<void> {
  const rows = yield* all(
    "SELECT run_id, reader_id FROM toolwright_stream_readers WHERE until_ms <= {now} {skip}",
  );
  for (const row of rows)
    yield* forgetReader({ runId: readText(row, "run_id"), readerId: readText(row, "reader_id") });
}

/** The reader is alive, and has read up to here. */
export function* renewReader(
  { runId, readerId }: StreamReader,
  readIndex: number,
  forMs: number,
): Transaction<void> {
  yield* change(
    `UPDATE toolwright_stream_readers SET read_index = ?3, until_ms = {now} + CAST(?4 AS BIGINT)
     WHERE run_id = ?1 AND reader_id = ?2`,
    runId,
    readerId,
    readIndex,
    forMs,
  );
  yield* change(
    "DELETE FROM toolwright_sealed_parts WHERE run_id = ?1 AND reader_id = ?2 AND last_index <= ?3",
    runId,
    readerId,
    readIndex,
  );
}

/** The reader has left. */
export function* leaveReader({ runId, readerId }: StreamReader): Transaction<void> {
  // In the order in which readers enter: one that enters now is seen below.
  yield* lockStream(runId);
  yield* forgetReader({ runId, readerId });
  yield* unwantStream(runId);
}

/** For a run that does not exist and has no waiting reader. */
function unwantStream(runId: string): Transaction<number> {
  return change(
    `DELETE FROM toolwright_streams WHERE run_id = ?1 AND next_index = 0
       AND NOT EXISTS (SELECT 1 FROM toolwright_runs r WHERE r.id = ?1)
       AND NOT EXISTS (SELECT 1 FROM toolwright_stream_readers o WHERE o.run_id = ?1)`,
    runId,
  );
}

/** Deletes the data of dead readers: their rows, the parts kept for them, and the mark that their run is read. */
export function* sweepReaders(): Transaction<void> {
  yield* forgetExpired();
  const rows = yield* all(
    `SELECT s.run_id FROM toolwright_streams s WHERE s.next_index = 0
       AND NOT EXISTS (SELECT 1 FROM toolwright_runs r WHERE r.id = s.run_id)
       AND NOT EXISTS (SELECT 1 FROM toolwright_stream_readers o WHERE o.run_id = s.run_id) {skip}`,
  );
  for (const row of rows) yield* unwantStream(readText(row, "run_id"));
}

function* forgetReader({ runId, readerId }: StreamReader): Transaction<void> {
  for (const table of ["toolwright_stream_readers", "toolwright_sealed_parts"])
    yield* change(`DELETE FROM ${table} WHERE run_id = ?1 AND reader_id = ?2`, runId, readerId);
}

export interface KeptParts {
  /** Lists of parts, encrypted. */
  readonly sealed: readonly string[];
  /** The last part that there was too much to keep of, or -1. A reader that had read it by then has missed nothing. */
  readonly lostIndex: number;
}

/** `undefined` for a reader that was presumed dead. */
export function* readKeptParts({ runId, readerId }: StreamReader): Transaction<KeptParts | undefined> {
  const reader = yield* first(
    "SELECT has_lost FROM toolwright_stream_readers WHERE run_id = ?1 AND reader_id = ?2",
    runId,
    readerId,
  );
  if (reader === undefined) return undefined;
  const rows = yield* all(
    "SELECT sealed FROM toolwright_sealed_parts WHERE run_id = ?1 AND reader_id = ?2",
    runId,
    readerId,
  );
  return {
    sealed: rows.map((row) => readText(row, "sealed")),
    lostIndex: readIntegerOrNull(reader, "has_lost") ?? -1,
  };
}

/** The lists of parts in a sealed text. JSON has no line breaks of its own. */
export function listsIn(text: string): string[] {
  return text.split("\n");
}

/** Scopes whose parts are deleted: a list for `IN`, with its parameters. */
export interface DeletedScopes {
  readonly sql: string;
  readonly parameters: readonly (string | number)[];
}

/** Part of the transaction that deletes the parts of these scopes. */
export function* sealUnread(runId: string, scopes: DeletedScopes): Transaction<void> {
  if ((yield* lockStream(runId)) === undefined) return;
  const last = yield* lastIndexIn(scopes);
  if (last === undefined) return;
  yield* change(
    `UPDATE toolwright_streams SET deleted_index = ?2
     WHERE run_id = ?1 AND (deleted_index IS NULL OR deleted_index < ?2)`,
    runId,
    last,
  );
  const behind = yield* all(
    `SELECT reader_id, read_index, public_key, CASE WHEN until_ms > {now} THEN 1 ELSE 0 END AS is_alive
     FROM toolwright_stream_readers WHERE run_id = ?1 AND read_index < ?2 AND public_key IS NOT NULL {update}`,
    runId,
    last,
  );
  const readers = behind.filter((row) => readInteger(row, "is_alive") === 1);
  // A reader that was only suspended finds its row missing, so it knows that it has missed parts.
  for (const row of behind)
    if (!readers.includes(row)) yield* forgetReader({ runId, readerId: readText(row, "reader_id") });
  const start = Math.min(...readers.map((row) => readInteger(row, "read_index")));
  const lists = readers.length === 0 ? [] : yield* listsAfter(start, scopes);
  for (const row of readers) {
    const readIndex = readInteger(row, "read_index");
    const unread = lists.filter(({ lastIndex }) => lastIndex > readIndex).map(({ json }) => json);
    if (unread.length > 0)
      yield* keepFor(
        { runId, readerId: readText(row, "reader_id") },
        last,
        encryptFor(readText(row, "public_key"), unread.join("\n")),
      );
  }
}

function* keepFor({ runId, readerId }: StreamReader, lastIndex: number, sealed: string): Transaction<void> {
  const row = yield* first(
    `SELECT CAST(COALESCE(SUM(LENGTH(sealed)), 0) AS BIGINT) AS size FROM toolwright_sealed_parts
     WHERE run_id = ?1 AND reader_id = ?2`,
    runId,
    readerId,
  );
  if (row !== undefined && readInteger(row, "size") + sealed.length <= MOST_SEALED)
    yield* change(
      `INSERT INTO toolwright_sealed_parts (run_id, reader_id, last_index, sealed) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT DO NOTHING`,
      runId,
      readerId,
      lastIndex,
      sealed,
    );
  else
    yield* change(
      `UPDATE toolwright_stream_readers SET has_lost = ?3
       WHERE run_id = ?1 AND reader_id = ?2 AND (has_lost IS NULL OR has_lost < ?3)`,
      runId,
      readerId,
      lastIndex,
    );
}

const TABLES = ["toolwright_stream_parts", "toolwright_responses"];

function* lastIndexIn({ sql, parameters }: DeletedScopes): Transaction<number | undefined> {
  let last: number | undefined;
  for (const table of TABLES) {
    const row = yield* first(
      `SELECT MAX(last_index) AS last FROM ${table} WHERE scope_id IN ${sql}`,
      ...parameters,
    );
    const found = row && readIntegerOrNull(row, "last");
    if (typeof found === "number") last = Math.max(last ?? found, found);
  }
  return last;
}

interface PartList {
  readonly lastIndex: number;
  readonly json: string;
}

function* listsAfter(index: number, { sql, parameters }: DeletedScopes): Transaction<PartList[]> {
  const lists: PartList[] = [];
  for (const table of TABLES) {
    const rows = yield* all(
      `SELECT last_index, parts_json FROM ${table}
       WHERE scope_id IN ${sql} AND parts_json IS NOT NULL AND last_index > ?${parameters.length + 1}`,
      ...parameters,
      index,
    );
    for (const row of rows)
      lists.push({ lastIndex: readInteger(row, "last_index"), json: readText(row, "parts_json") });
  }
  return lists;
}
