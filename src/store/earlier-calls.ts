/** Calls of a task's earlier attempts whose effects must not be repeated by mistake. */
import { integer, oneOf, text, textOrNull } from "./columns.ts";
import { CALL_STATUSES, type CallStatus } from "./calls.ts";
import { all, type Row } from "./statement.ts";
import type { Transaction } from "./store.ts";

export interface EarlierCall {
  readonly attempt: number;
  readonly toolName: string;
  readonly status: CallStatus;
  readonly inputJson: string | null;
  readonly outputJson: string | null;
  readonly errorJson: string | null;
}

const UNREPEATABLE = `c.unrepeatable = 1 AND c.replayed_from IS NULL
       AND (c.effect IS NULL OR c.effect <> 'none') AND c.status IN ('started', 'success', 'error', 'unknown')`;

/** Oldest first. */
export function* listEarlierCalls(
  task: { readonly runId: string; readonly nodeId: string; readonly path: string },
  attempt: number,
): Transaction<EarlierCall[]> {
  const rows = yield* all(
    `SELECT c.attempt, c.seq, c.tool_name, c.input_json, c.output_json, c.error_json, c.status
     FROM toolwright_calls c JOIN toolwright_scopes s ON s.id = c.scope_id
     WHERE s.run_id = ?1 AND s.node_id = ?2 AND s.path = ?3 AND c.attempt < ?4
       AND ${UNREPEATABLE}
     ORDER BY c.attempt, c.seq`,
    task.runId,
    task.nodeId,
    task.path,
    attempt,
  );
  return rows.map(toEarlierCall);
}

/**
 * The same among those that this attempt made before in a scope and in calls of it. Oldest first.
 * @param claimed keys of calls that were made again
 */
export function* listUnclaimedCalls(
  scope: { readonly id: number; readonly attempt: number },
  claimed: ReadonlySet<string>,
): Transaction<EarlierCall[]> {
  const rows = yield* all(
    `SELECT c.attempt, c.seq, c.tool_name, c.input_json, c.output_json, c.error_json, c.status, c.key, s.parent_key
     FROM toolwright_calls c JOIN toolwright_scopes s ON s.id = c.scope_id
     WHERE (s.id = ?1 OR s.parent_key IN (SELECT o.key FROM toolwright_calls o WHERE o.scope_id = ?1))
       AND c.attempt = ?2 AND ${UNREPEATABLE}
     ORDER BY c.seq`,
    scope.id,
    scope.attempt,
  );
  const isClaimed = (row: Row): boolean =>
    claimed.has(text(row, "key")) || claimed.has(text(row, "parent_key"));
  return rows.filter((row) => !isClaimed(row)).map(toEarlierCall);
}

function toEarlierCall(row: Row): EarlierCall {
  return {
    attempt: integer(row, "attempt"),
    toolName: text(row, "tool_name"),
    status: oneOf(row, "status", CALL_STATUSES),
    inputJson: textOrNull(row, "input_json"),
    outputJson: textOrNull(row, "output_json"),
    errorJson: textOrNull(row, "error_json"),
  };
}
