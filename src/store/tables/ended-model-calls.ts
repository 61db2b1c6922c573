/** Calls that models made and that have a result, or wait for a decision: for readers that start after it was published. */
import { all, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { DELETED_RESPONSE } from "./responses.ts";
import { readInteger, readOneOf, readText, readTextOrNull } from "./columns.ts";

export interface EndedModelCall {
  readonly scopeId: number;
  readonly attempt: number;
  readonly nodeId: string;
  readonly iteration: number;
  readonly parentKey: string;
  readonly toolCallId: string;
  /** The name that the model called. */
  readonly toolName: string;
  readonly status: "success" | "error" | "denied" | "pending";
  readonly outputJson: string | null;
  readonly errorJson: string | null;
  /** The request that a pending call waits for. */
  readonly request: { readonly id: string; readonly argsHash: string } | undefined;
}

// Only where responses are stored: without the call, its result has no place.
const ENDED = `SELECT c.scope_id, c.attempt, c.tool_call_id, COALESCE(c.model_name, c.tool_name) AS shown_name, c.status,
  COALESCE(p.body, c.output_json) AS whole_json, c.error_json, s.node_id, s.iteration, s.parent_key,
  a.id AS request_id, a.args_hash AS request_hash
FROM toolwright_scopes s
JOIN toolwright_calls c ON c.scope_id = s.id AND c.tool_call_id IS NOT NULL
LEFT JOIN toolwright_payloads p ON p.key = c.key AND p.attempt = c.attempt AND p.part = 'output'
LEFT JOIN toolwright_approvals a ON a.id = COALESCE(c.waits_for, c.approval_id) AND a.status = 'pending'
WHERE s.run_id = ?1 AND c.status IN ('success', 'error', 'denied', 'pending')
  AND EXISTS (SELECT 1 FROM toolwright_responses r WHERE r.scope_id = s.id AND r.attempt = c.attempt
    AND r.response_json <> '${DELETED_RESPONSE}')
ORDER BY c.attempt, c.seq`;

/** In the order in which they were made. */
export function* endedModelCalls(runId: string): Transaction<EndedModelCall[]> {
  return (yield* all(ENDED, runId)).map(toEndedModelCall);
}

function toEndedModelCall(row: Row): EndedModelCall {
  const id = readTextOrNull(row, "request_id");
  return {
    scopeId: readInteger(row, "scope_id"),
    attempt: readInteger(row, "attempt"),
    nodeId: readText(row, "node_id"),
    iteration: readInteger(row, "iteration"),
    parentKey: readTextOrNull(row, "parent_key") ?? "",
    toolCallId: readText(row, "tool_call_id"),
    toolName: readText(row, "shown_name"),
    status: readOneOf(row, "status", ["success", "error", "denied", "pending"]),
    outputJson: readTextOrNull(row, "whole_json"),
    errorJson: readTextOrNull(row, "error_json"),
    request: id === null ? undefined : { id, argsHash: readText(row, "request_hash") },
  };
}
