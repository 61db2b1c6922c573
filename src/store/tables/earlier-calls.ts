/** Calls of a task's earlier attempts whose effects must not be repeated by mistake. */
import { CALLS } from "./calls.ts";
import { readText } from "./columns.ts";
import { all, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";
import type { RowOf } from "./table.ts";

const EARLIER = CALLS.pick("attempt", "status", "reruns", "inputJson", "outputJson", "errorJson");

export interface EarlierCall extends RowOf<(typeof EARLIER)["map"]> {
  /** The name that the model called. */
  readonly toolName: string;
  /** Made by a tool or a sub-agent: the model itself has not called it. */
  readonly isInner: boolean;
  readonly effect: "happened" | null;
}

const NAMED = CALLS.pick("toolName", "modelName", "effect");
const COLUMNS = `${EARLIER.list("c")}, ${NAMED.list("c")}, s.parent_key`;

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
 * The same among earlier calls of this attempt, in a scope and nested in its calls. Oldest first.
 * @param claimed keys of calls that the resumed loop has made again
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
    claimed.has(readText(row, "key")) || claimed.has(readText(row, "parent_key"));
  const { parentKey } = scope.identity;
  return rows.filter((row) => !isClaimed(row)).map((row) => toEarlierCall(row, parentKey));
}

const OF_TASK = CALLS.pick("toolName", "status", "key");

export interface CallOfTask extends RowOf<(typeof OF_TASK)["map"]> {
  readonly nodeId: string;
}

/** The unrepeatable calls of all tasks of a run. Oldest first. */
export function* listUnrepeatableCalls(runId: string): Transaction<CallOfTask[]> {
  const rows = yield* all(
    `SELECT s.node_id, ${OF_TASK.list("c")}
     FROM toolwright_calls c JOIN toolwright_scopes s ON s.id = c.scope_id
     WHERE s.run_id = ?1 AND ${UNREPEATABLE} ORDER BY c.started_at_ms, c.seq`,
    runId,
  );
  return rows.map((row) => ({
    nodeId: readText(row, "node_id"),
    ...OF_TASK.parse(row),
  }));
}

/** @param parentKey the call that the model runs in, `""` for none */
function toEarlierCall(row: Row, parentKey: string): EarlierCall {
  const { toolName, modelName, effect } = NAMED.parse(row);
  return {
    ...EARLIER.parse(row),
    toolName: modelName ?? toolName,
    isInner: readText(row, "parent_key") !== parentKey,
    effect: effect === "happened" ? "happened" : null,
  };
}
