/** The approval request about an interrupted call (`kind: "replay"`): it happened, run it again, or give up. */
import { type ApprovalRow, approvalOfCall } from "../../store/tables/approvals.ts";
import { type CallRow, lockCallsByKey } from "../../store/tables/calls.ts";
import type { Transaction } from "../../store/store.ts";
import { redeemGuard, requestApproval } from "../approvals/request.ts";
import { addGuard, type Call } from "../call.ts";
import type { Result } from "../outcome.ts";
import { Contended } from "../policy.ts";
import { refusalOfLimits } from "../policies/refuse-early.ts";
import { prepareInput } from "../policies/validate.ts";
import { questionAbout } from "./describe-interrupted.ts";
import { lateSuccessIn } from "./late-result.ts";
import { isAtWork } from "./wait-for-owner.ts";

/** The latest replay request of this call, if it is pending or its resolution is not used yet. */
export async function openReplayRequest(call: Call): Promise<ApprovalRow | undefined> {
  const latest = await latestRequest(call);
  if (latest?.kind !== "replay" || latest.redeemedAtMs !== null) return undefined;
  return latest.status === "expired" || latest.status === "void" ? undefined : latest;
}

export async function requestReplayApproval(call: Call, row: CallRow): Promise<Result> {
  await prepareInput(call);
  const previous = await latestRequest(call);
  const refusal = await refusalOfLimits(call);
  const question = {
    prompt: questionAbout(call, row, refusal),
    guard: () => inDoubt(row),
    isAtWork: await isAtWork(call, row),
  };
  const approval = await requestApproval(call, "replay", previous, question);
  return { kind: "pending", approval };
}

/**
 * The interrupted try may have succeeded since the row was read: then no decision is needed. If it succeeds later, it closes
 * the request, so the rows stay locked until the request is stored.
 * @throws Contended
 */
function* inDoubt(row: CallRow): Transaction<void> {
  const rows = yield* lockCallsByKey(row.scopeId, row.key);
  const current = rows.find(({ attempt }) => attempt === row.attempt);
  const isSame = current === undefined || current.effect === row.effect;
  if (!isSame || lateSuccessIn(rows, row) !== undefined) throw new Contended();
}

/** The call runs on this resolution, which counts once. */
export function runOnResolution(call: Call, approval: ApprovalRow): void {
  call.approvedBefore = true;
  // An approval that it ran on before stays: it shows with which arguments.
  call.approvalId ??= approval.id;
  addGuard(call, "replay", () => redeemGuard(call, approval));
}

function latestRequest(call: Call): Promise<ApprovalRow | undefined> {
  return call.host.store.read(() => approvalOfCall(call.key, call.host.clock.now()));
}
