/**
 * Parts of model responses for readers in any process. Parts of a response are deleted when it is committed, which stores
 * them with the response. Rows are written only for runs whose parts are read.
 */
import { all, change, first, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { readInteger, readIntegerOrNull, readText, readTextOrNull } from "./columns.ts";
import type { ResponseLocation } from "./responses.ts";
import { FROM_CURRENT_SCOPE, type Writer } from "./write-calls.ts";

/** From now on, the parts of this run are written. */
export function wantStream(runId: string): Transaction<number> {
  return change(
    "INSERT INTO toolwright_streams (run_id, next_index) VALUES (?1, 0) ON CONFLICT DO NOTHING",
    runId,
  );
}

/** `undefined` if no reader has asked for the parts of the run. */
export function* streamOf(
  runId: string,
): Transaction<{ readonly nextIndex: number; readonly deletedIndex: number } | undefined> {
  const row = yield* first(
    "SELECT next_index, deleted_index FROM toolwright_streams WHERE run_id = ?1",
    runId,
  );
  return (
    row && {
      nextIndex: readInteger(row, "next_index"),
      deletedIndex: readIntegerOrNull(row, "deleted_index") ?? -1,
    }
  );
}

/** The same, without what was deleted. */
export function* nextIndexOf(runId: string): Transaction<number | undefined> {
  return (yield* streamOf(runId))?.nextIndex;
}

/** Reserves indexes, and returns the first one. */
export function* reserveIndexes(runId: string, count: number): Transaction<number> {
  const row = yield* first(
    `INSERT INTO toolwright_streams (run_id, next_index) VALUES (?1, CAST(?2 AS BIGINT))
     ON CONFLICT (run_id) DO UPDATE SET next_index = toolwright_streams.next_index + CAST(?2 AS BIGINT)
     RETURNING next_index`,
    runId,
    count,
  );
  return (row === undefined ? count : readInteger(row, "next_index")) - count;
}

/** Gives back indexes that were not used, unless others were reserved since. */
export function returnIndexes(runId: string, reserved: number, next: number): Transaction<number> {
  return change(
    "UPDATE toolwright_streams SET next_index = ?3 WHERE run_id = ?1 AND next_index = ?2",
    runId,
    reserved,
    next,
  );
}

export interface PartsRow {
  readonly runId: string;
  readonly firstIndex: number;
  readonly lastIndex: number;
  readonly scopeId: number;
  /** `""` for the result of a call. */
  readonly response: string;
  readonly partsJson: string;
}

const INSERT = `INSERT INTO toolwright_stream_parts (run_id, first_index, last_index, scope_id, response, parts_json)
SELECT ?4, CAST(?5 AS BIGINT), CAST(?6 AS BIGINT), CAST(?7 AS BIGINT), ?8, ?9 ${FROM_CURRENT_SCOPE}
ON CONFLICT DO NOTHING`;

/** An owner that was replaced writes nothing. */
export function insertParts(row: PartsRow, { attempt, rootScopeId, epoch }: Writer): Transaction<number> {
  const { runId, firstIndex, lastIndex, scopeId, response, partsJson } = row;
  return change(
    INSERT,
    attempt,
    rootScopeId,
    epoch,
    runId,
    firstIndex,
    lastIndex,
    scopeId,
    response,
    partsJson,
  );
}

/** The result of a call that has its index already. For the process that gives the indexes of the run. */
export function insertNumberedParts(
  runId: string,
  scopeId: number,
  index: number,
  partsJson: string,
): Transaction<number> {
  return change(
    `INSERT INTO toolwright_stream_parts (run_id, first_index, last_index, scope_id, response, parts_json)
     VALUES (?1, ?2, ?2, ?3, '', ?4) ON CONFLICT DO NOTHING`,
    runId,
    index,
    scopeId,
    partsJson,
  );
}

/** Moves the parts of a response to the committed one, in its transaction. */
export function* commitParts(
  runId: string,
  response: string,
  location: ResponseLocation,
  parts: { readonly json: string; readonly lastIndex: number },
): Transaction<void> {
  yield* saveNumbered(location, parts);
  yield* change("DELETE FROM toolwright_stream_parts WHERE run_id = ?1 AND response = ?2", runId, response);
}

/** Stores the parts of a committed response with their indexes. */
export function saveNumbered(
  { scopeId, attempt, position }: ResponseLocation,
  parts: { readonly json: string; readonly lastIndex: number },
): Transaction<number> {
  return change(
    `UPDATE toolwright_responses SET parts_json = ?4, last_index = ?5
     WHERE scope_id = ?1 AND attempt = ?2 AND position = ?3`,
    scopeId,
    attempt,
    position,
    parts.json,
    parts.lastIndex,
  );
}

const READ = `SELECT parts_json FROM toolwright_stream_parts WHERE run_id = ?1 AND last_index >= ?2
UNION ALL SELECT r.parts_json FROM toolwright_responses r JOIN toolwright_scopes s ON s.id = r.scope_id
WHERE s.run_id = ?1 AND r.last_index >= ?2`;

/** The JSON lists that hold the parts from this index on. They may hold earlier parts too. */
export function* readParts(runId: string, from: number): Transaction<string[]> {
  return (yield* all(READ, runId, from)).map((row) => readText(row, "parts_json"));
}

/** The index of the last stored part, or -1. */
export function* lastIndexOf(runId: string): Transaction<number> {
  const row = yield* first(
    `SELECT CAST(MAX(last) AS BIGINT) AS last FROM (
       SELECT MAX(last_index) AS last FROM toolwright_stream_parts WHERE run_id = ?1
       UNION ALL SELECT MAX(r.last_index) FROM toolwright_responses r JOIN toolwright_scopes s ON s.id = r.scope_id
         WHERE s.run_id = ?1) AS both_tables`,
    runId,
  );
  return (row && readIntegerOrNull(row, "last")) ?? -1;
}

/** Responses that are not committed, whose parts were read: their process has died, or still writes. */
export function* openResponses(runId: string): Transaction<string[]> {
  const rows = yield* all(
    "SELECT DISTINCT response FROM toolwright_stream_parts WHERE run_id = ?1 AND response <> ''",
    runId,
  );
  return rows.map((row) => readText(row, "response"));
}

export interface UnnumberedResponse extends ResponseLocation {
  readonly nodeId: string;
  readonly iteration: number;
  readonly parentKey: string;
  readonly responseJson: string;
}

const UNNUMBERED = `SELECT r.scope_id, r.attempt, r.position, r.response_json, s.node_id, s.iteration, s.parent_key
FROM toolwright_responses r JOIN toolwright_scopes s ON s.id = r.scope_id
WHERE s.run_id = ?1 AND r.last_index IS NULL ORDER BY r.scope_id, r.attempt, COALESCE(r.ordinal, 0), r.position`;

/** Responses that were committed before the first reader arrived. */
export function* unnumberedResponses(runId: string): Transaction<UnnumberedResponse[]> {
  return (yield* all(UNNUMBERED, runId)).map(toUnnumbered);
}

function toUnnumbered(row: Row): UnnumberedResponse {
  return {
    scopeId: readInteger(row, "scope_id"),
    attempt: readInteger(row, "attempt"),
    position: readInteger(row, "position"),
    responseJson: readText(row, "response_json"),
    nodeId: readText(row, "node_id"),
    iteration: readInteger(row, "iteration"),
    parentKey: readTextOrNull(row, "parent_key") ?? "",
  };
}

/** Asks the process that drives this turn to stop it. */
export function* requestStop(runId: string, turn: number): Transaction<void> {
  yield* wantStream(runId);
  yield* change("UPDATE toolwright_streams SET stop_turn = ?2 WHERE run_id = ?1", runId, turn);
}

export function* isStopRequested(runId: string, turn: number): Transaction<boolean> {
  const row = yield* first(
    "SELECT 1 AS one FROM toolwright_streams WHERE run_id = ?1 AND stop_turn = ?2",
    runId,
    turn,
  );
  return row !== undefined;
}
