/** Responses of models, by their position in a scope: a received response is never requested again. */
import { readInteger } from "./columns.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { columns, integer, type NewRowOf, type RowOf, text, textOrNull } from "./table.ts";
import { sealUnread } from "./stream-readers.ts";
import { FROM_CURRENT_SCOPE, type Writer } from "./write-calls.ts";

const LOCATION = columns({
  scopeId: integer("scope_id"),
  attempt: integer("attempt"),
  position: integer("position"),
});

const RESPONSE = columns({
  requestHash: text("request_hash"),
  responseJson: text("response_json"),
  /** Only in recorded runs. */
  requestJson: textOrNull("request_json"),
});

export type ResponseLocation = RowOf<(typeof LOCATION)["map"]>;
export type RecordedResponse = RowOf<(typeof RESPONSE)["map"]>;

/**
 * In place of the hash, in a fork: the response answers whatever its loop asks at that position. Requests of a fork may
 * differ from its parent's, because they show keys of calls and redaction marks.
 */
export const ANY_REQUEST = "any";

/** In place of the JSON: retention has deleted the response of a run that has not ended, or may be repeated. */
export const DELETED_RESPONSE = "";

/** Positions from here on are derived from the request; smaller ones are counted. */
export const FIRST_BY_REQUEST = 2 ** 52;

const READ = `SELECT ${RESPONSE.list()} FROM toolwright_responses
WHERE scope_id = ?1 AND attempt = ?2 AND position = ?3`;

export function* readResponse({
  scopeId,
  attempt,
  position,
}: ResponseLocation): Transaction<RecordedResponse | undefined> {
  const row = yield* first(READ, scopeId, attempt, position);
  return row === undefined ? undefined : RESPONSE.parse(row);
}

const BY_REQUEST = `SELECT position, ${RESPONSE.list()} FROM toolwright_responses
WHERE scope_id = ?1 AND attempt = ?2 AND position >= ${FIRST_BY_REQUEST} AND request_json IS NOT NULL`;

/** The responses that are found by their request, if that was recorded. */
export function* readResponsesByRequest(
  scopeId: number,
  attempt: number,
): Transaction<(RecordedResponse & { readonly position: number })[]> {
  const rows = yield* all(BY_REQUEST, scopeId, attempt);
  return rows.map((row) => ({ ...RESPONSE.parse(row), position: readInteger(row, "position") }));
}

/** Of `LOCATION`, from parameter 4 on. Late readers receive the responses in this order. */
const ORDINAL = `CASE WHEN CAST(?6 AS BIGINT) >= ${FIRST_BY_REQUEST} THEN (SELECT COALESCE(MAX(o.ordinal), 0) + 1
  FROM toolwright_responses o WHERE o.scope_id = CAST(?4 AS BIGINT) AND o.attempt = CAST(?5 AS BIGINT)) END`;

const SAVE = `INSERT INTO toolwright_responses (${LOCATION.list()}, ${RESPONSE.list()}, ordinal)
SELECT ${LOCATION.parameters(4)}, ${RESPONSE.parameters(7)}, ${ORDINAL} ${FROM_CURRENT_SCOPE}
ON CONFLICT (scope_id, attempt, position) DO UPDATE SET ${RESPONSE.excluded()}`;

/** 0 when the scope was taken over in the meantime. */
export function saveResponse(
  location: ResponseLocation,
  response: NewRowOf<(typeof RESPONSE)["map"]>,
  writer: Omit<Writer, "attempt">,
): Transaction<number> {
  return change(
    SAVE,
    location.attempt,
    writer.rootScopeId,
    writer.epoch,
    ...LOCATION.values(location),
    ...RESPONSE.values(response),
  );
}

/** The loop diverged at `position`: later responses no longer belong to it. */
export function forgetLaterResponses({ scopeId, attempt, position }: ResponseLocation): Transaction<number> {
  return change(
    "DELETE FROM toolwright_responses WHERE scope_id = ?1 AND attempt = ?2 AND position > ?3 AND position < ?4",
    scopeId,
    attempt,
    position,
    endOfLoop(position),
  );
}

/**
 * Before that: readers may have received these responses, and the results of their calls stay. So their parts stay readable until
 * the task ends. No commit of another response deletes them.
 */
export function keepReplacedParts(
  runId: string,
  { scopeId, attempt, position }: ResponseLocation,
): Transaction<number> {
  return change(
    `INSERT INTO toolwright_stream_parts (run_id, first_index, last_index, scope_id, response, parts_json)
     SELECT ?1, last_index, last_index, scope_id, 'replaced', parts_json FROM toolwright_responses
     WHERE scope_id = ?2 AND attempt = ?3 AND position >= ?4 AND position < ?5 AND parts_json IS NOT NULL
     ON CONFLICT DO NOTHING`,
    runId,
    scopeId,
    attempt,
    position,
    endOfLoop(position),
  );
}

/** Each loop of a scope has this many positions. The last one holds no response. */
export const POSITIONS_PER_LOOP = 1_000_000;

function endOfLoop(position: number): number {
  return (Math.floor(position / POSITIONS_PER_LOOP) + 1) * POSITIONS_PER_LOOP - 1;
}

export function forgetResponse({ scopeId, attempt, position }: ResponseLocation): Transaction<number> {
  return change(
    "DELETE FROM toolwright_responses WHERE scope_id = ?1 AND attempt = ?2 AND position = ?3",
    scopeId,
    attempt,
    position,
  );
}

export function* forgetResponses(runId: string, scopeId: number, attempt: number): Transaction<void> {
  yield* sealUnread(runId, { sql: "(?1)", parameters: [scopeId] });
  yield* change("DELETE FROM toolwright_responses WHERE scope_id = ?1 AND attempt = ?2", scopeId, attempt);
  yield* change("DELETE FROM toolwright_stream_parts WHERE scope_id = ?1", scopeId);
}
