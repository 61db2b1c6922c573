/** Spends an approval, inside the transaction that begins its call: it works once. */
import { type ApprovalRow, redeemApproval } from "../../store/tables/approvals.ts";
import type { Transaction } from "../../store/store.ts";
import type { Call } from "../call.ts";
import { Contended } from "../policy.ts";

export function* redeemGuard(call: Call, approval: ApprovalRow): Transaction<void> {
  const changes = yield* redeemApproval(approval.id, call.host.clock.now());
  if (changes === 0) throw new Contended();
}
