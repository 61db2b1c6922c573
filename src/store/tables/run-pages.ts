/** Pages of runs, newest first, and what a page shows about each run. Nothing here reads an input or an output. */
import { readInteger, readIntegerOrNull, readText, readTextOrNull } from "./columns.ts";
import { all, type Row, type SqlValue } from "../statement.ts";
import type { Transaction } from "../store.ts";
import {
  type Labels,
  listedName,
  type RunKind,
  type RunRow,
  RUNS,
  type RunState,
  SHORT_ERROR,
} from "./runs.ts";

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
  readonly parameters: readonly SqlValue[];
}

/**
 * One index serves each filter, in the order of the list: the most selective of label, state, workflow and kind. The others
 * are compared with expressions, so that no planner chooses them: without statistics it would guess.
 */
export function runPageStatement(filter: RunPageFilter): PageStatement {
  const { state, kind, workflow, label, q, before, limit } = filter;
  const parameters: SqlValue[] = [];
  const bind = (value: SqlValue): string => `?${parameters.push(value)}`;
  const time = label === undefined ? "r.created_at_ms" : "l.created_at_ms";
  const id = label === undefined ? "r.id" : "l.run_id";
  const conditions = ["r.status = 'open'"];
  if (label !== undefined) conditions.push(`l.key = ${bind(label.key)} AND l.value = ${bind(label.value)}`);
  let isDriven = label !== undefined;
  const compare = (column: string, value: string): string => {
    const condition = isDriven ? `${column} || '' = ${bind(value)}` : `${column} = ${bind(value)}`;
    isDriven = true;
    return condition;
  };
  if (state !== undefined) conditions.push(compare("r.state", state));
  if (workflow !== undefined) conditions.push("r.kind = 'workflow'", compare("r.name", listedName(workflow)));
  if (kind !== undefined) conditions.push(compare("r.kind", kind));
  if (q !== undefined && q !== "") {
    const pattern = bind(`%${q.toLowerCase().replaceAll(/[\\%_]/g, "\\$&")}%`);
    conditions.push(`(lower(r.id) LIKE ${pattern} ESCAPE '\\' OR lower(r.name) LIKE ${pattern} ESCAPE '\\')`);
  }
  if (before !== undefined)
    conditions.push(
      `(${time}, ${id}) < (CAST(${bind(before.createdAtMs)} AS BIGINT), ${bind(before.runId)})`,
    );
  const from =
    label === undefined
      ? "toolwright_runs r"
      : "toolwright_run_labels l JOIN toolwright_runs r ON r.id = l.run_id";
  return {
    sql: `SELECT ${RUNS.list("r")}, ${SHORT_ERROR} FROM ${from} WHERE ${conditions.join(" AND ")}
ORDER BY ${time} DESC, ${id} DESC LIMIT ${bind(limit)}`,
    parameters,
  };
}

export function* listRunRows(filter: RunPageFilter): Transaction<RunRow[]> {
  const { sql, parameters } = runPageStatement(filter);
  const rows = yield* all(sql, ...parameters);
  return rows.map((row) => ({ ...RUNS.parse(row), errorJson: readTextOrNull(row, "error_json") }));
}

/** What a page shows about a run, beyond its row. */
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
}

/** Few lengths of the list, so that few statements are prepared. */
const LIST_SIZES = [1, 20, 200];

export function* readRunFacts(runIds: readonly string[], nowMs: number): Transaction<Map<string, RunFacts>> {
  const facts = new Map<string, RunFacts>();
  const size = LIST_SIZES.find((one) => one >= runIds.length) ?? LIST_SIZES.at(-1) ?? 1;
  for (let from = 0; from < runIds.length; from += size) {
    const chunk = runIds.slice(from, from + size);
    for (const [runId, one] of yield* readChunk(chunk, size, nowMs)) facts.set(runId, one);
  }
  return facts;
}

function* readChunk(
  runIds: readonly string[],
  size: number,
  nowMs: number,
): Transaction<Map<string, RunFacts>> {
  const ids = Array.from({ length: size }, (_, index) => runIds[index] ?? runIds[0] ?? "");
  const list = ids.map((_, index) => `?${index + 1}`).join(", ");
  const byRun = (rows: readonly Row[]): Map<string, Row> =>
    new Map(rows.map((row) => [readText(row, "run_id"), row]));
  const tasks = byRun(
    yield* all(
      `SELECT run_id, CAST(COUNT(*) AS BIGINT) AS tasks FROM toolwright_tasks WHERE run_id IN (${list}) GROUP BY run_id`,
      ...ids,
    ),
  );
  const calls = byRun(
    yield* all(
      `SELECT s.run_id AS run_id, CAST(COUNT(c.key) AS BIGINT) AS calls,
         CAST(COUNT(DISTINCT CASE WHEN s.parent_key = '' THEN s.id END) AS BIGINT) AS scopes,
         CAST(COUNT(CASE WHEN c.status = 'started' THEN 1 END) AS BIGINT) AS started,
         MAX(COALESCE(c.finished_at_ms, c.started_at_ms)) AS last
       FROM toolwright_scopes s LEFT JOIN toolwright_calls c ON c.scope_id = s.id
       WHERE s.run_id IN (${list}) GROUP BY s.run_id`,
      ...ids,
    ),
  );
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
  const facts = new Map<string, RunFacts>();
  for (const runId of runIds) {
    const [task, call, request] = [tasks.get(runId), calls.get(runId), requests.get(runId)];
    facts.set(runId, {
      tasks: task === undefined ? 0 : readInteger(task, "tasks"),
      scopes: call === undefined ? 0 : readInteger(call, "scopes"),
      calls: call === undefined ? 0 : readInteger(call, "calls"),
      lastCallMs: (call && readIntegerOrNull(call, "last")) ?? 0,
      callOwners: call !== undefined && readInteger(call, "started") > 0 ? yield* readCallOwners(runId) : [],
      pendingApprovals: request === undefined ? 0 : readInteger(request, "requests"),
      request: request === undefined ? undefined : yield* readRequest(readInteger(request, "position")),
      labels: labels.get(runId) ?? {},
    });
  }
  return facts;
}

function* readCallOwners(runId: string): Transaction<(string | null)[]> {
  const rows = yield* all(
    `SELECT DISTINCT c.owner_id AS owner_id FROM toolwright_scopes s JOIN toolwright_calls c ON c.scope_id = s.id
     WHERE s.run_id = ?1 AND c.status = 'started'`,
    runId,
  );
  return rows.map((row) => readTextOrNull(row, "owner_id"));
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
    `SELECT s.id AS id, s.node_id AS node_id, s.iteration AS iteration, s.path AS path, s.attempt AS attempt,
       s.owner_id AS owner_id, CAST(COUNT(c.key) AS BIGINT) AS calls, MIN(c.started_at_ms) AS started,
       MAX(COALESCE(c.finished_at_ms, c.started_at_ms)) AS last,
       CAST(COUNT(CASE WHEN c.status = 'pending' THEN 1 END) AS BIGINT) AS pending,
       MAX(CASE WHEN c.status = 'started' THEN c.owner_id END) AS call_owner_id
     FROM toolwright_scopes s LEFT JOIN toolwright_calls c ON c.scope_id = s.id
     WHERE s.run_id = ?1 AND s.parent_key = ''
     GROUP BY s.id, s.node_id, s.iteration, s.path, s.attempt, s.owner_id ORDER BY s.id DESC LIMIT ?2`,
    runId,
    limit,
  );
  return rows.toReversed().map((row) => ({
    nodeId: readText(row, "node_id"),
    iteration: readInteger(row, "iteration"),
    path: readText(row, "path"),
    attempt: readInteger(row, "attempt"),
    ownerId: readTextOrNull(row, "owner_id"),
    calls: readInteger(row, "calls"),
    startedAtMs: readIntegerOrNull(row, "started"),
    lastMs: readIntegerOrNull(row, "last"),
    pending: readInteger(row, "pending"),
    callOwnerId: readTextOrNull(row, "call_owner_id"),
  }));
}
