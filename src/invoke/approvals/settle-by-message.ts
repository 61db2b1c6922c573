/** Applies a decision from the message history: a denial always, an approval only with `trustMessageApprovals`. */
import {
  type ApprovalRow,
  denyEqualRequests,
  readApproval,
  settleApproval,
  type StoredDecision,
  waitingUnderId,
} from "../../store/tables/approvals.ts";
import { type CallRow, callsByKey } from "../../store/tables/calls.ts";
import { closeCall } from "../../store/tables/write-calls.ts";
import { type Call, emit } from "../call.ts";
import type { Scope } from "../scope.ts";

/** Returns the request with the decision, or unchanged if there is none or it is not trusted. */
export async function settleByMessage(call: Call, approval: ApprovalRow): Promise<ApprovalRow> {
  const { host, messageDecision } = call;
  if (messageDecision === undefined) return approval;
  if (messageDecision.approved && !host.trustMessageApprovals) return approval;
  if (approval.status !== "pending" || approval.kind !== "call") return approval;
  const now = host.clock.now();
  const settled = await host.store.transaction(function* () {
    yield* settleApproval(approval.id, saidAt(now, messageDecision.approved, messageDecision.reason));
    return yield* readApproval(approval.id, now);
  }, "normal");
  return settled ?? approval;
}

/**
 * For a loop that answers a denied call itself, without calling the tool. The row of the call ends too, in the same
 * transaction: the loop never makes the call again, and its arguments may be redacted, so nothing else could end it.
 */
export async function denyUnderId(
  scope: Scope,
  toolCallId: string,
  reason: string | undefined,
): Promise<void> {
  const { host, identity, writer } = scope;
  const now = host.clock.now();
  await scope.ready;
  const ended = await host.store.transaction(function* () {
    const rows: CallRow[] = [];
    for (const id of yield* waitingUnderId(identity.runId, identity.nodeId, toolCallId)) {
      yield* settleApproval(id, saidAt(now, false, reason));
      const settled = yield* readApproval(id, now);
      if (settled === undefined) continue;
      if (settled.status === "denied") yield* denyEqualRequests(settled);
      const [row] = yield* callsByKey(settled.scopeId, settled.callKey);
      if (row?.status === "pending" && (yield* closeCall(row, deniedEnd(now, id), writer)) > 0)
        rows.push(row);
    }
    return rows;
  }, "full");
  for (const { key, toolName } of ended) {
    scope.root.waiting.delete(key);
    scope.noteAnswered(toolCallId, key);
    emit(
      { host, scope, spec: { name: toolName }, toolCallId, key },
      { type: "call-finished", status: "denied", replayed: false, fromCache: false, errorCode: undefined },
    );
  }
}

function deniedEnd(finishedAtMs: number, approvalId: string) {
  return {
    status: "denied",
    effect: null,
    outputJson: null,
    errorJson: null,
    finishedAtMs,
    approvalId,
  } as const;
}

function saidAt(decidedAtMs: number, approved: boolean, reason: string | undefined): StoredDecision {
  return {
    status: approved ? "approved" : "denied",
    decidedAtMs,
    decidedBy: "message history",
    comment: reason ?? null,
    approvedArgsJson: null,
    approvedHash: null,
    outputJson: null,
  };
}
