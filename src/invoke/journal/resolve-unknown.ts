/**
 * An interrupted call: its process died between intent and outcome, or it failed in a way that leaves open whether
 * anything happened. Runs it again where that is safe; otherwise asks the outside world or a person.
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
import { parseOutput } from "../policies/validate.ts";
import { holdsMark } from "../redact.ts";
import { askPerson, openQuestion, runOnAnswer } from "./ask-person.ts";
import { howItEnded, outcomeUnknown } from "./describe-interrupted.ts";
import { reconcile } from "./reconcile.ts";
import { recordHappened } from "./record-happened.ts";
import { knownUnderKey, resultUnderKey } from "./under-business-key.ts";
import { assertSettled, hasSettled, settledAtMs } from "./wait-for-owner.ts";

/** `undefined` means: run it (again), with the same key. */
export async function resolveUnknown(call: Call, row: CallRow): Promise<Result | undefined> {
  const { spec } = call;
  const question = await openQuestion(call);
  // An answer binds every caller, whatever the tool says by now.
  if (question !== undefined && question.status !== "pending") return answered(call, row, question);
  const known = await call.host.store.read(() => knownUnderKey(call, row));
  if (known.succeeded !== undefined || known.answer !== undefined) await closeNow(call, question);
  if (known.succeeded !== undefined) return resultUnderKey(call, known.succeeded);
  if (known.answer !== undefined) return answered(call, row, known.answer);
  if (spec.onUnknown === undefined && !isUnrepeatable(spec)) return runAgain(call, row, "safe", question);
  if (spec.reconcile !== undefined) {
    const found = await reconcile(call, row);
    if (found?.happened === true) return recordHappened(call, row, found.outputJson, question);
    if (found?.happened === false) return closeQuestion(call, question);
  }
  if (question !== undefined) return { kind: "pending", approval: question };
  const way = await wayOf(call, row);
  switch (way) {
    case "run":
      if (await passesKeyOn(call, row)) {
        // The key makes it harmless to run beside a try that was cut off and does not settle soon.
        await hasSettled(call, row, spec.settleMs);
        return runAgain(call, row, "key", undefined);
      }
      await assertSettled(call, row);
      return runAgain(call, row, "tool", undefined);
    case "ask":
      return askPerson(call, row);
    case "tell":
    case "fail":
      return { kind: "error", error: outcomeUnknown(call, row, way) };
  }
}

async function wayOf(call: Call, row: CallRow): Promise<OnUnknown> {
  const { spec } = call;
  // Had it succeeded, it would run again in this attempt: not knowing whether it did changes nothing.
  const runsAnyway = runsInEachAttempt(spec) && row.attempt < call.scope.attempt;
  if (spec.onUnknown === "tell" && !call.isReadByModel) return runsAnyway ? "run" : "ask";
  if (spec.onUnknown !== undefined) return spec.onUnknown;
  if (runsAnyway) return "run";
  // A tool that can ask the service relies on its answer. Without one, only a person can tell.
  if (spec.reconcile !== undefined) return "ask";
  return (await passesKeyOn(call, row)) ? "run" : "ask";
}

/** Whether the service can recognise a repetition by the idempotency key. */
async function passesKeyOn({ spec, host }: Call, row: CallRow): Promise<boolean> {
  if (spec.options.acceptsIdempotencyKey === false) return false;
  return host.store.read(function* () {
    if (yield* hasUnreadKey(spec.name)) return false;
    return spec.takesKey || row.keyRead === true || (yield* hasReadKey(spec.name));
  });
}

async function answered(call: Call, row: CallRow, question: ApprovalRow): Promise<Result | undefined> {
  if (question.status === "denied") return { kind: "denied", approval: question };
  const { outputJson } = question;
  if (outputJson !== null) {
    // A mark stands for a value that was checked before it was redacted.
    const checked = holdsMark(outputJson) ? outputJson : await parseOutput(call, decode(outputJson));
    return recordHappened(call, row, checked, question);
  }
  await assertSettled(call, row);
  // Answered while the try was still at work: what it has done since, the person could not know.
  const settledMs = await settledAtMs(call, row);
  if (settledMs > 0 && settledMs >= (question.decidedAtMs ?? 0)) return askPerson(call, row);
  runOnAnswer(call, question);
  return runAgain(call, row, (await passesKeyOn(call, row)) ? "person-key" : "person", undefined);
}

const REASONS = {
  safe: "it is safe to repeat",
  key: "it passes its idempotency key on",
  tool: "the tool allows it",
  person: "a person decided so",
  "person-key": "a person decided so",
} as const;

const NOTES: Readonly<Record<keyof typeof REASONS, string>> = {
  safe: "",
  key: "It was run again with the same idempotency key.",
  tool: "It was run again.",
  person: "A person decided to run it again, so it may have happened twice.",
  "person-key": "A person decided to run it again; it was run with the same idempotency key.",
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

/** Another call has answered it: nothing is left to decide. */
async function closeNow(call: Call, question: ApprovalRow | undefined): Promise<void> {
  if (question !== undefined) await call.host.store.transaction(() => voidPending(question.id), "normal");
}

/** The call runs without the answer: nothing is left to decide. */
function closeQuestion(call: Call, question: ApprovalRow | undefined): undefined {
  if (question === undefined) return;
  addGuard(call, "question", function* () {
    yield* voidPending(question.id);
  });
}
