/**
 * Risky calls wait for approval. The request is a row in the store, and only a decision in that row counts. Comes before the
 * cache, so that a cached result never bypasses an approval.
 */
import { ToolwrightError } from "../../errors.ts";
import { type ApprovalRow, approvalOfCall, denialOf } from "../../store/tables/approvals.ts";
import { redeemGuard, requestApproval } from "../approvals/request.ts";
import { settleByMessage } from "../approvals/settle-by-message.ts";
import { runAuthorFunction } from "../author-functions.ts";
import { addGuard, type Call } from "../call.ts";
import { argumentsHash } from "../call-identity.ts";
import { addNote, editNote, isEdited } from "../call-notes.ts";
import type { Result } from "../outcome.ts";
import { aborted, type Policy, refuse, type Next } from "../policy.ts";
import { refusalOfBreaker } from "./breaker.ts";
import { refusalOfLimits } from "./refuse-early.ts";

export const approve: Policy = (call, next) => {
  if (isEdited(call)) addNote(call, editNote(call.inputJson));
  if (call.approvedBefore) return next(call);
  if (call.approval !== undefined) return nextWith(call, call.approval, next);
  return call.spec.needsApproval === undefined ? next(call) : requireApproval(call, next);
};

async function requireApproval(call: Call, next: Next): Promise<Result> {
  const { host, scope, spec } = call;
  const now = host.clock.now();
  // A denial applies to every equal call of the task, even if `needsApproval` would return false now.
  const denial = await host.store.read(() => denialOf(scope.identity, spec.name, argumentsHash(call), now));
  if (denial !== undefined) return { kind: "denied", approval: denial };
  if (!(await needsApproval(call))) return next(call);
  if (call.signal?.aborted === true) return aborted(call);
  // Request no approval for a call that would be refused anyway.
  const refusal = (await refusalOfLimits(call)) ?? (await refusalOfBreaker(call));
  if (refusal !== undefined) return refusal;
  const previous = await host.store.read(() => approvalOfCall(call.key, now));
  const approval = await settleByMessage(call, await requestApproval(call, "call", previous));
  if (approval.status === "denied") return { kind: "denied", approval };
  return approval.status === "approved" ? nextWith(call, approval, next) : { kind: "pending", approval };
}

/** Outside any run there is no store for a request. */
export const approveDetached: Policy = async (call, next) => {
  if (!(await needsApproval(call))) return next(call);
  return refuse(
    new ToolwrightError(
      "TOOL_APPROVAL_REQUIRED",
      `Tool "${call.spec.name}" needs approval, but it was called outside any run.`,
      { details: { tool: call.spec.name }, effect: "none" },
    ),
  );
};

function nextWith(call: Call, approval: ApprovalRow, next: Next): Promise<Result> {
  call.approval = approval;
  call.approvalId = approval.id;
  addGuard(call, "approve", () => redeemGuard(call, approval));
  return next(call);
}

async function needsApproval(call: Call): Promise<boolean> {
  const { needsApproval: rule } = call.spec;
  if (typeof rule !== "function") return rule === true;
  try {
    return await runAuthorFunction(call, async (ctx) => rule(call.input, ctx));
  } catch {
    // If the predicate throws, require approval (fail closed).
    return true;
  }
}
