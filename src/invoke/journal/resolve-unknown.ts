/**
 * Resolves an interrupted call: its process died between intent and outcome, or it failed and its effect is in doubt. Runs it
 * again if that is safe. Otherwise it runs `reconcile`, or requests approval.
 */
import type { OnUnknown } from "../../definition/tool-options.ts";
import { isUnrepeatable, runsInEachAttempt } from "../../definition/tool-spec.ts";
import { type ApprovalRow, voidPending } from "../../store/tables/approvals.ts";
import { type CallRow } from "../../store/tables/calls.ts";
import { hasReadKey, hasUnreadKey } from "../../store/tables/key-reads.ts";
import { decode } from "../../util/encode.ts";
import { addGuard, type Call, emit } from "../call.ts";
import { addNote } from "../call-notes.ts";
import type { Result } from "../outcome.ts";
import { decodeContract } from "../approvals/contract.ts";
import { parseOutput } from "../policies/validate.ts";
import { holdsMark } from "../redact.ts";
import { requestReplayApproval, openReplayRequest, runOnResolution } from "./replay-approval.ts";
import { resolveCopied } from "./decide-by-parent.ts";
import { howItEnded, outcomeUnknown } from "./describe-interrupted.ts";
import { reconcile } from "./reconcile.ts";
import { recordHappened } from "./record-happened.ts";
import { findSameBusinessKey, resultOfSameBusinessKey } from "./same-business-key.ts";
import { assertSettled, hasSettled, settledAtMs } from "./wait-for-owner.ts";

/** `undefined`: run it again, with the same key. */
export async function resolveUnknown(call: Call, row: CallRow): Promise<Result | undefined> {
  const { spec } = call;
  // A copy of the parent's call: this run has no way to check its effect.
  if (row.copiedFrom !== null) return resolveCopied(call, row);
  const question = await openReplayRequest(call);
  // A resolution binds every caller, even if the tool's options have changed since.
  if (question !== undefined && question.status !== "pending") return applyResolution(call, row, question);
  const found = await call.host.store.read(() => findSameBusinessKey(call, row));
  if (found.succeeded !== undefined || found.resolved !== undefined) await closeNow(call, question);
  if (found.succeeded !== undefined) return resultOfSameBusinessKey(call, found.succeeded);
  if (found.resolved !== undefined) return applyResolution(call, row, found.resolved);
  if (spec.onUnknown === undefined && !isUnrepeatable(spec)) return runAgain(call, row, "safe", question);
  if (spec.reconcile !== undefined) {
    const reconciled = await reconcile(call, row);
    if (reconciled?.happened === true) return recordHappened(call, row, reconciled.outputJson, question);
    if (reconciled?.happened === false) return closeQuestion(call, question);
  }
  if (question !== undefined) return { kind: "pending", approval: question };
  const way = await chooseOnUnknown(call, row);
  switch (way) {
    case "run":
      if (await passesKeyOn(call, row)) {
        // The service deduplicates by the key, so the call may run alongside an interrupted try that does not settle soon.
        await hasSettled(call, row, spec.settleMs);
        return runAgain(call, row, "key", undefined);
      }
      await assertSettled(call, row);
      return runAgain(call, row, "tool", undefined);
    case "ask":
      return requestReplayApproval(call, row);
    case "tell":
    case "fail":
      return { kind: "error", error: outcomeUnknown(call, row, way) };
  }
}

async function chooseOnUnknown(call: Call, row: CallRow): Promise<OnUnknown> {
  const { spec } = call;
  // After a success it would run again in this attempt, so it also runs if the effect is in doubt.
  const runsAnyway = runsInEachAttempt(spec) && row.attempt < call.scope.attempt;
  if (spec.onUnknown === "tell" && !call.isReadByModel) return runsAnyway ? "run" : "ask";
  if (spec.onUnknown !== undefined) return spec.onUnknown;
  if (runsAnyway) return "run";
  // A tool with `reconcile` relies on its result. Without a result, the call waits for approval.
  if (spec.reconcile !== undefined) return "ask";
  return (await passesKeyOn(call, row)) ? "run" : "ask";
}

/** Whether the service can deduplicate by the idempotency key. */
async function passesKeyOn({ spec, host }: Call, row: CallRow): Promise<boolean> {
  if (spec.options.acceptsIdempotencyKey === false) return false;
  return host.store.read(function* () {
    if (yield* hasUnreadKey(spec.name)) return false;
    return spec.takesKey || row.keyRead === true || (yield* hasReadKey(spec.name));
  });
}

async function applyResolution(call: Call, row: CallRow, question: ApprovalRow): Promise<Result | undefined> {
  if (question.status === "denied") return { kind: "denied", approval: question };
  const { outputJson } = question;
  if (outputJson !== null) {
    // A redaction mark replaces a value that was validated before.
    const checked = holdsMark(outputJson) ? outputJson : await parseOutput(call, decode(outputJson));
    return recordHappened(call, row, checked, question);
  }
  await assertSettled(call, row);
  // The try was still running at the time of the decision, so the approver could not know its effect: request again.
  if (await wasDecidedAtWork(call, row, question)) return requestReplayApproval(call, row);
  runOnResolution(call, question);
  return runAgain(call, row, (await passesKeyOn(call, row)) ? "approver-key" : "approver", undefined);
}

/** A request that was made after the try had settled needs no comparison of times, which two clocks may have written. */
async function wasDecidedAtWork(call: Call, row: CallRow, question: ApprovalRow): Promise<boolean> {
  if (!decodeContract(question.contractJson).isAtWork) return false;
  const settledMs = await settledAtMs(call, row);
  return settledMs > 0 && settledMs >= (question.decidedAtMs ?? 0);
}

const REASONS = {
  safe: "it is safe to repeat",
  key: "it passes its idempotency key on",
  tool: "the tool allows it",
  approver: "the approver decided to run it again",
  "approver-key": "the approver decided to run it again",
} as const;

const NOTES: Readonly<Record<keyof typeof REASONS, string>> = {
  safe: "",
  key: "It was run again with the same idempotency key.",
  tool: "It was run again.",
  approver: "The approver decided to run it again, so it may have happened twice.",
  "approver-key": "The approver decided to run it again; it was run with the same idempotency key.",
};

function runAgain(
  call: Call,
  row: CallRow,
  why: keyof typeof REASONS,
  question: ApprovalRow | undefined,
): undefined {
  emit(call, { type: "call-rerun", reason: REASONS[why] });
  if (isUnrepeatable(call.spec))
    addNote(call, `An earlier try of this call ${howItEnded(row)}. ${NOTES[why]}`.trim());
  return closeQuestion(call, question);
}

/** Another call has resolved it: nothing is left to decide. */
async function closeNow(call: Call, question: ApprovalRow | undefined): Promise<void> {
  if (question !== undefined) await call.host.store.transaction(() => voidPending(question.id), "normal");
}

/** The call runs without a decision: nothing is left to decide. */
function closeQuestion(call: Call, question: ApprovalRow | undefined): undefined {
  if (question === undefined) return;
  addGuard(call, "question", function* () {
    yield* voidPending(question.id);
  });
}
