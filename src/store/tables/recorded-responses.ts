/** The responses of recorded runs, and the calls that show what must not be kept in plain text. */
import { readInteger, readText, readTextOrNull } from "./columns.ts";
import { all, change, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { IS_IN_TASK } from "./scopes.ts";

/** A task with the turns of a chat in it, or a whole run. */
export interface RecordedPlace {
  readonly runId: string;
  readonly task?: { readonly nodeId: string; readonly path: string } | undefined;
}

/** A task of a run. */
export interface RecordedTask extends RecordedPlace {
  readonly task: NonNullable<RecordedPlace["task"]>;
}

export interface KeptResponse {
  readonly scopeId: number;
  readonly nodeId: string;
  readonly iteration: number;
  readonly path: string;
  readonly parentKey: string;
  readonly attempt: number;
  readonly position: number;
  readonly requestHash: string;
  readonly requestJson: string | null;
  readonly responseJson: string;
  /** With their indexes; `null` if no reader asked for them. */
  readonly partsJson: string | null;
}

export interface KeptValues {
  readonly scopeId: number;
  readonly toolCallId: string | null;
  readonly inputJson: string | null;
  readonly outputJson: string | null;
}

const OF_RUN = "s.run_id = ?1";

const RESPONSES = `SELECT s.id AS scope_id, s.node_id, s.iteration, s.path, s.parent_key, r.attempt, r.position, r.request_hash, r.request_json,
  r.response_json, r.parts_json FROM toolwright_scopes s JOIN toolwright_responses r ON r.scope_id = s.id`;
const IN_ORDER = "ORDER BY s.id, r.attempt, r.position";
const RESPONSES_OF_RUN = `${RESPONSES} WHERE ${OF_RUN} ${IN_ORDER}`;
const RESPONSES_OF_TASK = `${RESPONSES} WHERE ${IS_IN_TASK} ${IN_ORDER}`;

export function* readKeptResponses(location: RecordedPlace): Transaction<KeptResponse[]> {
  const rows = yield* select(location, RESPONSES_OF_RUN, RESPONSES_OF_TASK);
  return rows.map((row) => ({
    scopeId: readInteger(row, "scope_id"),
    nodeId: readText(row, "node_id"),
    iteration: readInteger(row, "iteration"),
    path: readText(row, "path"),
    parentKey: readText(row, "parent_key"),
    attempt: readInteger(row, "attempt"),
    position: readInteger(row, "position"),
    requestHash: readText(row, "request_hash"),
    requestJson: readTextOrNull(row, "request_json"),
    responseJson: readText(row, "response_json"),
    partsJson: readTextOrNull(row, "parts_json"),
  }));
}

const payload = (part: string): string =>
  `(SELECT p.body FROM toolwright_payloads p WHERE p.key = c.key AND p.attempt = c.attempt AND p.part = '${part}')`;
const VALUES = `SELECT s.id AS scope_id, c.tool_call_id, COALESCE(${payload("input")}, c.input_json) AS input_json,
  COALESCE(${payload("output")}, c.output_json) AS output_json
  FROM toolwright_scopes s JOIN toolwright_calls c ON c.scope_id = s.id`;
const VALUES_OF_RUN = `${VALUES} WHERE ${OF_RUN} AND c.tool_call_id IS NOT NULL ORDER BY c.attempt`;
const VALUES_OF_TASK = `${VALUES} WHERE ${IS_IN_TASK} AND c.tool_call_id IS NOT NULL ORDER BY c.attempt`;

/** The calls that models made, as they are logged. */
export function* readKeptValues(location: RecordedPlace): Transaction<KeptValues[]> {
  const rows = yield* select(location, VALUES_OF_RUN, VALUES_OF_TASK);
  return rows.map((row) => ({
    scopeId: readInteger(row, "scope_id"),
    toolCallId: readTextOrNull(row, "tool_call_id"),
    inputJson: readTextOrNull(row, "input_json"),
    outputJson: readTextOrNull(row, "output_json"),
  }));
}

const LOGGED_VALUES = `${VALUES} WHERE ${OF_RUN}`;

/** The inputs and outputs of all calls of a run, as they are logged. */
export function* readLoggedValues(runId: string): Transaction<(string | null)[]> {
  const rows = yield* all(LOGGED_VALUES, runId);
  return rows.flatMap((row) => [readTextOrNull(row, "input_json"), readTextOrNull(row, "output_json")]);
}

function* select({ runId, task }: RecordedPlace, ofRun: string, ofTask: string): Transaction<readonly Row[]> {
  if (task === undefined) return yield* all(ofRun, runId);
  return yield* all(ofTask, runId, task.nodeId, task.path);
}

/** @param partsJson its numbered parts held the same text unredacted. `null`: they get new indexes when a reader arrives */
export function replaceResponse(
  { scopeId, attempt, position }: KeptResponse,
  responseJson: string,
  requestJson: string | null,
  partsJson: string | null,
): Transaction<number> {
  return change(
    `UPDATE toolwright_responses SET response_json = ?4, request_json = ?5, parts_json = ?6,
       last_index = CASE WHEN CAST(?6 AS TEXT) IS NULL THEN NULL ELSE last_index END
     WHERE scope_id = ?1 AND attempt = ?2 AND position = ?3`,
    scopeId,
    attempt,
    position,
    responseJson,
    requestJson,
    partsJson,
  );
}
