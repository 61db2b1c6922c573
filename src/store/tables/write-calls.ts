/**
 * Writes rows of calls. Every write names the epoch and the attempt that it is made for and touches nothing when they are
 * not the current ones; the callers read the number of changed rows.
 */
import type { CallRow, CallStatus, NewCall } from "./calls.ts";
import { change } from "../statement.ts";
import type { Transaction } from "../store.ts";

/** Who writes. `epoch` is `null` for a bare call, which owns no scope. */
export interface Writer {
  readonly rootScopeId: number;
  readonly epoch: number | null;
  readonly attempt: number;
}

/** Where a row is found. */
export interface RowKey {
  readonly scopeId: number;
  readonly key: string;
  readonly attempt: number;
}

export interface CallEnd {
  readonly status: CallStatus;
  readonly effect: "none" | "happened" | null;
  readonly outputJson: string | null;
  readonly errorJson: string | null;
  readonly finishedAtMs: number;
  readonly tries: number;
  readonly keyRead: boolean | null;
  readonly isolation: string | null;
  readonly waitsFor: string | null;
  readonly note: string | null;
  /** A try that was cut off is still at work. */
  readonly executing: true | null;
}

const INSERT = `INSERT INTO toolwright_calls (
  scope_id, attempt, seq, key, idempotency_key, tool_name, tool_call_id, unrepeatable, status, effect,
  input_json, output_json, error_json, started_at_ms, finished_at_ms, replayed_from, from_cache, approval_id, owner_id,
  tries, isolation, waits_for, late_json, note, reruns, model_name)
SELECT CAST(?1 AS BIGINT), CAST(?2 AS BIGINT), CAST(?3 AS BIGINT), ?4, ?5, ?6, ?7, CAST(?8 AS BIGINT), ?9, ?10,
  ?11, ?12, ?13, CAST(?14 AS BIGINT), CAST(?15 AS BIGINT), CAST(?16 AS BIGINT), CAST(?17 AS BIGINT), ?18, ?19,
  CAST(?20 AS BIGINT), ?21, ?22, ?23, ?26, CAST(?27 AS BIGINT), ?28
FROM toolwright_scopes WHERE id = ?24 AND attempt = ?2 AND (CAST(?25 AS BIGINT) IS NULL OR epoch = ?25) {share}
ON CONFLICT DO NOTHING`;

const INSERT_STARTED = `INSERT INTO toolwright_calls (
  scope_id, attempt, seq, key, idempotency_key, tool_name, tool_call_id, unrepeatable, status,
  input_json, started_at_ms, approval_id, owner_id, tries, reruns, model_name)
SELECT CAST(?1 AS BIGINT), CAST(?2 AS BIGINT), CAST(?3 AS BIGINT), ?4, ?5, ?6, ?7, CAST(?8 AS BIGINT), 'started',
  ?9, CAST(?10 AS BIGINT), ?11, ?12, 1, CAST(?15 AS BIGINT), ?16
FROM toolwright_scopes WHERE id = ?13 AND attempt = ?2 AND (CAST(?14 AS BIGINT) IS NULL OR epoch = ?14) {share}
ON CONFLICT DO NOTHING`;

/** The intent: the same as `insertCall`, with only what is known then, since every call pays for it. */
export function insertStarted(
  call: Omit<NewCall, keyof CallEnd | "replayedFrom" | "fromCache" | "lateJson">,
  writer: Writer,
): Transaction<number> {
  return change(
    INSERT_STARTED,
    call.scopeId,
    writer.attempt,
    call.seq,
    call.key,
    call.idempotencyKey,
    call.toolName,
    call.toolCallId,
    call.unrepeatable ? 1 : 0,
    call.inputJson,
    call.startedAtMs,
    call.approvalId,
    call.ownerId,
    writer.rootScopeId,
    writer.epoch,
    bit(call.reruns),
    call.modelName,
  );
}

/** 0 when the key is taken, or the writer is no longer the current one. */
export function insertCall(call: NewCall, writer: Writer): Transaction<number> {
  return change(
    INSERT,
    call.scopeId,
    writer.attempt,
    call.seq,
    call.key,
    call.idempotencyKey,
    call.toolName,
    call.toolCallId,
    call.unrepeatable ? 1 : 0,
    call.status,
    call.effect,
    call.inputJson,
    call.outputJson,
    call.errorJson,
    call.startedAtMs,
    call.finishedAtMs,
    call.replayedFrom,
    call.fromCache ? 1 : 0,
    call.approvalId,
    call.ownerId,
    call.tries,
    call.isolation,
    call.waitsFor,
    call.lateJson,
    writer.rootScopeId,
    writer.epoch,
    call.note,
    bit(call.reruns),
    call.modelName,
  );
}

function bit(value: boolean | null): 0 | 1 | null {
  return value === null ? null : value ? 1 : 0;
}

/** Before the call ends: its process may die, and then this is the only trace that it passed its key on. */
export function noteKeyRead(at: RowKey & { readonly ownerId: string }): Transaction<number> {
  return change(
    `UPDATE toolwright_calls SET key_read = 1
     WHERE scope_id = ?1 AND key = ?2 AND attempt = ?3 AND owner_id = ?4 AND status = 'started'`,
    at.scopeId,
    at.key,
    at.attempt,
    at.ownerId,
  );
}

/** Begins a call that has a row already: one that waited, or whose outcome was unknown. */
export function* startAgain(
  row: CallRow,
  call: Pick<
    NewCall,
    "idempotencyKey" | "inputJson" | "startedAtMs" | "ownerId" | "toolCallId" | "approvalId"
  >,
  writer: Writer,
): Transaction<number> {
  return yield* change(
    `UPDATE toolwright_calls SET status = 'started', idempotency_key = ?4, input_json = ?5, started_at_ms = ?6,
       owner_id = ?7, tool_call_id = ?8, approval_id = ?9, error_json = NULL, effect = NULL, finished_at_ms = NULL,
       waits_for = NULL, executing = NULL, tries = tries + 1
     WHERE scope_id = ?1 AND attempt = ?2 AND key = ?3 AND status = ?10 AND (effect IS NULL OR effect <> 'happened')
       AND ${mayWrite("?11", "?2", "?12")}`,
    row.scopeId,
    row.attempt,
    row.key,
    call.idempotencyKey,
    call.inputJson,
    call.startedAtMs,
    call.ownerId,
    call.toolCallId,
    call.approvalId,
    row.status,
    writer.rootScopeId,
    writer.epoch,
  );
}

const FINISH = `UPDATE toolwright_calls SET status = ?5, effect = ?6, output_json = ?7, error_json = ?8,
  finished_at_ms = ?9, tries = ?10, key_read = ?11, isolation = ?12, waits_for = ?13, note = ?14, executing = ?15
WHERE scope_id = ?1 AND attempt = ?2 AND key = ?3 AND owner_id = ?4 AND status = 'started'`;

/** 0 when the call is no longer this owner's: it was taken for dead, and somebody else decides about it. */
export function finishCall(at: RowKey & { readonly ownerId: string }, end: CallEnd): Transaction<number> {
  return change(
    FINISH,
    at.scopeId,
    at.attempt,
    at.key,
    at.ownerId,
    end.status,
    end.effect,
    end.outputJson,
    end.errorJson,
    end.finishedAtMs,
    end.tries,
    bit(end.keyRead),
    end.isolation,
    end.waitsFor,
    end.note,
    end.executing ? 1 : null,
  );
}

/** The row of a call that was made in attempt ?3. One that waited may have moved to a later attempt meanwhile. */
const ROW_OF_ATTEMPT = `(SELECT MIN(attempt) FROM toolwright_calls WHERE scope_id = ?1 AND key = ?2 AND attempt >= ?3)`;

/** What came after nobody waited any more. It is kept, never used as the outcome of this attempt. */
export function* recordLate(
  at: RowKey,
  late: { readonly effect: "none" | "happened" | null; readonly json: string },
): Transaction<number> {
  const changes = yield* change(
    // A success is the last word: what another try says after it is not kept.
    `UPDATE toolwright_calls SET late_json = ?4, effect = COALESCE(?5, effect)
     WHERE scope_id = ?1 AND key = ?2 AND attempt = ${ROW_OF_ATTEMPT}
       AND (effect IS NULL OR effect <> 'happened' OR status = 'success' OR (?5 = 'happened' AND late_json IS NULL))`,
    at.scopeId,
    at.key,
    at.attempt,
    late.json,
    late.effect,
  );
  if (changes > 0 && late.effect === "happened") yield* voidQuestionsAbout(at);
  return changes;
}

/** It happened: nobody has to be asked any more. */
function voidQuestionsAbout({ scopeId, key }: RowKey): Transaction<number> {
  return change(
    `UPDATE toolwright_approvals SET status = 'void'
     WHERE call_key = ?2 AND scope_id = ?1 AND kind = 'replay' AND status = 'pending'`,
    scopeId,
    key,
  );
}

/** A try that was cut off has settled: from here on its call can be decided about. */
export function endExecution(at: RowKey, nowMs: number): Transaction<number> {
  return change(
    `UPDATE toolwright_calls SET executing = 0, finished_at_ms = ?4
     WHERE scope_id = ?1 AND key = ?2 AND attempt = ${ROW_OF_ATTEMPT} AND executing = 1`,
    at.scopeId,
    at.key,
    at.attempt,
    nowMs,
  );
}

/** The owner lives and lets go of the call without an outcome. */
export function abandonCall(
  at: RowKey & { readonly ownerId: string },
  effect: "none" | null,
  nowMs: number,
): Transaction<number> {
  return change(
    `UPDATE toolwright_calls SET status = 'unknown', effect = ?5, finished_at_ms = ?6
     WHERE scope_id = ?1 AND key = ?2 AND attempt = ?3 AND status = 'started' AND owner_id = ?4`,
    at.scopeId,
    at.key,
    at.attempt,
    at.ownerId,
    effect,
    nowMs,
  );
}

/** The owner is gone: nobody knows how the call ended. */
export function markUnknown(row: CallRow, nowMs: number): Transaction<number> {
  return change(
    `UPDATE toolwright_calls SET status = 'unknown', finished_at_ms = ?5
     WHERE scope_id = ?1 AND key = ?2 AND attempt = ?3 AND status = 'started' AND owner_id = ?4`,
    row.scopeId,
    row.key,
    row.attempt,
    row.ownerId,
    nowMs,
  );
}

/** A waiting call is the same call in the next attempt: its row moves on. */
export function moveToAttempt(row: CallRow, seq: number, writer: Writer): Transaction<number> {
  return change(
    `UPDATE toolwright_calls SET attempt = CAST(?4 AS BIGINT), seq = ?5
     WHERE scope_id = ?1 AND key = ?2 AND attempt = ?3 AND status = 'pending' AND ${mayWrite("?6", "?4", "?7")}`,
    row.scopeId,
    row.key,
    row.attempt,
    writer.attempt,
    seq,
    writer.rootScopeId,
    writer.epoch,
  );
}

/** Whether this is still the owner and the attempt that the scope has, which then stay so until the transaction ends. */
function mayWrite(scopeId: string, attempt: string, epoch: string): string {
  return `EXISTS (SELECT 1 FROM toolwright_scopes s WHERE s.id = ${scopeId} AND s.attempt = CAST(${attempt} AS BIGINT)
    AND (CAST(${epoch} AS BIGINT) IS NULL OR s.epoch = ${epoch}) {share})`;
}

/** Ends a row that is not running: a call that waited and was answered, or an interrupted one that was cleared up. */
export function closeCall(
  row: CallRow,
  end: Pick<CallEnd, "status" | "effect" | "outputJson" | "errorJson"> & {
    readonly finishedAtMs: number | null;
    readonly approvalId?: string | null;
    readonly waitsFor?: string | null;
  },
  writer: Writer,
): Transaction<number> {
  return change(
    `UPDATE toolwright_calls SET status = ?4, effect = ?5, output_json = ?6, error_json = ?7, finished_at_ms = ?8,
       approval_id = COALESCE(?9, approval_id), waits_for = ?10
     WHERE key = ?1 AND attempt = ?2 AND status = ?3 AND scope_id = ?11 AND ${mayWrite("?12", "?13", "?14")}
       AND (effect IS NULL OR effect <> 'happened' OR ?5 = 'happened')`,
    row.key,
    row.attempt,
    row.status,
    end.status,
    end.effect,
    end.outputJson,
    end.errorJson,
    end.finishedAtMs,
    end.approvalId ?? null,
    end.waitsFor ?? null,
    row.scopeId,
    writer.rootScopeId,
    writer.attempt,
    writer.epoch,
  );
}
