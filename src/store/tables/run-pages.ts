/** Pages of runs, newest first, and what a page shows about each run. Nothing here reads an input or an output. */
import { readInteger, readIntegerOrNull, readText, readTextOrNull } from "./columns.ts";
import { all, first, type Row, type SqlValue } from "../statement.ts";
import { CALL_MARKS, type CallMark, readCallMarks, scanCalls } from "./call-pages.ts";
import { readWaitFacts, type WaitFacts } from "./waits.ts";
import type { Store, Transaction } from "../store.ts";
import type { RunKind, RunState } from "../run-words.ts";
import { type Labels, listedName, type RunRow, RUNS, SHORT_ERROR } from "./runs.ts";

/** The position after a run in the list. */
export interface RunCursor {
  readonly createdAtMs: number;
  readonly runId: string;
}

export interface RunPageFilter {
  readonly state?: RunState | undefined;
  readonly kind?: RunKind | undefined;
  /** The exact name of a workflow. */
  readonly workflow?: string | undefined;
  readonly label?: { readonly key: string; readonly value: string } | undefined;
  /** Text in the id or the name, in upper or lower case. */
  readonly q?: string | undefined;
  readonly before?: RunCursor | undefined;
  readonly limit: number;
}

export interface PageStatement {
  readonly sql: string;
  /** The part that chooses the runs of the page. It has the same parameters. */
  readonly chosen: string;
  readonly parameters: readonly SqlValue[];
}

/**
 * One index serves each filter, in the order of the list: the most selective of label, workflow, state and kind. The others
 * are compared with expressions, so that no planner chooses them: without statistics it would guess. The runs of the page are
 * chosen first, from the indexes alone: PostgreSQL reads the row of every run that it compares, unless the index has all
 * that is asked for.
 * @param isLabelCommon the label is compared last: it would not narrow the list down
 */
export function runPageStatement(filter: RunPageFilter, isLabelCommon = false): PageStatement {
  const { state, kind, workflow, label, q, before, limit } = filter;
  const isByLabel = label !== undefined && !isLabelCommon;
  const parameters: SqlValue[] = [];
  const bind = (value: SqlValue): string => `?${parameters.push(value)}`;
  const time = isByLabel ? "l.created_at_ms" : "r.created_at_ms";
  const id = isByLabel ? "l.run_id" : "r.id";
  const conditions = ["r.status = 'open'"];
  const hasLabel = label === undefined ? "" : `l.key = ${bind(label.key)} AND l.value = ${bind(label.value)}`;
  if (isByLabel) conditions.push(hasLabel);
  let isDriven = isByLabel;
  const compare = (column: string, value: string): string => {
    const condition = isDriven ? `${column} || '' = ${bind(value)}` : `${column} = ${bind(value)}`;
    isDriven = true;
    return condition;
  };
  if (workflow !== undefined) conditions.push(compare("r.workflow", listedName(workflow)));
  if (state !== undefined) conditions.push(compare("r.state", state));
  if (kind !== undefined) conditions.push(compare("r.kind", kind));
  if (q !== undefined && q !== "") {
    const pattern = bind(`%${q.replaceAll(/[\\%_]/g, "\\$&")}%`);
    // A subquery is computed once; the function alone would be called for every run.
    conditions.push(`r.search LIKE (SELECT lower(${pattern})) ESCAPE '\\'`);
  }
  if (before !== undefined)
    conditions.push(
      `(${time}, ${id}) < (CAST(${bind(before.createdAtMs)} AS BIGINT), ${bind(before.runId)})`,
    );
  if (isLabelCommon && label !== undefined)
    // Not EXISTS, which a planner may turn into a join that begins with the label.
    conditions.push(
      `(SELECT l.run_id FROM toolwright_run_labels l
        WHERE ${hasLabel} AND l.created_at_ms = r.created_at_ms AND l.run_id = r.id) IS NOT NULL`,
    );
  const from = isByLabel
    ? "toolwright_run_labels l JOIN toolwright_runs r ON r.id = l.run_id"
    : "toolwright_runs r";
  const chosen = `SELECT ${id} AS run_id FROM ${from} WHERE ${conditions.join(" AND ")}
ORDER BY ${time} DESC, ${id} DESC LIMIT ${bind(limit)}`;
  return {
    sql: `SELECT ${RUNS.list("r")}, ${SHORT_ERROR} FROM (${chosen}) AS chosen JOIN toolwright_runs r ON r.id = chosen.run_id
ORDER BY r.created_at_ms DESC, r.id DESC`,
    chosen,
    parameters,
  };
}

/** So many runs of a label are compared with other filters in a few milliseconds. */
export const COMMON_LABEL = 10_000;

/** Whether other filters serve the list better than the label. Counts no further than it has to. */
function* isLabelCommon({ label, state, kind, workflow, q = "" }: RunPageFilter): Transaction<boolean> {
  const isAlone = state === undefined && kind === undefined && workflow === undefined && q === "";
  if (label === undefined || isAlone) return false;
  const row = yield* first(
    `SELECT CAST(COUNT(*) AS BIGINT) AS runs FROM (SELECT 1 AS one FROM toolwright_run_labels
       WHERE key = ?1 AND value = ?2 LIMIT ${COMMON_LABEL}) AS some_runs`,
    label.key,
    label.value,
  );
  return row !== undefined && readInteger(row, "runs") === COMMON_LABEL;
}

export function* listRunRows(filter: RunPageFilter): Transaction<RunRow[]> {
  const { sql, parameters } = runPageStatement(filter, yield* isLabelCommon(filter));
  const rows = yield* all(sql, ...parameters);
  return rows.map((row) => ({ ...RUNS.parse(row), errorJson: readTextOrNull(row, "error_json") }));
}

/** The fields that a page shows for a run, beyond its row. */
export interface RunFacts {
  readonly tasks: number;
  readonly scopes: number;
  readonly calls: number;
  /** The time of its latest call. */
  readonly lastCallMs: number;
  /** The owners of calls that have started and not ended. */
  readonly callOwners: readonly (string | null)[];
  readonly pendingApprovals: number;
  /** The oldest pending request. */
  readonly request: { readonly toolName: string; readonly kind: string; readonly prompt: string } | undefined;
  readonly labels: Labels;
  /** What it waits for besides approvals. */
  readonly waits: WaitFacts | undefined;
}

/** The list of ids is padded to one of these lengths, so that few statements are prepared. */
const LIST_SIZES = [1, 20, 200];

export function* readRunFacts(
  runIds: readonly string[],
  nowMs: number,
  dialect: Store["dialect"],
): Transaction<Map<string, RunFacts>> {
  const facts = new Map<string, RunFacts>();
  const size = LIST_SIZES.find((one) => one >= runIds.length) ?? LIST_SIZES.at(-1) ?? 1;
  for (let from = 0; from < runIds.length; from += size) {
    const chunk = runIds.slice(from, from + size);
    for (const [runId, one] of yield* readChunk(chunk, size, nowMs, dialect)) facts.set(runId, one);
  }
  return facts;
}

function* readChunk(
  runIds: readonly string[],
  size: number,
  nowMs: number,
  dialect: Store["dialect"],
): Transaction<Map<string, RunFacts>> {
  const ids = Array.from({ length: size }, (_, index) => runIds[index] ?? runIds[0] ?? "");
  const list = ids.map((_, index) => `?${index + 1}`).join(", ");
  const tasks = byRun(
    yield* all(
      `SELECT run_id, CAST(COUNT(*) AS BIGINT) AS tasks FROM toolwright_tasks WHERE run_id IN (${list}) GROUP BY run_id`,
      ...ids,
    ),
  );
  const calls = yield* dialect === "sqlite" ? countByScan(ids, list) : countByQuery(ids, list);
  const requests = byRun(
    yield* all(
      `SELECT run_id, CAST(COUNT(*) AS BIGINT) AS requests, MIN(position) AS position FROM toolwright_approvals
       WHERE run_id IN (${list}) AND status = 'pending' AND (expires_at_ms IS NULL OR expires_at_ms > ?${size + 1})
       GROUP BY run_id`,
      ...ids,
      nowMs,
    ),
  );
  const labels = new Map<string, Record<string, string>>();
  for (const row of yield* all(
    `SELECT run_id, key, value FROM toolwright_run_labels WHERE run_id IN (${list}) ORDER BY key, value`,
    ...ids,
  )) {
    const runId = readText(row, "run_id");
    labels.set(runId, { ...labels.get(runId), [readText(row, "key")]: readText(row, "value") });
  }
  const waits = yield* readWaitFacts(ids, list);
  const facts = new Map<string, RunFacts>();
  for (const runId of runIds) {
    const [task, request] = [tasks.get(runId), requests.get(runId)];
    facts.set(runId, {
      ...(calls.get(runId) ?? NO_CALLS),
      tasks: task === undefined ? 0 : readInteger(task, "tasks"),
      pendingApprovals: request === undefined ? 0 : readInteger(request, "requests"),
      request: request === undefined ? undefined : yield* readRequest(readInteger(request, "position")),
      labels: labels.get(runId) ?? {},
      waits: waits.get(runId),
    });
  }
  return facts;
}

type CallFacts = Pick<RunFacts, "scopes" | "calls" | "lastCallMs" | "callOwners">;

const NO_CALLS: CallFacts = { scopes: 0, calls: 0, lastCallMs: 0, callOwners: [] };

function byRun(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [readText(row, "run_id"), row]));
}

/** PostgreSQL: one round trip. Subqueries for each scope, so that a planner without statistics uses the key of the calls. */
function* countByQuery(ids: readonly string[], list: string): Transaction<Map<string, CallFacts>> {
  const rows = yield* all(
    `SELECT run_id, CAST(SUM(calls) AS BIGINT) AS calls, CAST(SUM(is_top) AS BIGINT) AS scopes, MAX(last) AS last,
       CAST(SUM(started) AS BIGINT) AS started
     FROM (SELECT s.run_id AS run_id, CASE WHEN s.parent_key = '' THEN 1 ELSE 0 END AS is_top,
         (SELECT COUNT(*) FROM toolwright_calls c WHERE c.scope_id = s.id) AS calls,
         (SELECT COUNT(*) FROM toolwright_calls c WHERE c.scope_id = s.id AND c.status = 'started') AS started,
         (SELECT MAX(COALESCE(c.finished_at_ms, c.started_at_ms)) FROM toolwright_calls c WHERE c.scope_id = s.id) AS last
       FROM toolwright_scopes s WHERE s.run_id IN (${list})) counted GROUP BY run_id`,
    ...ids,
  );
  const facts = new Map<string, CallFacts>();
  for (const row of rows) {
    const runId = readText(row, "run_id");
    facts.set(runId, {
      scopes: readInteger(row, "scopes"),
      calls: readInteger(row, "calls"),
      lastCallMs: readIntegerOrNull(row, "last") ?? 0,
      callOwners: readInteger(row, "started") === 0 ? [] : startedOwners(yield* readCallMarks(runId)),
    });
  }
  return facts;
}

/** SQLite: see `scanCalls`. */
function* countByScan(ids: readonly string[], list: string): Transaction<Map<string, CallFacts>> {
  const rows = yield* all(
    `SELECT id, run_id, parent_key FROM toolwright_scopes WHERE run_id IN (${list})`,
    ...ids,
  );
  const facts = new Map<string, CallFacts>();
  for (const row of rows) {
    const runId = readText(row, "run_id");
    const before = facts.get(runId) ?? NO_CALLS;
    const marks = yield* scanCalls(readInteger(row, "id"), CALL_MARKS);
    facts.set(runId, {
      scopes: before.scopes + (readText(row, "parent_key") === "" ? 1 : 0),
      calls: before.calls + marks.length,
      lastCallMs: marks.reduce((last, call) => Math.max(last, endOf(call)), before.lastCallMs),
      callOwners: [...before.callOwners, ...startedOwners(marks)],
    });
  }
  return facts;
}

function endOf({ finishedAtMs, startedAtMs }: CallMark): number {
  return finishedAtMs ?? startedAtMs;
}

function startedOwners(calls: readonly CallMark[]): (string | null)[] {
  return [...new Set(calls.flatMap(({ status, ownerId }) => (status === "started" ? [ownerId] : [])))];
}

function* readRequest(position: number): Transaction<RunFacts["request"]> {
  const [row] = yield* all(
    "SELECT tool_name, kind, substr(prompt, 1, 300) AS prompt FROM toolwright_approvals WHERE position = ?1",
    position,
  );
  return (
    row && {
      toolName: readText(row, "tool_name"),
      kind: readText(row, "kind"),
      prompt: readText(row, "prompt"),
    }
  );
}

/** A task of a program, or a turn of an agent. */
export interface RootScope {
  readonly nodeId: string;
  readonly iteration: number;
  readonly path: string;
  readonly attempt: number;
  readonly ownerId: string | null;
  readonly calls: number;
  readonly startedAtMs: number | null;
  readonly lastMs: number | null;
  /** Calls that wait for approval. */
  readonly pending: number;
  /** The owners of calls that have started and not ended: one of them, if there are several. */
  readonly callOwnerId: string | null;
}

/** The newest scopes at the top of a run, oldest first. */
export function* readRootScopes(runId: string, limit: number): Transaction<RootScope[]> {
  const rows = yield* all(
    `SELECT id, node_id, iteration, path, attempt, owner_id FROM toolwright_scopes
     WHERE run_id = ?1 AND parent_key = '' ORDER BY id DESC LIMIT ?2`,
    runId,
    limit,
  );
  const scopes: RootScope[] = [];
  for (const row of rows.toReversed()) {
    const calls = yield* scanCalls(readInteger(row, "id"), CALL_MARKS);
    const [callOwnerId = null] = startedOwners(calls);
    scopes.push({
      nodeId: readText(row, "node_id"),
      iteration: readInteger(row, "iteration"),
      path: readText(row, "path"),
      attempt: readInteger(row, "attempt"),
      ownerId: readTextOrNull(row, "owner_id"),
      calls: calls.length,
      startedAtMs:
        calls.length === 0
          ? null
          : calls.reduce((first, call) => Math.min(first, call.startedAtMs), Infinity),
      lastMs: calls.length === 0 ? null : calls.reduce((last, call) => Math.max(last, endOf(call)), 0),
      pending: calls.filter(({ status }) => status === "pending").length,
      callOwnerId,
    });
  }
  return scopes;
}
