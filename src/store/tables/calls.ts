/** Rows of calls: one per key and attempt. */
import { integer, integerOrNull, oneOf, text, textOrNull } from "./columns.ts";
import { all, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";

export const CALL_STATUSES = ["started", "success", "error", "pending", "denied", "unknown"] as const;
export type CallStatus = (typeof CALL_STATUSES)[number];

export interface NewCall {
  readonly scopeId: number;
  readonly seq: number;
  readonly key: string;
  readonly idempotencyKey: string | null;
  readonly toolName: string;
  readonly unrepeatable: boolean;
  readonly toolCallId: string | null;
  readonly status: CallStatus;
  readonly effect: "none" | "happened" | null;
  readonly inputJson: string | null;
  readonly outputJson: string | null;
  readonly errorJson: string | null;
  readonly startedAtMs: number;
  readonly finishedAtMs: number | null;
  readonly replayedFrom: number | null;
  readonly fromCache: boolean;
  readonly approvalId: string | null;
  readonly ownerId: string | null;
  readonly tries: number;
  readonly isolation: string | null;
  readonly waitsFor: string | null;
  readonly lateJson: string | null;
  readonly note: string | null;
  /** Whether an equal call of a later attempt runs again. `null` where it is not known, or does no harm. */
  readonly reruns: boolean | null;
  /** The name that the model called, where it is not the tool's own. */
  readonly modelName: string | null;
}

export interface CallRow extends NewCall {
  readonly attempt: number;
  /** A try that was cut off: `true` while it is at work, `false` once it has settled, `null` where none was. */
  readonly executing: boolean | null;
  readonly keyRead: boolean | null;
}

/** All rows of a key, the latest attempt first. */
export function* callsByKey(scopeId: number, key: string): Transaction<CallRow[]> {
  const rows = yield* all(
    "SELECT * FROM toolwright_calls WHERE scope_id = ?1 AND key = ?2 ORDER BY attempt DESC",
    scopeId,
    key,
  );
  return rows.map(toCallRow);
}

/** The same where nobody knows the scope. It looks at every call: for a person's question, not for a call's way. */
export function* callsAnywhere(key: string): Transaction<CallRow[]> {
  const rows = yield* all("SELECT * FROM toolwright_calls WHERE key = ?1 ORDER BY attempt DESC", key);
  return rows.map(toCallRow);
}

export function* highestSeq(scopeId: number, attempt: number): Transaction<number> {
  const rows = yield* all(
    "SELECT COALESCE(MAX(seq), 0) AS seq FROM toolwright_calls WHERE scope_id = ?1 AND attempt = ?2",
    scopeId,
    attempt,
  );
  const row = rows[0];
  return row === undefined ? 0 : integer(row, "seq");
}

/** Nested calls have numbers of their task, so all its scopes count. */
export function* highestSeqOfTask(
  task: { readonly runId: string; readonly nodeId: string; readonly path: string },
  attempt: number,
): Transaction<number> {
  const rows = yield* all(
    `SELECT COALESCE(MAX(c.seq), 0) AS seq FROM toolwright_scopes s JOIN toolwright_calls c ON c.scope_id = s.id
     WHERE s.run_id = ?1 AND s.node_id = ?2 AND s.path = ?3 AND c.attempt = ?4`,
    task.runId,
    task.nodeId,
    task.path,
    attempt,
  );
  const row = rows[0];
  return row === undefined ? 0 : integer(row, "seq");
}

/** For each id of the model's under which a call waits for a person: the calls under that id, and whether they wait. */
export function* callsByPendingId(scopeId: number): Transaction<Map<string, Map<string, boolean>>> {
  const rows = yield* all(
    `SELECT tool_call_id, key, status FROM toolwright_calls WHERE scope_id = ?1 AND tool_call_id IN
       (SELECT tool_call_id FROM toolwright_calls WHERE scope_id = ?1 AND status = 'pending')`,
    scopeId,
  );
  const byId = new Map<string, Map<string, boolean>>();
  for (const row of rows) {
    const id = text(row, "tool_call_id");
    const calls = byId.get(id) ?? new Map<string, boolean>();
    calls.set(text(row, "key"), row["status"] === "pending");
    byId.set(id, calls);
  }
  return byId;
}

export function toCallRow(row: Row): CallRow {
  const keyRead = integerOrNull(row, "key_read");
  const executing = integerOrNull(row, "executing");
  const reruns = integerOrNull(row, "reruns");
  return {
    scopeId: integer(row, "scope_id"),
    attempt: integer(row, "attempt"),
    seq: integer(row, "seq"),
    key: text(row, "key"),
    idempotencyKey: textOrNull(row, "idempotency_key"),
    toolName: text(row, "tool_name"),
    unrepeatable: integer(row, "unrepeatable") === 1,
    toolCallId: textOrNull(row, "tool_call_id"),
    status: oneOf(row, "status", CALL_STATUSES),
    effect: row["effect"] === null ? null : oneOf(row, "effect", ["none", "happened"]),
    inputJson: textOrNull(row, "input_json"),
    outputJson: textOrNull(row, "output_json"),
    errorJson: textOrNull(row, "error_json"),
    lateJson: textOrNull(row, "late_json"),
    startedAtMs: integer(row, "started_at_ms"),
    finishedAtMs: integerOrNull(row, "finished_at_ms"),
    tries: integer(row, "tries"),
    keyRead: keyRead === null ? null : keyRead === 1,
    executing: executing === null ? null : executing === 1,
    replayedFrom: integerOrNull(row, "replayed_from"),
    fromCache: integer(row, "from_cache") === 1,
    isolation: textOrNull(row, "isolation"),
    approvalId: textOrNull(row, "approval_id"),
    waitsFor: textOrNull(row, "waits_for"),
    note: textOrNull(row, "note"),
    reruns: reruns === null ? null : reruns === 1,
    modelName: textOrNull(row, "model_name"),
    ownerId: textOrNull(row, "owner_id"),
  };
}
