/** Calls of a task's earlier attempts whose effects must not be repeated by mistake. */
import { integer, integerOrNull, oneOf, text, textOrNull } from "./columns.ts";
import { CALL_STATUSES, type CallStatus } from "./calls.ts";
import { all, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";

export interface EarlierCall {
  readonly attempt: number;
  /** The name that the model called it by. */
  readonly toolName: string;
  /** Whether an equal call of a later attempt runs again. `null`: not known, as in rows of version 0.1. */
  readonly reruns: boolean | null;
  /** Made by a tool or a sub-agent: the model itself has not called it. */
  readonly isInner: boolean;
  readonly effect: "happened" | null;
  readonly status: CallStatus;
  readonly inputJson: string | null;
  readonly outputJson: string | null;
  readonly errorJson: string | null;
}

const COLUMNS = `c.attempt, c.seq, c.tool_name, c.model_name, c.reruns, c.effect, c.input_json, c.output_json, c.error_json,
       c.status, s.parent_key`;

const UNREPEATABLE = `c.unrepeatable = 1 AND c.replayed_from IS NULL
       AND (c.effect IS NULL OR c.effect <> 'none') AND c.status IN ('started', 'success', 'error', 'unknown')`;

/** Oldest first. */
export function* listEarlierCalls(
  task: { readonly runId: string; readonly nodeId: string; readonly path: string },
  attempt: number,
): Transaction<EarlierCall[]> {
  const rows = yield* all(
    `SELECT ${COLUMNS}
     FROM toolwright_calls c JOIN toolwright_scopes s ON s.id = c.scope_id
     WHERE s.run_id = ?1 AND s.node_id = ?2 AND s.path = ?3 AND c.attempt < ?4
       AND ${UNREPEATABLE}
     ORDER BY c.attempt, c.seq`,
    task.runId,
    task.nodeId,
    task.path,
    attempt,
  );
  return rows.map((row) => toEarlierCall(row, ""));
}

/**
 * The same among those that this attempt made before in a scope and in calls of it. Oldest first.
 * @param claimed keys of calls that were made again
 */
export function* listUnclaimedCalls(
  scope: { readonly id: number; readonly attempt: number; readonly identity: { readonly parentKey: string } },
  claimed: ReadonlySet<string>,
): Transaction<EarlierCall[]> {
  const rows = yield* all(
    `SELECT ${COLUMNS}, c.key
     FROM toolwright_calls c JOIN toolwright_scopes s ON s.id = c.scope_id
     WHERE (s.id = ?1 OR s.parent_key IN (SELECT o.key FROM toolwright_calls o WHERE o.scope_id = ?1))
       AND c.attempt = ?2 AND ${UNREPEATABLE}
     ORDER BY c.seq`,
    scope.id,
    scope.attempt,
  );
  const isClaimed = (row: Row): boolean =>
    claimed.has(text(row, "key")) || claimed.has(text(row, "parent_key"));
  const { parentKey } = scope.identity;
  return rows.filter((row) => !isClaimed(row)).map((row) => toEarlierCall(row, parentKey));
}

/** @param parentKey the call that the model works in, `""` for none */
export interface CallOfTask {
  readonly nodeId: string;
  readonly toolName: string;
  readonly status: CallStatus;
  readonly key: string;
}

/** The same of all tasks of a run. Oldest first. */
export function* listUnrepeatableCalls(runId: string): Transaction<CallOfTask[]> {
  const rows = yield* all(
    `SELECT s.node_id, c.tool_name, c.status, c.key
     FROM toolwright_calls c JOIN toolwright_scopes s ON s.id = c.scope_id
     WHERE s.run_id = ?1 AND ${UNREPEATABLE} ORDER BY c.started_at_ms, c.seq`,
    runId,
  );
  return rows.map((row) => ({
    nodeId: text(row, "node_id"),
    toolName: text(row, "tool_name"),
    status: oneOf(row, "status", CALL_STATUSES),
    key: text(row, "key"),
  }));
}

function toEarlierCall(row: Row, parentKey: string): EarlierCall {
  const reruns = integerOrNull(row, "reruns");
  return {
    attempt: integer(row, "attempt"),
    toolName: textOrNull(row, "model_name") ?? text(row, "tool_name"),
    reruns: reruns === null ? null : reruns === 1,
    isInner: text(row, "parent_key") !== parentKey,
    effect: row["effect"] === "happened" ? "happened" : null,
    status: oneOf(row, "status", CALL_STATUSES),
    inputJson: textOrNull(row, "input_json"),
    outputJson: textOrNull(row, "output_json"),
    errorJson: textOrNull(row, "error_json"),
  };
}
