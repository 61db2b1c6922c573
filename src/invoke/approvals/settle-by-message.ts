/** Applies a decision from the message history: a denial always, an approval only with `trustMessageApprovals`. */
import {
  type ApprovalRow,
  denyEqualRequests,
  pendingUnderId,
  readApproval,
  settleApproval,
  type StoredDecision,
} from "../../store/tables/approvals.ts";
import type { Call } from "../call.ts";
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
 * For a loop that answers what was denied by itself, without calling the tool.
 * @returns whether there was something to decide
 */
export async function denyUnderId(
  scope: Scope,
  toolCallId: string,
  reason: string | undefined,
): Promise<boolean> {
  const { host, identity } = scope;
  const now = host.clock.now();
  await scope.ready;
  return host.store.transaction(function* () {
    const ids = yield* pendingUnderId(identity.runId, identity.nodeId, toolCallId);
    for (const id of ids) {
      yield* settleApproval(id, saidAt(now, false, reason));
      const settled = yield* readApproval(id, now);
      if (settled?.status === "denied") yield* denyEqualRequests(settled);
    }
    return ids.length > 0;
  }, "full");
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
