/**
 * Retention: deletes runs, each in one transaction. The id and the business keys of a run stay, so that neither can be used
 * as if it were new.
 */
import { readInteger, readIntegerOrNull, readText, readTextOrNull } from "./columns.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { hasOpenForks } from "./forks.ts";
import type { RecordedPlace, RecordedTask } from "./recorded-responses.ts";
import { forgetHiddenInput } from "./recordings.ts";
import { DELETED_RESPONSE } from "./responses.ts";
import { type DeletedScopes, sealUnread } from "./stream-readers.ts";
import { buryRun } from "./tombstones.ts";
import { saveKeyReads } from "./key-reads.ts";
import { IS_IN_TASK } from "./scopes.ts";
import type { RunStatus } from "./workflow-runs.ts";

const SCOPES = "(SELECT id FROM toolwright_scopes WHERE run_id = ?1)";
const SCOPES_OF_TASK = `(SELECT s.id FROM toolwright_scopes s WHERE ${IS_IN_TASK})`;

/** What models said, in plain text. */
const TABLES_OF_RESPONSES = ["toolwright_responses", "toolwright_stream_parts"];

function scopesIn({ runId, task }: RecordedPlace): DeletedScopes {
  return task === undefined
    ? { sql: SCOPES, parameters: [runId] }
    : { sql: SCOPES_OF_TASK, parameters: [runId, task.nodeId, task.path] };
}

function* deleteResponses(runId: string): Transaction<number> {
  let deleted = 0;
  for (const table of TABLES_OF_RESPONSES)
    deleted += yield* change(`DELETE FROM ${table} WHERE scope_id IN ${SCOPES}`, runId);
  return deleted;
}

/** Deletes the model responses of a task, or of a run. */
export function* forgetResponsesIn({ runId, task }: RecordedPlace): Transaction<number> {
  yield* sealUnread(runId, scopesIn({ runId, task }));
  if (task === undefined) return yield* deleteResponses(runId);
  let deleted = 0;
  for (const table of TABLES_OF_RESPONSES)
    deleted += yield* change(
      `DELETE FROM ${table} WHERE scope_id IN ${SCOPES_OF_TASK}`,
      runId,
      task.nodeId,
      task.path,
    );
  return deleted;
}

const UNCOMMITTED = "DELETE FROM toolwright_stream_parts WHERE response <> '' AND scope_id IN";

/**
 * Deletes what models said in a run or a task that has not ended, or may be repeated. The rows stay without it: without a trace,
 * the loop would ask its model again, and could repeat its effects in other words.
 */
export function* emptyResponsesIn(location: RecordedPlace): Transaction<number> {
  const scopes = scopesIn(location);
  yield* sealUnread(location.runId, scopes);
  const parts = yield* change(
    `DELETE FROM toolwright_stream_parts WHERE scope_id IN ${scopes.sql}`,
    ...scopes.parameters,
  );
  const emptied = yield* change(
    `UPDATE toolwright_responses SET response_json = '${DELETED_RESPONSE}', request_json = NULL, parts_json = NULL, last_index = -1
     WHERE scope_id IN ${scopes.sql} AND response_json <> '${DELETED_RESPONSE}'`,
    ...scopes.parameters,
  );
  return parts + emptied;
}

/** Whether a call of the task may have had an effect that an equal call does not repeat. */
export function* hasUnrepeatableEffects({ runId, task }: RecordedTask): Transaction<boolean> {
  const row = yield* first(
    `SELECT 1 AS one FROM toolwright_calls WHERE scope_id IN ${SCOPES_OF_TASK} AND unrepeatable = 1 AND tries > 0
       AND (reruns IS NULL OR reruns = 0) AND (effect IS NULL OR effect <> 'none') LIMIT 1`,
    runId,
    task.nodeId,
    task.path,
  );
  return row !== undefined;
}

/** Deletes the parts of responses that were not committed. Results of calls are stored redacted. */
export function* forgetParts({ runId, task }: RecordedPlace): Transaction<number> {
  yield* sealUnread(runId, scopesIn({ runId, task }));
  if (task === undefined) return yield* change(`${UNCOMMITTED} ${SCOPES}`, runId);
  return yield* change(`${UNCOMMITTED} ${SCOPES_OF_TASK}`, runId, task.nodeId, task.path);
}

/** Replaces arguments that only the approver had to see by their form in the log. */
export function coverArgumentsIn({ runId, task }: RecordedPlace): Transaction<number> {
  if (task === undefined) return change(coverArguments(SCOPES), runId);
  return change(coverArguments(SCOPES_OF_TASK), runId, task.nodeId, task.path);
}

/** The same for a call outside a task. */
export function coverArgumentsOfCall(callKey: string): Transaction<number> {
  return change(
    coverArguments("(SELECT scope_id FROM toolwright_approvals WHERE call_key = ?1) AND call_key = ?1"),
    callKey,
  );
}

function coverArguments(scopes: string): string {
  return `UPDATE toolwright_approvals SET clear_args = 0, approved_args_json = NULL, args_json = COALESCE(
      (SELECT MAX(c.input_json) FROM toolwright_calls c WHERE c.scope_id = toolwright_approvals.scope_id
        AND c.key = toolwright_approvals.call_key), '{}')
    WHERE clear_args = 1 AND scope_id IN ${scopes}`;
}

/**
 * For a run whose responses are gone: a task of an agent that was running, or waited inside one of its calls, can no longer
 * resume. It is marked as failed, so that a resume starts another attempt, whose prompt lists the calls of this one.
 */
export function failTasksOfRun(runId: string, errorJson: string): Transaction<number> {
  return change(
    `UPDATE toolwright_tasks SET status = 'failed', error_json = ?2, prompt_json = NULL
     WHERE run_id = ?1 AND status IN ('running', 'waiting') AND prompt_json IS NOT NULL`,
    runId,
    errorJson,
  );
}

/** The input of an agent or a program, which only a resume needs. */
export function* forgetInput(runId: string): Transaction<number> {
  yield* forgetHiddenInput(runId);
  return yield* change(
    "UPDATE toolwright_runs SET input_json = NULL WHERE id = ?1 AND kind <> 'workflow' AND input_json IS NOT NULL",
    runId,
  );
}

/** The state of a run that retention depends on. */
export interface RunAge {
  /** `undefined` for a run without a workflow. */
  readonly status: RunStatus | undefined;
  readonly lastActiveMs: number;
  readonly calls: number;
  /** Calls that have not ended, or whose outcome is unknown. */
  readonly openCalls: number;
  /** Turns of loops that have not ended. */
  readonly openTurns: number;
  readonly waitsForApproval: boolean;
  /** It waits for a worker or for its start time, or a worker holds it: one that has died is replaced by the next. */
  readonly isForWorkers: boolean;
  readonly ownerIds: readonly string[];
  /** A fork that is not finished compares its calls with this run's. */
  readonly hasOpenForks: boolean;
}

/**
 * `undefined` when there is no such run. Locks the run until the transaction ends: no process can resume it, open a task in
 * it or take one of its scopes.
 */
export function* readRunAge(runId: string): Transaction<RunAge | undefined> {
  const run = yield* first(
    "SELECT status, owner_id, updated_at_ms FROM toolwright_workflow_runs WHERE run_id = ?1 {update}",
    runId,
  );
  const bare = yield* first(
    `SELECT updated_at_ms, CASE WHEN state = 'queued' OR claimed_by IS NOT NULL OR (ready_at_ms IS NOT NULL
       AND state NOT IN ('finished', 'failed', 'cancelled')) THEN 1 ELSE 0 END AS is_for_workers
     FROM toolwright_runs WHERE id = ?1 AND status = 'open' {update}`,
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
    waitsForApproval: request !== undefined,
    isForWorkers: bare !== undefined && readInteger(bare, "is_for_workers") === 1,
    ownerIds: [...new Set(owners)].sort(),
    hasOpenForks: yield* hasOpenForks(runId),
  };
}

const PAGE_SIZE = 200;

/** Ids of workflow runs with this status that last changed at that time or before, in pages: those after `after`. */
export function* listWorkflowRunsBefore(
  status: RunStatus,
  beforeMs: number,
  after: string,
): Transaction<string[]> {
  const rows = yield* all(
    `SELECT run_id FROM toolwright_workflow_runs WHERE status = ?1 AND updated_at_ms <= ?2 AND run_id > ?3
     ORDER BY run_id LIMIT ${PAGE_SIZE}`,
    status,
    beforeMs,
    after,
  );
  return rows.map((row) => readText(row, "run_id"));
}

/** The same for runs without a workflow, by their creation time. */
export function* listBareRunsBefore(beforeMs: number, after: string): Transaction<string[]> {
  const rows = yield* all(
    `SELECT id FROM toolwright_runs WHERE status = 'open' AND created_at_ms <= ?1 AND id > ?2
       AND NOT EXISTS (SELECT 1 FROM toolwright_workflow_runs w WHERE w.run_id = toolwright_runs.id)
     ORDER BY id LIMIT ${PAGE_SIZE}`,
    beforeMs,
    after,
  );
  return rows.map((row) => readText(row, "id"));
}

/** Ids of runs with an open turn that started at that time or before. */
export function* listOpenTurnsBefore(beforeMs: number, after: string): Transaction<string[]> {
  const rows = yield* all(
    `SELECT DISTINCT run_id FROM toolwright_turns WHERE ended_at_ms IS NULL AND started_at_ms <= ?1 AND run_id > ?2
     ORDER BY run_id LIMIT ${PAGE_SIZE}`,
    beforeMs,
    after,
  );
  return rows.map((row) => readText(row, "run_id"));
}

/** Deletes a run and leaves a tombstone. Returns the number of deleted calls. */
export function* deleteRun(runId: string, nowMs: number): Transaction<number> {
  yield* saveKeyReads(runId);
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
  yield* change(
    `DELETE FROM toolwright_replaced_files WHERE key IN (SELECT key FROM toolwright_calls WHERE scope_id IN ${SCOPES})`,
    runId,
  );
  // The item stays; only the link to the call that wrote it is deleted.
  yield* change(
    `DELETE FROM toolwright_context_writes WHERE key IN (SELECT key FROM toolwright_calls WHERE scope_id IN ${SCOPES})`,
    runId,
  );
  yield* deleteResponses(runId);
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

/** Tables that count under a budget id: the run, or a turn with its own budgets. */
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
  "toolwright_waits",
  "toolwright_signals",
  "toolwright_run_labels",
  "toolwright_outlines",
  "toolwright_turns",
  "toolwright_turn_inputs",
  "toolwright_snapshots",
  "toolwright_recordings",
  "toolwright_streams",
  "toolwright_stream_readers",
  "toolwright_sealed_parts",
  "toolwright_forks",
  "toolwright_scopes",
  "toolwright_workflow_runs",
];

export function deleteExpiredCache(nowMs: number): Transaction<number> {
  return change("DELETE FROM toolwright_cache WHERE expires_at_ms <= ?1", nowMs);
}
