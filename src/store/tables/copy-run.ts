/**
 * Copies rows of a run into a fork. Whole tables at once: one statement copies the calls of a run. The rows of the parent are
 * read and never written.
 */
import { CALLS } from "./calls.ts";
import { readInteger, readText, readTextOrNull } from "./columns.ts";
import { all, change } from "../statement.ts";
import type { Store, Transaction } from "../store.ts";
import { REVERT_PATH } from "./scopes.ts";
import { ANY_REQUEST, DELETED_RESPONSE, FIRST_BY_REQUEST } from "./responses.ts";
import { type ColumnMap, type Columns, columns, integer, type RowOf, text, textOrNull } from "./table.ts";
import { TASKS } from "./tasks.ts";
import { TURNS } from "./turns.ts";

type Dialect = Store["dialect"];

const SCOPES = columns({
  id: integer("id"),
  nodeId: text("node_id"),
  iteration: integer("iteration"),
  path: text("path"),
  parentKey: text("parent_key"),
  attempt: integer("attempt"),
  keyVersion: integer("key_version"),
});

export type CopiedScope = RowOf<(typeof SCOPES)["map"]>;

const READ_SCOPES = `SELECT ${SCOPES.list()} FROM toolwright_scopes WHERE run_id = ?1 AND path <> '${REVERT_PATH}' ORDER BY id`;

export function* readScopes(runId: string): Transaction<CopiedScope[]> {
  return (yield* all(READ_SCOPES, runId)).map(SCOPES.parse);
}

const MARKS = CALLS.pick("scopeId", "key", "attempt", "seq", "status", "effect", "tries", "toolCallId");

export interface CallToCopy extends RowOf<(typeof MARKS)["map"]> {
  readonly originKey: string;
}

const READ_CALLS = `SELECT ${MARKS.list("c")}, c.origin_key FROM toolwright_scopes s JOIN toolwright_calls c ON c.scope_id = s.id
WHERE s.run_id = ?1 AND s.path <> '${REVERT_PATH}'`;

/** The calls of a run without their values. */
export function* readCallsToCopy(runId: string): Transaction<CallToCopy[]> {
  return (yield* all(READ_CALLS, runId)).map((row) => ({
    ...MARKS.parse(row),
    originKey: readTextOrNull(row, "origin_key") ?? readText(row, "key"),
  }));
}

/** A table of the items of a JSON array of arrays, each with the values of these columns. */
function fromJson<C extends ColumnMap>(dialect: Dialect, { map }: Columns<C>): string {
  const list = Object.values(map).map(({ name, cast }, index) =>
    dialect === "sqlite"
      ? `json_extract(e.value, '$[${index}]') AS ${name}`
      : `(e.value->>${index})::${cast ?? "TEXT"} AS ${name}`,
  );
  const source = dialect === "sqlite" ? "json_each(?1) e" : "jsonb_array_elements(CAST(?1 AS jsonb)) e";
  return `SELECT ${list.join(", ")} FROM ${source}`;
}

const NEW_SCOPES = SCOPES.omit("id");

/** Inserts scopes without an owner, and returns their ids by `nodeId`, `path` and `parentKey`. */
export function* insertScopes(
  dialect: Dialect,
  fork: { readonly runId: string; readonly originId: string },
  scopes: readonly Omit<CopiedScope, "id">[],
): Transaction<ReadonlyMap<string, number>> {
  yield* change(
    `INSERT INTO toolwright_scopes (run_id, origin_id, epoch, ${NEW_SCOPES.list()})
     SELECT ?2, ?3, 1, ${NEW_SCOPES.list("g")} FROM (${fromJson(dialect, NEW_SCOPES)}) g WHERE true`,
    JSON.stringify(scopes.map((scope) => NEW_SCOPES.values(scope))),
    fork.runId,
    fork.originId,
  );
  const inserted = yield* all(
    "SELECT id, node_id, path, parent_key FROM toolwright_scopes WHERE run_id = ?1",
    fork.runId,
  );
  return new Map(
    inserted.map((row) => [
      scopeName({
        nodeId: readText(row, "node_id"),
        path: readText(row, "path"),
        parentKey: readText(row, "parent_key"),
      }),
      readInteger(row, "id"),
    ]),
  );
}

export function scopeName({
  nodeId,
  path,
  parentKey,
}: Pick<CopiedScope, "nodeId" | "path" | "parentKey">): string {
  return JSON.stringify([nodeId, path, parentKey]);
}

/** Which calls are copied, and where to. */
const CALL_MAP = columns({
  scopeId: integer("scope_id"),
  key: text("key"),
  attempt: integer("attempt"),
  newScopeId: integer("new_scope_id"),
  newKey: text("new_key"),
});

export type CopiedCall = RowOf<(typeof CALL_MAP)["map"]>;

/** As in the parent, but without an owner, and under the key of the fork. */
const COPIED = CALLS.omit(
  "scopeId",
  "key",
  "ownerId",
  "originKey",
  "copiedFrom",
  "idempotencyKey",
  "executing",
);

/** The calls and their long values. */
export function* copyCalls(dialect: Dialect, calls: readonly CopiedCall[]): Transaction<void> {
  if (calls.length === 0) return;
  const rows = JSON.stringify(calls.map((call) => CALL_MAP.values(call)));
  const callMap = fromJson(dialect, CALL_MAP);
  yield* change(
    `INSERT INTO toolwright_calls (scope_id, key, origin_key, copied_from, idempotency_key, ${COPIED.list()})
     SELECT m.new_scope_id, m.new_key, COALESCE(c.origin_key, c.key), c.key, COALESCE(c.idempotency_key, c.key), ${COPIED.list("c")}
     FROM (${callMap}) m
     CROSS JOIN toolwright_calls c WHERE c.scope_id = m.scope_id AND c.key = m.key AND c.attempt = m.attempt`,
    rows,
  );
  yield* change(
    `INSERT INTO toolwright_payloads (key, attempt, part, body) SELECT m.new_key, p.attempt, p.part, p.body
     FROM (${callMap}) m CROSS JOIN toolwright_payloads p WHERE p.key = m.key AND p.attempt = m.attempt`,
    rows,
  );
}

const RESPONSES = columns({
  scopeId: integer("scope_id"),
  attempt: integer("attempt"),
  position: integer("position"),
  responseJson: text("response_json"),
  requestJson: textOrNull("request_json"),
});

export interface ResponseToCopy extends RowOf<(typeof RESPONSES)["map"]> {
  /** `false` for a value that is stored alongside the responses, such as the inventory of tools. */
  readonly isAnswer: boolean;
}

const READ_RESPONSES = `SELECT ${RESPONSES.list()}, request_hash FROM toolwright_responses
WHERE scope_id = ?1 AND response_json <> '${DELETED_RESPONSE}'`;

export function* readResponsesToCopy(scopeId: number): Transaction<ResponseToCopy[]> {
  return (yield* all(READ_RESPONSES, scopeId)).map((row) => ({
    ...RESPONSES.parse(row),
    isAnswer: isHash(readText(row, "request_hash")),
  }));
}

/** A shorter text is a word that is stored instead of a hash. */
const SHORTEST_HASH = 43;

function isHash(text: string): boolean {
  return text.length >= SHORTEST_HASH || text === ANY_REQUEST;
}

export interface CopiedResponses {
  readonly scopeId: number;
  readonly newScopeId: number;
  /** `null`: all. */
  readonly responses: readonly Pick<ResponseToCopy, "attempt" | "position">[] | null;
}

const CHOSEN_RESPONSES = RESPONSES.pick("attempt", "position");

/** The fork asks with different keys, and maybe with another prompt: a response that is counted answers any request. */
export function* copyResponses(dialect: Dialect, scopes: readonly CopiedResponses[]): Transaction<void> {
  const chosen = fromJson(dialect, CHOSEN_RESPONSES);
  for (const { scopeId, newScopeId, responses } of scopes) {
    yield* change(
      `INSERT INTO toolwright_responses (scope_id, attempt, position, request_hash, response_json, request_json, ordinal)
       SELECT CAST(?3 AS BIGINT), attempt, position,
         CASE WHEN position < ${FIRST_BY_REQUEST} AND LENGTH(request_hash) >= ${SHORTEST_HASH} THEN '${ANY_REQUEST}' ELSE request_hash END,
         response_json, request_json, ordinal FROM toolwright_responses
       WHERE scope_id = ?2 AND response_json <> '${DELETED_RESPONSE}' AND (CAST(?4 AS BIGINT) = 1 OR (attempt, position) IN (SELECT g.attempt, g.position FROM (${chosen}) g))`,
      JSON.stringify((responses ?? []).map((response) => CHOSEN_RESPONSES.values(response))),
      scopeId,
      newScopeId,
      responses === null ? 1 : 0,
    );
  }
}

/** Which scopes of a run have stored responses. */
export function* scopesWithResponses(runId: string): Transaction<ReadonlySet<number>> {
  const rows = yield* all(
    `SELECT DISTINCT r.scope_id FROM toolwright_scopes s JOIN toolwright_responses r ON r.scope_id = s.id
     WHERE s.run_id = ?1 AND r.response_json <> '${DELETED_RESPONSE}'`,
    runId,
  );
  return new Set(rows.map((row) => readInteger(row, "scope_id")));
}

const CHOSEN_TASKS = TASKS.pick("nodeId", "path");

/** Tasks with their outputs. */
export function copyTasks(
  dialect: Dialect,
  parentId: string,
  runId: string,
  places: readonly { readonly nodeId: string; readonly path: string }[],
): Transaction<number> {
  return change(
    `INSERT INTO toolwright_tasks (run_id, ${TASKS.list()}) SELECT ?3, ${TASKS.list()} FROM toolwright_tasks
     WHERE run_id = ?2 AND (node_id, path) IN (SELECT g.node_id, g.path FROM (${fromJson(dialect, CHOSEN_TASKS)}) g)`,
    JSON.stringify(places.map((place) => CHOSEN_TASKS.values(place))),
    parentId,
    runId,
  );
}

export function replaceOutput(
  runId: string,
  { nodeId, path }: { readonly nodeId: string; readonly path: string },
  outputJson: string,
): Transaction<number> {
  return change(
    "UPDATE toolwright_tasks SET output_json = ?4 WHERE run_id = ?1 AND node_id = ?2 AND path = ?3",
    runId,
    nodeId,
    path,
    outputJson,
  );
}

/** The task in which the cut is starts where it was: it resumes its attempt. */
export function reopenTask(
  runId: string,
  { nodeId, path }: { readonly nodeId: string; readonly path: string },
  attempt: number,
): Transaction<number> {
  return change(
    `UPDATE toolwright_tasks SET status = 'running', attempt = CAST(?4 AS BIGINT), output_key = NULL, output_json = NULL,
       error_json = NULL, finished_at_ms = NULL WHERE run_id = ?1 AND node_id = ?2 AND path = ?3`,
    runId,
    nodeId,
    path,
    attempt,
  );
}

/** The tree, the labels, and the loops that stay ended. */
export function* copyTree(
  parentId: string,
  runId: string,
  loops: readonly string[],
  createdAtMs: number,
): Transaction<void> {
  yield* change(
    `INSERT INTO toolwright_outlines (run_id, outline_json)
     SELECT ?2, outline_json FROM toolwright_outlines WHERE run_id = ?1`,
    parentId,
    runId,
  );
  yield* change(
    `INSERT INTO toolwright_run_labels (key, value, created_at_ms, run_id)
     SELECT key, value, CAST(?3 AS BIGINT), ?2 FROM toolwright_run_labels WHERE run_id = ?1`,
    parentId,
    runId,
    createdAtMs,
  );
  for (const place of loops)
    yield* change("INSERT INTO toolwright_loops (run_id, place) VALUES (?1, ?2)", runId, place);
}

/** As in the parent, but with budgets of the fork. */
const COPIED_TURN = `started_at_ms, began_json, ${TURNS.omit("runId", "budgetId").list()}`;

/** @param before the first turn that is not copied; `null`: all are */
export function* copyTurns(parentId: string, runId: string, before: number | null): Transaction<void> {
  const copied = "WHERE run_id = ?1 AND (CAST(?3 AS BIGINT) IS NULL OR turn < ?3)";
  yield* change(
    `INSERT INTO toolwright_turns (run_id, ${COPIED_TURN})
     SELECT ?2, ${COPIED_TURN} FROM toolwright_turns ${copied}`,
    parentId,
    runId,
    before,
  );
  yield* change(
    `INSERT INTO toolwright_turn_inputs (run_id, turn, began_json)
     SELECT ?2, turn, began_json FROM toolwright_turn_inputs ${copied}`,
    parentId,
    runId,
    before,
  );
}

/** The row of the fork itself: as the parent was started, waiting for a worker or a resume. */
export function* insertForkedRun(
  parentId: string,
  runId: string,
  given: { readonly inputJson: string | null; readonly optionsJson: string | null; readonly nowMs: number },
): Transaction<void> {
  yield* change(
    `INSERT INTO toolwright_workflow_runs (run_id, workflow, file, shape, status, input_json, options_json, epoch, owner_id,
       created_at_ms, updated_at_ms)
     SELECT ?2, workflow, file, '', 'queued', COALESCE(?3, input_json), COALESCE(?4, options_json), 0, NULL,
       CAST(?5 AS BIGINT), CAST(?5 AS BIGINT) FROM toolwright_workflow_runs WHERE run_id = ?1`,
    parentId,
    runId,
    given.inputJson,
    given.optionsJson,
    given.nowMs,
  );
  yield* change(
    `INSERT INTO toolwright_runs (id, status, created_at_ms, updated_at_ms, kind, name, state, input_json)
     SELECT ?2, 'open', CAST(?3 AS BIGINT), CAST(?3 AS BIGINT), kind, name, 'queued', input_json FROM toolwright_runs
     WHERE id = ?1 AND kind <> 'workflow'`,
    parentId,
    runId,
    given.nowMs,
  );
  // A program that was not enqueued has no input that a worker could start it with.
  yield* change(
    `UPDATE toolwright_runs SET parent_id = ?1, code = NULL, position = {position},
       host = (SELECT p.host FROM toolwright_runs p WHERE p.id = ?1),
       ready_at_ms = CASE WHEN kind = 'workflow' OR input_json IS NOT NULL THEN {now} END,
       is_due = CASE WHEN kind = 'workflow' OR input_json IS NOT NULL THEN 1 ELSE 0 END
     WHERE id = ?2`,
    parentId,
    runId,
  );
}
