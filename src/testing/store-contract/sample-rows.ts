/** Complete sample rows; a case sets only the fields that it is about. */
import type { NewApproval } from "../../store/tables/approvals.ts";
import { CALL_END, CALLS, type CallEnd, type CallRow } from "../../store/tables/calls.ts";
import type { Writer } from "../../store/tables/write-calls.ts";
import { ensureScope, type ScopeKey, type ScopeRow } from "../../store/tables/scopes.ts";
import type { Store } from "../../store/store.ts";

export const SCOPE: ScopeKey = { runId: "run-1", nodeId: "main", iteration: 0, path: "0", parentKey: "" };

export async function openScope(store: Store, attempt = 1, key: ScopeKey = SCOPE): Promise<ScopeRow> {
  const { isOfNewRun: _, ...row } = await store.transaction(() => ensureScope(key, attempt, 1_000), "normal");
  return row;
}

export function writerOf(scope: ScopeRow): Writer {
  return { rootScopeId: scope.id, epoch: scope.epoch, attempt: scope.attempt };
}

export function sampleCall(scope: ScopeRow, fields: Partial<CallRow> = {}): CallRow {
  return {
    ...CALLS.defaults,
    scopeId: scope.id,
    attempt: scope.attempt,
    seq: 1,
    key: "key-1",
    toolName: "order",
    unrepeatable: true,
    toolCallId: "id-1",
    status: "started",
    inputJson: '{"sku":"a"}',
    startedAtMs: 1_000,
    ownerId: "owner-1",
    reruns: false,
    ...fields,
  };
}

export function sampleEnd(fields: Partial<CallEnd> = {}): CallEnd {
  return {
    ...CALL_END.defaults,
    status: "success",
    effect: "happened",
    outputJson: '{"id":1}',
    finishedAtMs: 2_000,
    tries: 1,
    keyRead: true,
    ...fields,
  };
}

export function sampleApproval(scope: ScopeRow, fields: Partial<NewApproval> = {}): NewApproval {
  return {
    id: "apr_1",
    kind: "call",
    runId: SCOPE.runId,
    nodeId: SCOPE.nodeId,
    iteration: SCOPE.iteration,
    scopeId: scope.id,
    callKey: "key-1",
    parentKey: "",
    round: 1,
    toolName: "order",
    fingerprint: "print-1",
    argsJson: '{"sku":"a"}',
    argsHash: "hash-1",
    prompt: "May it?",
    defaultsJson: null,
    contractJson: "{}",
    hasClearArgs: false,
    requestedAtMs: 1_000,
    expiresAtMs: null,
    ...fields,
  };
}
