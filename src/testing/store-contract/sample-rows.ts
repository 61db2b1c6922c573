/** Rows to write, complete and plain; a case names only what it is about. */
import type { NewApproval } from "../../store/tables/approvals.ts";
import type { NewCall } from "../../store/tables/calls.ts";
import type { CallEnd, Writer } from "../../store/tables/write-calls.ts";
import { ensureScope, type ScopeKey, type ScopeRow } from "../../store/tables/scopes.ts";
import type { Store } from "../../store/store.ts";

export const SCOPE: ScopeKey = { runId: "run-1", nodeId: "main", iteration: 0, path: "0", parentKey: "" };

export function openScope(store: Store, attempt = 1, key: ScopeKey = SCOPE): Promise<ScopeRow> {
  return store.transaction(() => ensureScope(key, attempt, 1_000), "normal");
}

export function writerOf(scope: ScopeRow): Writer {
  return { rootScopeId: scope.id, epoch: scope.epoch, attempt: scope.attempt };
}

export function sampleCall(scope: ScopeRow, fields: Partial<NewCall> = {}): NewCall {
  return {
    scopeId: scope.id,
    seq: 1,
    key: "key-1",
    idempotencyKey: null,
    toolName: "order",
    unrepeatable: true,
    toolCallId: "id-1",
    status: "started",
    effect: null,
    inputJson: '{"sku":"a"}',
    outputJson: null,
    errorJson: null,
    startedAtMs: 1_000,
    finishedAtMs: null,
    replayedFrom: null,
    fromCache: false,
    approvalId: null,
    ownerId: "owner-1",
    tries: 0,
    isolation: null,
    waitsFor: null,
    lateJson: null,
    note: null,
    reruns: false,
    modelName: null,
    ...fields,
  };
}

export function sampleEnd(fields: Partial<CallEnd> = {}): CallEnd {
  return {
    status: "success",
    effect: "happened",
    outputJson: '{"id":1}',
    errorJson: null,
    finishedAtMs: 2_000,
    tries: 1,
    keyRead: true,
    isolation: null,
    waitsFor: null,
    note: null,
    executing: null,
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
