/**
 * What is deleted, and what stays. A run goes in one transaction, and leaves its id and its business keys behind, so that
 * neither can be used as if it were new.
 */
import { readInteger, readIntegerOrNull, readText, readTextOrNull } from "./columns.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { buryRun } from "./tombstones.ts";
import { keepKeyReads } from "./key-reads.ts";
import type { RunStatus } from "./workflow-runs.ts";

const SCOPES = "(SELECT id FROM toolwright_scopes WHERE run_id = ?1)";
/** With the turns of a chat in it, whose path is that of the task and a number. */
const SCOPES_OF_TASK = `(SELECT id FROM toolwright_scopes
  WHERE run_id = ?1 AND node_id = ?2 AND (path = ?3 OR path LIKE ?3 || '#%'))`;

/** What an interrupted task needs in clear to go on is not kept once it has its output. */
export function* forgetReplayOfTask(runId: string, nodeId: string, path: string): Transaction<void> {
  yield* change(`DELETE FROM toolwright_responses WHERE scope_id IN ${SCOPES_OF_TASK}`, runId, nodeId, path);
  yield* change(coverArguments(SCOPES_OF_TASK), runId, nodeId, path);
}

/** The same for a call that is no part of a task. */
export function coverArgumentsOfCall(callKey: string): Transaction<number> {
  return change(
    coverArguments("(SELECT scope_id FROM toolwright_approvals WHERE call_key = ?1) AND call_key = ?1"),
    callKey,
  );
}

/** Arguments that only a person had to see, as the log shows them. */
function coverArguments(scopes: string): string {
  return `UPDATE toolwright_approvals SET clear_args = 0, approved_args_json = NULL, args_json = COALESCE(
      (SELECT MAX(c.input_json) FROM toolwright_calls c WHERE c.scope_id = toolwright_approvals.scope_id
        AND c.key = toolwright_approvals.call_key), '{}')
    WHERE clear_args = 1 AND scope_id IN ${scopes}`;
}

/**
 * The same for a whole run. An agent's task that was under way cannot go on where it was any more: it counts as failed,
 * so that a resume begins another attempt, which is told what this one has done. The number of rows that changed.
 */
export function* forgetReplayOfRun(runId: string, errorJson: string): Transaction<number> {
  const responses = yield* change(`DELETE FROM toolwright_responses WHERE scope_id IN ${SCOPES}`, runId);
  const approvals = yield* change(coverArguments(SCOPES), runId);
  const tasks = yield* change(
    `UPDATE toolwright_tasks SET status = 'failed', error_json = ?2, prompt_json = NULL
     WHERE run_id = ?1 AND status = 'running' AND prompt_json IS NOT NULL`,
    runId,
    errorJson,
  );
  return responses + approvals + tasks;
}

/** The same for a loop that was left. Nobody can go on with it: without its responses it might do things twice. */
export function* giveUpTurns(runId: string, nowMs: number): Transaction<number> {
  yield* change(`DELETE FROM toolwright_responses WHERE scope_id IN ${SCOPES}`, runId);
  yield* change(coverArguments(SCOPES), runId);
  return yield* change(
    "UPDATE toolwright_turns SET ended_at_ms = ?2 WHERE run_id = ?1 AND ended_at_ms IS NULL",
    runId,
    nowMs,
  );
}

/** How a run stands, as far as its age and its end are concerned. */
export interface RunAge {
  /** `undefined` for a run that is no workflow's. */
  readonly status: RunStatus | undefined;
  readonly lastActiveMs: number;
  readonly calls: number;
  /** Calls that have not ended, or whose outcome is unknown. */
  readonly openCalls: number;
  /** Turns of loops that have not ended. */
  readonly openTurns: number;
  readonly waitsForPerson: boolean;
  readonly ownerIds: readonly string[];
}

/**
 * `undefined` when there is no such run. Until the transaction ends it stays as it is: it cannot be resumed, no task can be
 * opened in it, and its scopes cannot be taken.
 */
export function* readRunAge(runId: string): Transaction<RunAge | undefined> {
  const run = yield* first(
    "SELECT status, owner_id, updated_at_ms FROM toolwright_workflow_runs WHERE run_id = ?1 {update}",
    runId,
  );
  const bare = yield* first(
    "SELECT updated_at_ms FROM toolwright_runs WHERE id = ?1 AND status = 'open' {update}",
    runId,
  );
  if (run === undefined && bare === undefined) return undefined;
  const scopes = yield* all("SELECT owner_id FROM toolwright_scopes WHERE run_id = ?1 {update}", runId);
  const calls = yield* first(
    `SELECT MAX(COALESCE(finished_at_ms, started_at_ms)) AS last, CAST(COUNT(*) AS BIGINT) AS calls,
       CAST(COUNT(CASE WHEN status IN ('started', 'pending', 'unknown') THEN 1 END) AS BIGINT) AS open
     FROM toolwright_calls WHERE scope_id IN ${SCOPES}`,
    runId,
  );
  const tasks = yield* first(
    "SELECT MAX(COALESCE(finished_at_ms, started_at_ms)) AS last FROM toolwright_tasks WHERE run_id = ?1",
    runId,
  );
  const turns = yield* first(
    `SELECT MAX(COALESCE(ended_at_ms, started_at_ms)) AS last,
       CAST(COUNT(CASE WHEN ended_at_ms IS NULL THEN 1 END) AS BIGINT) AS open
     FROM toolwright_turns WHERE run_id = ?1`,
    runId,
  );
  const [request] = yield* all(
    "SELECT 1 AS found FROM toolwright_approvals WHERE run_id = ?1 AND status = 'pending' LIMIT 1",
    runId,
  );
  const owners = [run, ...scopes].flatMap((row) =>
    row === undefined ? [] : (readTextOrNull(row, "owner_id") ?? []),
  );
  return {
    status: run === undefined ? undefined : (readText(run, "status") as RunStatus),
    lastActiveMs: Math.max(
      run === undefined ? 0 : readInteger(run, "updated_at_ms"),
      bare === undefined ? 0 : readInteger(bare, "updated_at_ms"),
      (calls && readIntegerOrNull(calls, "last")) ?? 0,
      (tasks && readIntegerOrNull(tasks, "last")) ?? 0,
      (turns && readIntegerOrNull(turns, "last")) ?? 0,
    ),
    calls: calls === undefined ? 0 : readInteger(calls, "calls"),
    openCalls: calls === undefined ? 0 : readInteger(calls, "open"),
    openTurns: turns === undefined ? 0 : readInteger(turns, "open"),
    waitsForPerson: request !== undefined,
    ownerIds: [...new Set(owners)].sort(),
  };
}

const PAGE = 200;

/** Ids of workflow runs that stand so and were last changed before, in pages: those after `after`. */
export function* listWorkflowRunsBefore(
  status: RunStatus,
  beforeMs: number,
  after: string,
): Transaction<string[]> {
  const rows = yield* all(
    `SELECT run_id FROM toolwright_workflow_runs WHERE status = ?1 AND updated_at_ms < ?2 AND run_id > ?3
     ORDER BY run_id LIMIT ${PAGE}`,
    status,
    beforeMs,
    after,
  );
  return rows.map((row) => readText(row, "run_id"));
}

/** The same for runs that are no workflow's, by when they were made. */
export function* listBareRunsBefore(beforeMs: number, after: string): Transaction<string[]> {
  const rows = yield* all(
    `SELECT id FROM toolwright_runs WHERE status = 'open' AND created_at_ms < ?1 AND id > ?2
       AND NOT EXISTS (SELECT 1 FROM toolwright_workflow_runs w WHERE w.run_id = toolwright_runs.id)
     ORDER BY id LIMIT ${PAGE}`,
    beforeMs,
    after,
  );
  return rows.map((row) => readText(row, "id"));
}

/** Ids of runs with a turn that has not ended, begun before. */
export function* listOpenTurnsBefore(beforeMs: number, after: string): Transaction<string[]> {
  const rows = yield* all(
    `SELECT DISTINCT run_id FROM toolwright_turns WHERE ended_at_ms IS NULL AND started_at_ms < ?1 AND run_id > ?2
     ORDER BY run_id LIMIT ${PAGE}`,
    beforeMs,
    after,
  );
  return rows.map((row) => readText(row, "run_id"));
}

/** Deletes a run and leaves a tombstone. The number of calls that went with it. */
export function* deleteRun(runId: string, nowMs: number): Transaction<number> {
  yield* keepKeyReads(runId);
  yield* change(
    `UPDATE toolwright_claims SET deleted_at_ms = ?2, happened = CASE WHEN EXISTS (SELECT 1 FROM toolwright_calls c
       WHERE c.scope_id = toolwright_claims.scope_id AND c.key = toolwright_claims.call_key
         AND (c.status = 'success' OR c.effect = 'happened')) THEN 1 ELSE 0 END
     WHERE scope_id IN ${SCOPES}`,
    runId,
    nowMs,
  );
  yield* change(
    `DELETE FROM toolwright_payloads WHERE key IN (SELECT key FROM toolwright_calls WHERE scope_id IN ${SCOPES})`,
    runId,
  );
  // The item stays; that this call wrote it has no further use.
  yield* change(
    `DELETE FROM toolwright_context_writes WHERE key IN (SELECT key FROM toolwright_calls WHERE scope_id IN ${SCOPES})`,
    runId,
  );
  yield* change(`DELETE FROM toolwright_responses WHERE scope_id IN ${SCOPES}`, runId);
  const calls = yield* change(`DELETE FROM toolwright_calls WHERE scope_id IN ${SCOPES}`, runId);
  for (const table of TABLES_OF_BUDGETS) {
    yield* change(
      `DELETE FROM ${table} WHERE run_id IN (SELECT budget_id FROM toolwright_turns WHERE run_id = ?1)`,
      runId,
    );
  }
  for (const table of TABLES_OF_RUN) yield* change(`DELETE FROM ${table} WHERE run_id = ?1`, runId);
  yield* buryRun(runId, nowMs);
  return calls;
}

/** What a budget is kept in: of the run, and of each of its turns that has one of its own. */
const TABLES_OF_BUDGETS = [
  "toolwright_usage",
  "toolwright_reservations",
  "toolwright_breakers",
  "toolwright_cache",
];

const TABLES_OF_RUN = [
  ...TABLES_OF_BUDGETS,
  "toolwright_approvals",
  "toolwright_tasks",
  "toolwright_loops",
  "toolwright_turns",
  "toolwright_snapshots",
  "toolwright_scopes",
  "toolwright_workflow_runs",
];

export function deleteExpiredCache(nowMs: number): Transaction<number> {
  return change("DELETE FROM toolwright_cache WHERE expires_at_ms <= ?1", nowMs);
}
