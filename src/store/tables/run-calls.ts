/** Calls of a run with their full inputs and outputs, for the state of a resumed agent. */
import { CALLS } from "./calls.ts";
import { readText, readTextOrNull } from "./columns.ts";
import type { ScopeKey } from "./scopes.ts";
import { all, first, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";
import type { RowOf } from "./table.ts";

const FOUND = CALLS.pick(
  "key",
  "attempt",
  "toolName",
  "toolCallId",
  "status",
  "inputJson",
  "outputJson",
  "errorJson",
  "startedAtMs",
  "finishedAtMs",
  "fromCache",
  "ownerId",
);

export interface FoundCall extends RowOf<(typeof FOUND)["map"]> {
  /** The full value, where the log may show a preview. Read with the row: the two are deleted together. */
  readonly inputPayload: string | null;
  readonly outputPayload: string | null;
}

const COLUMNS = `${FOUND.list("c")}, i.body AS input_payload, o.body AS output_payload`;

const WITH_PAYLOADS = `toolwright_scopes s JOIN toolwright_calls c ON c.scope_id = s.id
  LEFT JOIN toolwright_payloads i ON i.key = c.key AND i.attempt = c.attempt AND i.part = 'input'
  LEFT JOIN toolwright_payloads o ON o.key = c.key AND o.attempt = c.attempt AND o.part = 'output'`;

/**
 * The latest call, where a model has used an id more than once. Ids belong to one conversation, so calls of this scope come
 * before inner calls and calls of outer scopes.
 */
export function* findCallOfRun(
  runId: string,
  handle: { readonly executionId?: string | undefined; readonly tool_call_id?: string | undefined },
  here: Pick<ScopeKey, "nodeId" | "parentKey">,
): Transaction<FoundCall | undefined> {
  const { executionId, tool_call_id: toolCallId } = handle;
  const row = yield* first(
    `SELECT ${COLUMNS} FROM ${WITH_PAYLOADS}
     WHERE s.run_id = ?1 AND ${executionId === undefined ? "c.tool_call_id = ?2" : "(c.key = ?2 OR c.copied_from = ?2)"}
     ORDER BY CASE WHEN s.node_id = ?3 AND s.parent_key = ?4 THEN 0 ELSE 1 END,
       s.iteration DESC, c.attempt DESC, c.seq DESC LIMIT 1`,
    runId,
    executionId ?? toolCallId ?? "",
    here.nodeId,
    here.parentKey,
  );
  return row === undefined ? undefined : toFoundCall(row);
}

/** The call of the scope that contains this call, or the call itself. @param parentKey of the scope */
export function* callOfScopeAround(
  { runId, parentKey }: Pick<ScopeKey, "runId" | "parentKey">,
  key: string,
): Transaction<string | undefined> {
  for (let inner = key; inner !== "";) {
    const row = yield* first(
      `SELECT s.parent_key FROM toolwright_scopes s JOIN toolwright_calls c ON c.scope_id = s.id
       WHERE s.run_id = ?1 AND c.key = ?2 LIMIT 1`,
      runId,
      inner,
    );
    const parent = row === undefined ? "" : readText(row, "parent_key");
    if (parent === parentKey) return inner;
    inner = parent;
  }
  return undefined;
}

/** The calls of a scope in their order, without inner calls. */
export function* callsOfScope(scope: Omit<ScopeKey, "iteration">): Transaction<FoundCall[]> {
  const rows = yield* all(
    `SELECT ${COLUMNS} FROM ${WITH_PAYLOADS}
     WHERE s.run_id = ?1 AND s.node_id = ?2 AND s.path = ?3 AND s.parent_key = ?4 ORDER BY c.attempt, c.seq`,
    scope.runId,
    scope.nodeId,
    scope.path,
    scope.parentKey,
  );
  return rows.map(toFoundCall);
}

/** The same for all earlier turns of a loop. In one statement: a run may have thousands of turns. */
export function* callsOfEarlierTurns(turn: Omit<ScopeKey, "path">): Transaction<FoundCall[]> {
  const rows = yield* all(
    `SELECT ${COLUMNS} FROM ${WITH_PAYLOADS}
     WHERE s.run_id = ?1 AND s.node_id = ?2 AND s.parent_key = ?3 AND s.iteration < ?4
       AND s.path = CAST(s.iteration AS TEXT) ORDER BY s.iteration, c.attempt, c.seq`,
    turn.runId,
    turn.nodeId,
    turn.parentKey,
    turn.iteration,
  );
  return rows.map(toFoundCall);
}

/** The same for all top-level scopes of a run, without full values that the log truncates. */
export function* topCallsOfRun(runId: string): Transaction<FoundCall[]> {
  const rows = yield* all(
    `SELECT ${FOUND.list("c")} FROM toolwright_scopes s JOIN toolwright_calls c ON c.scope_id = s.id
     WHERE s.run_id = ?1 AND s.parent_key = '' ORDER BY s.iteration, c.attempt, c.seq`,
    runId,
  );
  return rows.map(toFoundCall);
}

function toFoundCall(row: Row): FoundCall {
  return {
    ...FOUND.parse(row),
    inputPayload: readTextOrNull(row, "input_payload"),
    outputPayload: readTextOrNull(row, "output_payload"),
  };
}
