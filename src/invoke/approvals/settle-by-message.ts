/** Takes a decision from the message history: an approval only where the runtime was told to trust it, a denial always. */
import { type ApprovalRow, readApproval, settleApproval } from "../../store/tables/approvals.ts";
import type { Call } from "../call.ts";

/** The request as it stands after that; unchanged where there is nothing to take, or no trust. */
export async function settleByMessage(call: Call, approval: ApprovalRow): Promise<ApprovalRow> {
  const { host, messageDecision } = call;
  if (messageDecision === undefined) return approval;
  if (messageDecision.approved && !host.trustMessageApprovals) return approval;
  if (approval.status !== "pending" || approval.kind !== "call") return approval;
  const now = host.clock.now();
  const settled = await host.store.transaction(function* () {
    yield* settleApproval(approval.id, {
      status: messageDecision.approved ? "approved" : "denied",
      decidedAtMs: now,
      decidedBy: "message history",
      comment: messageDecision.reason ?? null,
      approvedArgsJson: null,
      approvedHash: null,
      outputJson: null,
    });
    return yield* readApproval(approval.id, now);
  }, "normal");
  return settled ?? approval;
}
