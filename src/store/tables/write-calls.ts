/**
 * Writes rows of calls. Every write names its epoch and attempt, and changes nothing when they are no longer current; the
 * callers check the number of changed rows. The two statements of every call are not generators: delegating to one costs.
 */
import {
  CALL_END,
  CALL_START,
  lockCallsByKey,
  type CallEnd,
  type CallRow,
  type CallStart,
  NEW_CALL,
  type NewCall,
} from "./calls.ts";
import { change, changeBy, type SqlValue, type Statement } from "../statement.ts";
import type { Transaction } from "../store.ts";

/** The owner that writes. `epoch` is `null` for a call outside a task, which owns no scope. */
export interface Writer {
  readonly rootScopeId: number;
  readonly epoch: number | null;
  readonly attempt: number;
}

/** Identifies a row. */
export interface RowKey {
  readonly scopeId: number;
  readonly key: string;
  readonly attempt: number;
}

/** Selects one row while the writer (attempt ?1, root scope ?2, epoch ?3) is the current one, and locks it. */
export const FROM_CURRENT_SCOPE = `FROM toolwright_scopes
WHERE id = ?2 AND attempt = ?1 AND sealed = 0 AND (CAST(?3 AS BIGINT) IS NULL OR epoch = ?3) {share}`;

const INSERT = `INSERT INTO toolwright_calls (attempt, ${NEW_CALL.list()})
SELECT CAST(?1 AS BIGINT), ${NEW_CALL.parameters(4)}
${FROM_CURRENT_SCOPE} ON CONFLICT DO NOTHING`;

const INSERT_STARTED = `INSERT INTO toolwright_calls (attempt, status, tries, ${CALL_START.list()})
SELECT CAST(?1 AS BIGINT), 'started', 1, ${CALL_START.parameters(4)}
${FROM_CURRENT_SCOPE} ON CONFLICT DO NOTHING`;

/** The intent: like `insertCall`, with the columns that are known at the start, since every call pays for it. */
export function insertStarted(call: CallStart, writer: Writer): Statement {
  const parameters = CALL_START.values(call, parametersOf(writer));
  return { kind: "change", sql: INSERT_STARTED, parameters, isLast: true };
}

/**
 * 0 when the key is taken, or the writer is no longer the current one.
 * @param isLast nothing follows in its transaction
 */
export function insertCall(call: NewCall, writer: Writer, isLast = false): Transaction<number> {
  const parameters = NEW_CALL.values(call, parametersOf(writer));
  return changeBy({ kind: "change", sql: INSERT, parameters, isLast });
}

/** In the order of `FROM_CURRENT_SCOPE`. */
function parametersOf({ attempt, rootScopeId, epoch }: Writer): readonly SqlValue[] {
  return [attempt, rootScopeId, epoch];
}

const NOTE_KEY_READ = `UPDATE toolwright_calls SET key_read = 1
WHERE scope_id = ?1 AND key = ?2 AND attempt = ?3 AND owner_id = ?4 AND status = 'started'`;

/** Written before the call ends: if the process dies, this is the only trace that the tool read its key. */
export function noteKeyRead(at: RowKey & { readonly ownerId: string }): Transaction<number> {
  const parameters = [at.scopeId, at.key, at.attempt, at.ownerId];
  return changeBy({ kind: "change", sql: NOTE_KEY_READ, parameters, isLast: true });
}

const START_AGAIN = `UPDATE toolwright_calls SET status = 'started', idempotency_key = ?4, input_json = ?5, started_at_ms = ?6,
  owner_id = ?7, tool_call_id = ?8, approval_id = ?9, error_json = NULL, effect = NULL, finished_at_ms = NULL,
  waits_for = NULL, executing = NULL, tries = tries + 1, trace = COALESCE(?13, trace), copied_from = NULL
WHERE scope_id = ?1 AND attempt = ?2 AND key = ?3 AND status = ?10 AND (effect IS NULL OR effect <> 'happened')
  AND ${mayWrite("?11", "?2", "?12")}`;

/** Starts a call that already has a row: one that waited for approval, or whose outcome was unknown. */
export function* startAgain(
  row: CallRow,
  call: Pick<
    CallStart,
    "idempotencyKey" | "inputJson" | "startedAtMs" | "ownerId" | "toolCallId" | "approvalId" | "trace"
  >,
  writer: Writer,
): Transaction<number> {
  return yield* change(
    START_AGAIN,
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
    call.trace,
  );
}

const FINISH = `UPDATE toolwright_calls SET ${CALL_END.assignments(5)}
WHERE scope_id = ?1 AND attempt = ?2 AND key = ?3 AND owner_id = ?4 AND status = 'started'`;

/**
 * Changes nothing when this owner no longer holds the call: another process presumed it dead and took the call over.
 * @param isLast nothing follows in its transaction
 */
export function finishCall(
  at: RowKey & { readonly ownerId: string },
  end: CallEnd,
  isLast = false,
): Statement {
  const parameters = CALL_END.values(end, [at.scopeId, at.attempt, at.key, at.ownerId]);
  return { kind: "change", sql: FINISH, parameters, isLast };
}

/**
 * The row of a call that started in attempt ?3. A pending call may have moved to a later attempt since: lock its rows first,
 * or PostgreSQL compares a row that moves at this moment with the attempt that it had before.
 */
const ROW_OF_ATTEMPT = `(SELECT MIN(attempt) FROM toolwright_calls WHERE scope_id = ?1 AND key = ?2 AND attempt >= ?3)`;

/** Stores an outcome that arrived after the call had ended. It is never used as the outcome of this attempt. */
export function* recordLate(
  at: RowKey,
  late: { readonly effect: "none" | "happened" | null; readonly json: string },
): Transaction<number> {
  yield* lockCallsByKey(at.scopeId, at.key);
  const changes = yield* change(
    // A success is final: a later outcome of another try is dropped.
    `UPDATE toolwright_calls SET late_json = ?4, effect = COALESCE(?5, effect)
     WHERE scope_id = ?1 AND key = ?2 AND attempt = ${ROW_OF_ATTEMPT}
       AND (effect IS NULL OR effect <> 'happened' OR status = 'success' OR (?5 = 'happened' AND late_json IS NULL))`,
    at.scopeId,
    at.key,
    at.attempt,
    late.json,
    late.effect,
  );
  if (changes > 0 && late.effect === "happened") yield* voidReplayRequests(at);
  return changes;
}

/** The effect happened, so no approver has to decide whether it did. */
function voidReplayRequests({ scopeId, key }: RowKey): Transaction<number> {
  return change(
    `UPDATE toolwright_approvals SET status = 'void'
     WHERE call_key = ?2 AND scope_id = ?1 AND kind = 'replay' AND status = 'pending'`,
    scopeId,
    key,
  );
}

/** An interrupted try has settled: from here on another process may decide about its call. */
export function* endExecution(at: RowKey, settledAtMs: number): Transaction<number> {
  yield* lockCallsByKey(at.scopeId, at.key);
  return yield* change(
    `UPDATE toolwright_calls SET executing = 0, finished_at_ms = ?4
     WHERE scope_id = ?1 AND key = ?2 AND attempt = ${ROW_OF_ATTEMPT} AND executing = 1`,
    at.scopeId,
    at.key,
    at.attempt,
    settledAtMs,
  );
}

/** The live owner gives the call up without an outcome. */
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

/** The owner is dead, and the outcome of the call unknown. */
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

/** A pending call stays the same call in the next attempt: its row moves there. */
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

/** Whether owner and attempt are still current; locks the scope until the transaction ends. */
function mayWrite(scopeId: string, attempt: string, epoch: string): string {
  return `EXISTS (SELECT 1 FROM toolwright_scopes s WHERE s.id = ${scopeId} AND s.attempt = CAST(${attempt} AS BIGINT) AND s.sealed = 0
    AND (CAST(${epoch} AS BIGINT) IS NULL OR s.epoch = ${epoch}) {share})`;
}

/** Ends a row that is not running: a pending call that was decided, or an interrupted one that was resolved. */
export function closeCall(
  row: CallRow,
  end: Pick<CallEnd, "status" | "effect" | "outputJson" | "errorJson"> & {
    readonly finishedAtMs: number | null;
    readonly approvalId?: string | null;
    readonly waitsFor?: string | null;
    /** `null`: the one that is stored. */
    readonly note?: string | null;
    /** The trace of the request that the call waits for. */
    readonly trace?: string | null;
  },
  writer: Writer,
): Transaction<number> {
  return change(
    `UPDATE toolwright_calls SET status = ?4, effect = ?5, output_json = ?6, error_json = ?7, finished_at_ms = ?8,
       approval_id = COALESCE(?9, approval_id), waits_for = ?10, note = COALESCE(?15, note),
       trace = COALESCE(?16, trace)
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
    end.note ?? null,
    end.trace ?? null,
  );
}

/** For crash tests: whether the statement starts a call. */
export function isCallStart({ sql }: Statement): boolean {
  return sql === INSERT_STARTED || sql === START_AGAIN;
}

const TRIES = 3 + Object.keys(NEW_CALL.map).indexOf("tries");

/** For crash tests: whether the statement ends a call that ran. A pure call has no intent, so its end is an INSERT. */
export function isCallEnd({ sql, parameters }: Statement): boolean {
  return sql === FINISH || (sql === INSERT && Number(parameters[TRIES]) > 0);
}
