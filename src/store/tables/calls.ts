/** Rows of calls: one for each key and attempt. */
import { readInteger, readText } from "./columns.ts";
import { all } from "../statement.ts";
import type { Transaction } from "../store.ts";
import {
  columns,
  flag,
  flagOrNull,
  integer,
  integerOrNull,
  type NewRowOf,
  oneOf,
  oneOfOrNull,
  type RowOf,
  text,
  textOrNull,
  withDefault,
} from "./table.ts";

export const CALL_STATUSES = ["started", "success", "error", "pending", "denied", "unknown"] as const;
export type CallStatus = (typeof CALL_STATUSES)[number];

/** Written when a call starts. */
export const CALL_START = columns({
  scopeId: integer("scope_id"),
  seq: integer("seq"),
  key: text("key"),
  /** `null` where it equals `key`. */
  idempotencyKey: textOrNull("idempotency_key"),
  toolName: text("tool_name"),
  toolCallId: textOrNull("tool_call_id"),
  unrepeatable: flag("unrepeatable"),
  inputJson: textOrNull("input_json"),
  startedAtMs: integer("started_at_ms"),
  approvalId: textOrNull("approval_id"),
  ownerId: textOrNull("owner_id"),
  /** Whether an equal call of a later attempt runs again. `null` where it is unknown, or does no harm. */
  reruns: flagOrNull("reruns"),
  /** The name that the model called, where it differs from the tool's name. */
  modelName: textOrNull("model_name"),
  /** In a fork: the key of the equal call in the first run of the line. */
  originKey: textOrNull("origin_key"),
  /** The span context of the latest try, with telemetry. */
  trace: textOrNull("trace"),
});

/** Written when a call ends, or immediately with a row that needs no intent. */
const CALL_OUTCOME = columns({
  status: oneOf("status", CALL_STATUSES),
  effect: oneOfOrNull("effect", ["none", "happened"]),
  outputJson: textOrNull("output_json"),
  errorJson: textOrNull("error_json"),
  finishedAtMs: integerOrNull("finished_at_ms"),
  tries: withDefault(integer("tries"), 0),
  isolation: textOrNull("isolation"),
  waitsFor: textOrNull("waits_for"),
  note: textOrNull("note"),
});

/** Written by the process that ran the call to its end. */
export const CALL_END = columns({
  ...CALL_OUTCOME.map,
  keyRead: flagOrNull("key_read"),
  /** An interrupted try: `true` while it still executes, `false` once it has settled, `null` where there is none. */
  executing: flagOrNull("executing"),
});

/** A whole row, written by one INSERT. */
export const NEW_CALL = columns({
  ...CALL_START.map,
  ...CALL_OUTCOME.map,
  lateJson: textOrNull("late_json"),
  replayedFrom: integerOrNull("replayed_from"),
  fromCache: withDefault(flag("from_cache"), false),
  /** In a fork: the key of the parent's call whose outcome this is. */
  copiedFrom: textOrNull("copied_from"),
});

export const CALLS = columns({ attempt: integer("attempt"), ...NEW_CALL.map, ...CALL_END.map });

export type CallStart = RowOf<(typeof CALL_START)["map"]>;
export type CallEnd = RowOf<(typeof CALL_END)["map"]>;
export type NewCall = NewRowOf<(typeof NEW_CALL)["map"]>;
export type CallRow = RowOf<(typeof CALLS)["map"]>;

const BY_KEY = `SELECT ${CALLS.list()} FROM toolwright_calls WHERE scope_id = ?1 AND key = ?2 ORDER BY attempt DESC`;
const BY_KEY_LOCKED = `${BY_KEY} {update}`;
const ANYWHERE = `SELECT ${CALLS.list()} FROM toolwright_calls WHERE key = ?1 ORDER BY attempt DESC`;

/** All rows of a key, the latest attempt first. */
export function* callsByKey(scopeId: number, key: string): Transaction<CallRow[]> {
  return (yield* all(BY_KEY, scopeId, key)).map(CALLS.parse);
}

/** The same, locked until the transaction ends: a late result of an interrupted try waits for it. */
export function* lockCallsByKey(scopeId: number, key: string): Transaction<CallRow[]> {
  return (yield* all(BY_KEY_LOCKED, scopeId, key)).map(CALLS.parse);
}

/** All rows of a key in any scope. It scans every call: for queries of users, not for running calls. */
export function* callsAnywhere(key: string): Transaction<CallRow[]> {
  return (yield* all(ANYWHERE, key)).map(CALLS.parse);
}

export function* highestSeq(scopeId: number, attempt: number): Transaction<number> {
  const rows = yield* all(
    "SELECT COALESCE(MAX(seq), 0) AS seq FROM toolwright_calls WHERE scope_id = ?1 AND attempt = ?2",
    scopeId,
    attempt,
  );
  const row = rows[0];
  return row === undefined ? 0 : readInteger(row, "seq");
}

/** Inner calls share the numbers of their task, so all its scopes count. */
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
  return row === undefined ? 0 : readInteger(row, "seq");
}

/** For each tool call id with a pending call: the keys of the calls under that id, and whether each is pending. */
export function* callsByPendingId(scopeId: number): Transaction<Map<string, Map<string, boolean>>> {
  const rows = yield* all(
    `SELECT tool_call_id, key, status FROM toolwright_calls WHERE scope_id = ?1 AND tool_call_id IN
       (SELECT tool_call_id FROM toolwright_calls WHERE scope_id = ?1 AND status = 'pending')`,
    scopeId,
  );
  const byId = new Map<string, Map<string, boolean>>();
  for (const row of rows) {
    const id = readText(row, "tool_call_id");
    const calls = byId.get(id) ?? new Map<string, boolean>();
    calls.set(readText(row, "key"), row["status"] === "pending");
    byId.set(id, calls);
  }
  return byId;
}

/** A call that a fork copied from its parent. */
export interface CopiedCallKey {
  readonly toolName: string;
  readonly key: string;
  readonly originKey: string;
}

/** The copied calls of an attempt that models made, by the ids that the models gave them, in the order in which they were made. */
export function* copiedCallsById(
  scopeId: number,
  attempt: number,
): Transaction<Map<string, CopiedCallKey[]>> {
  const rows = yield* all(
    `SELECT tool_call_id, tool_name, key, origin_key FROM toolwright_calls
     WHERE scope_id = ?1 AND attempt = ?2 AND copied_from IS NOT NULL AND tool_call_id IS NOT NULL AND origin_key IS NOT NULL
     ORDER BY seq`,
    scopeId,
    attempt,
  );
  const byId = new Map<string, CopiedCallKey[]>();
  for (const row of rows) {
    const id = readText(row, "tool_call_id");
    const calls = byId.get(id) ?? [];
    calls.push({
      toolName: readText(row, "tool_name"),
      key: readText(row, "key"),
      originKey: readText(row, "origin_key"),
    });
    byId.set(id, calls);
  }
  return byId;
}
