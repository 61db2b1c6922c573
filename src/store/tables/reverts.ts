/** What a run did outside, and the marks of a run whose effects are reverted. */
import { voidApprovalsOfRun } from "./approvals.ts";
import { CALLS } from "./calls.ts";
import { readInteger, readIntegerOrNull, readText, readTextOrNull } from "./columns.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { REVERT_PATH } from "./scopes.ts";
import { runReverted } from "./tombstones.ts";
import type { RowOf } from "./table.ts";

const EFFECT = CALLS.pick(
  "scopeId",
  "attempt",
  "seq",
  "key",
  "idempotencyKey",
  "toolName",
  "toolCallId",
  "status",
  "effect",
  "unrepeatable",
  "reruns",
  "startedAtMs",
  "executing",
  "ownerId",
  "tries",
);

/** A call that may have had an effect, without its values. */
export interface EffectRow extends RowOf<(typeof EFFECT)["map"]> {
  readonly nodeId: string;
  readonly iteration: number;
  readonly path: string;
  /** A result that arrived after the call had ended. */
  readonly hasLateResult: boolean;
}

/** Numbers count within a task, so calls of two tasks that began in one millisecond are in the order of their tasks. */
const TASK_AGE = `(SELECT MIN(t.id) FROM toolwright_scopes t
  WHERE t.run_id = s.run_id AND t.node_id = s.node_id AND t.path = s.path)`;

/**
 * The calls of a run that ran and may have changed something, newest first. Excludes calls that returned the result of
 * another call: from the cache, an earlier attempt or another run.
 */
const LIST = `SELECT ${EFFECT.list("c")}, s.node_id, s.iteration, s.path,
  CASE WHEN c.late_json IS NOT NULL AND c.effect = 'happened' AND c.status <> 'success' THEN 1 ELSE 0 END AS has_late
FROM toolwright_scopes s JOIN toolwright_calls c ON c.scope_id = s.id
WHERE s.run_id = ?1 AND s.path <> '${REVERT_PATH}' AND c.from_cache = 0 AND c.replayed_from IS NULL AND c.copied_from IS NULL
  AND (c.effect IS NULL OR c.effect <> 'none') AND c.tries > 0 AND c.status <> 'denied'
ORDER BY c.started_at_ms DESC, ${TASK_AGE} DESC, c.attempt DESC, c.seq DESC, c.scope_id DESC`;

export function* listEffects(runId: string): Transaction<EffectRow[]> {
  return (yield* all(LIST, runId)).map((row) => ({
    ...EFFECT.parse(row),
    nodeId: readText(row, "node_id"),
    iteration: readInteger(row, "iteration"),
    path: readText(row, "path"),
    hasLateResult: readInteger(row, "has_late") === 1,
  }));
}

const VALUES = `SELECT c.input_json, c.output_json, c.late_json, i.body AS input_body, o.body AS output_body
FROM toolwright_calls c
LEFT JOIN toolwright_payloads i ON i.key = c.key AND i.attempt = c.attempt AND i.part = 'input'
LEFT JOIN toolwright_payloads o ON o.key = c.key AND o.attempt = c.attempt AND o.part = 'output'
WHERE c.scope_id = ?1 AND c.key = ?2 AND c.attempt = ?3`;

export interface EffectValues {
  readonly inputJson: string | null;
  readonly outputJson: string | null;
  readonly lateJson: string | null;
}

/** Its arguments and output as stored, in full. */
export function* readEffectValues(
  row: Pick<EffectRow, "scopeId" | "key" | "attempt">,
): Transaction<EffectValues> {
  const found = yield* first(VALUES, row.scopeId, row.key, row.attempt);
  if (found === undefined) return { inputJson: null, outputJson: null, lateJson: null };
  return {
    inputJson: readTextOrNull(found, "input_body") ?? readTextOrNull(found, "input_json"),
    outputJson: readTextOrNull(found, "output_body") ?? readTextOrNull(found, "output_json"),
    lateJson: readTextOrNull(found, "late_json"),
  };
}

/** The owners of the run's scopes and of its calls in progress, except those of its reverts. Locks the run. */
export function* ownersAtWork(runId: string): Transaction<string[]> {
  yield* first("SELECT id FROM toolwright_runs WHERE id = ?1 {update}", runId);
  const rows = yield* all(
    `SELECT owner_id FROM toolwright_runs WHERE id = ?1 AND state = 'running' AND owner_id IS NOT NULL
     UNION SELECT owner_id FROM toolwright_workflow_runs WHERE run_id = ?1 AND status = 'running' AND owner_id IS NOT NULL
     UNION SELECT owner_id FROM toolwright_scopes WHERE run_id = ?1 AND path <> '${REVERT_PATH}' AND owner_id IS NOT NULL
     UNION SELECT c.owner_id FROM toolwright_scopes s JOIN toolwright_calls c ON c.scope_id = s.id
       WHERE s.run_id = ?1 AND s.path <> '${REVERT_PATH}' AND c.status = 'started' AND c.owner_id IS NOT NULL`,
    runId,
  );
  return rows.map((row) => readText(row, "owner_id")).toSorted();
}

/** A run that is not over ends as cancelled: nothing continues it. The caller holds its lock. */
export function* endForRevert(runId: string, nowMs: number): Transaction<void> {
  yield* change(
    `UPDATE toolwright_workflow_runs SET status = 'cancelled', owner_id = NULL, epoch = epoch + 1, cancel_requested = 0,
       updated_at_ms = ?2, finished_at_ms = ?2 WHERE run_id = ?1 AND status NOT IN ('finished', 'failed', 'cancelled')`,
    runId,
    nowMs,
  );
  yield* change(
    `UPDATE toolwright_runs SET state = 'cancelled', owner_id = NULL, updated_at_ms = ?2, finished_at_ms = ?2,
       ready_at_ms = NULL, is_due = 0, parked = NULL, claimed_by = NULL, claim_epoch = claim_epoch + 1
     WHERE id = ?1 AND status = 'open' AND kind <> 'workflow' AND state NOT IN ('finished', 'failed', 'cancelled')`,
    runId,
    nowMs,
  );
  // Those of an earlier revert stay open.
  if ((yield* readRevertedAt(runId)) === null) yield* voidApprovalsOfRun(runId);
}

/** Fences every scope of the run except the scope of its reverts, and declares its interrupted calls unknown. */
export function* sealForRevert(runId: string, nowMs: number): Transaction<void> {
  yield* change(
    `UPDATE toolwright_scopes SET sealed = 1, owner_id = NULL, epoch = epoch + 1 WHERE run_id = ?1 AND path <> '${REVERT_PATH}'`,
    runId,
  );
  yield* change(
    `UPDATE toolwright_calls SET status = 'unknown', finished_at_ms = ?2
     WHERE status = 'started' AND scope_id IN (SELECT id FROM toolwright_scopes WHERE run_id = ?1 AND path <> '${REVERT_PATH}')`,
    runId,
    nowMs,
  );
  yield* endSaga(runId);
  yield* markReverted(runId, nowMs);
}

function markReverted(runId: string, nowMs: number): Transaction<number> {
  return change(
    "UPDATE toolwright_runs SET reverted_at_ms = ?2 WHERE id = ?1 AND reverted_at_ms IS NULL",
    runId,
    nowMs,
  );
}

export function* readRevertedAt(runId: string): Transaction<number | null> {
  const row = yield* first("SELECT reverted_at_ms FROM toolwright_runs WHERE id = ?1", runId);
  return row === undefined ? null : readIntegerOrNull(row, "reverted_at_ms");
}

/** Whether effects are being reverted, or a process died while it did that. */
export function* isBeingReverted(runId: string): Transaction<boolean> {
  const row = yield* first(
    `SELECT 1 AS one FROM toolwright_runs r WHERE r.id = ?1 AND (r.saga_json IS NOT NULL OR EXISTS
       (SELECT 1 FROM toolwright_scopes s WHERE s.run_id = r.id AND s.path = '${REVERT_PATH}' AND s.owner_id IS NOT NULL))`,
    runId,
  );
  return row !== undefined;
}

/** The reverts of a run that have succeeded, by their keys. */
export function* listReverted(runId: string): Transaction<ReadonlySet<string>> {
  const rows = yield* all(
    `SELECT c.key FROM toolwright_scopes s JOIN toolwright_calls c ON c.scope_id = s.id
     WHERE s.run_id = ?1 AND s.path = '${REVERT_PATH}' AND s.parent_key = '' AND c.status = 'success'`,
    runId,
  );
  return new Set(rows.map((row) => readText(row, "key")));
}

const ORIGINAL = /^\{"call":.*?"key":"([^"]+)"/s;

/** The input of a revert begins with the call that it reverts. The log shows only a preview of a long one. */
const TAKEN_BACK = `SELECT SUBSTR(COALESCE(i.body, c.input_json), 1, 2000) AS input
FROM toolwright_scopes s JOIN toolwright_calls c ON c.scope_id = s.id
LEFT JOIN toolwright_payloads i ON i.key = c.key AND i.attempt = c.attempt AND i.part = 'input'
WHERE s.run_id = ?1 AND s.path = '${REVERT_PATH}' AND s.parent_key = '' AND c.status = 'success'`;

/** The calls of a run whose effects were reverted, by their keys. */
export function* listRevertedCalls(runId: string): Transaction<ReadonlySet<string>> {
  if ((yield* readRevertedAt(runId)) === null) return new Set();
  const rows = yield* all(TAKEN_BACK, runId);
  return new Set(rows.flatMap((row) => ORIGINAL.exec(readTextOrNull(row, "input") ?? "")?.[1] ?? []));
}

/** Whether the effect of a call was reverted. @param isLate a revert before the effect happened does not count */
export function* hasReverted(runId: string, key: string, isLate: boolean): Transaction<boolean> {
  if ((yield* readRevertedAt(runId)) === null) return false;
  const rows = yield* all(
    `SELECT 1 AS one FROM (${TAKEN_BACK}) t WHERE t.input LIKE ?2 LIMIT 1`,
    runId,
    `{"call":%"key":"${key}"${isLate ? '%"late":true' : ""}%`,
  );
  return rows.length > 0;
}

/** A failed `<Saga>`: what it reverts, and why. From now on the run does only this. */
export function* saveSaga(runId: string, sagaJson: string, nowMs: number): Transaction<void> {
  yield* change(
    "UPDATE toolwright_runs SET saga_json = ?2 WHERE id = ?1 AND saga_json IS NULL",
    runId,
    sagaJson,
  );
  yield* markReverted(runId, nowMs);
}

/** It has reverted all that it could. */
export function endSaga(runId: string): Transaction<number> {
  return change("UPDATE toolwright_runs SET saga_json = NULL WHERE id = ?1", runId);
}

/** A saga that is reverting effects continues; any other reverted run is over for good. Locks the run. */
export function* isReverted(runId: string): Transaction<boolean> {
  return (yield* readReverted(runId)).isReverted;
}

/**
 * Returns what a saga of the run is reverting, if one is in progress. Locks the run.
 * @throws TOOL_RUN_REVERTED
 */
export function* assertResumable(runId: string): Transaction<string | undefined> {
  const { isReverted, sagaJson } = yield* readReverted(runId);
  if (isReverted) throw runReverted(runId);
  return sagaJson;
}

function* readReverted(runId: string): Transaction<{ isReverted: boolean; sagaJson: string | undefined }> {
  const row = yield* first(
    "SELECT reverted_at_ms, saga_json FROM toolwright_runs WHERE id = ?1 {update}",
    runId,
  );
  const sagaJson = (row && readTextOrNull(row, "saga_json")) ?? undefined;
  return {
    isReverted: row !== undefined && row["reverted_at_ms"] !== null && sagaJson === undefined,
    sagaJson,
  };
}
