/** Stores the outcome of a call that did not run: refused, denied, cached, or replayed. */
import { ToolwrightError } from "../../errors.ts";
import { closeCall } from "../../store/tables/write-calls.ts";
import type { Transaction } from "../../store/store.ts";
import { decode, encode } from "../../util/encode.ts";
import { type Call, emit } from "../call.ts";
import { copyError, encodeError } from "../error-record.ts";
import { commitLevel } from "../host.ts";
import type { Result } from "../outcome.ts";
import { replayNote } from "../call-notes.ts";
import { storableOutput } from "../storable.ts";
import { explainRefusal, insertRow, logText, type Settlement, settleRunOf, takeSettlement } from "./rows.ts";

export async function recordWithoutRun(call: Call, answer: Result, isDecided: boolean): Promise<Result> {
  const result = isDecided ? answer : refusedAgain(call, answer);
  if (
    call.mode === "check" ||
    result.kind === "interrupted" ||
    result.kind === "pending" ||
    result.kind === "clear"
  )
    return result;
  if (isDecided && isReplay(result)) {
    emitAnswer(call, result);
    return result;
  }
  // A stale attempt must not write, not even its refusal.
  if (result.kind === "error" && result.error.code === "TOOL_ATTEMPT_STALE") return result;
  if (result.kind === "recorded" && result.attempt !== call.scope.attempt && result.isElsewhere !== true)
    call.note = [replayNote(call, result.attempt), call.note].filter((text) => text !== undefined).join(" ");
  // An interrupted call stays in doubt until it is resolved: a refusal or `outcome_unknown` does not end it.
  if (!(isOpen(call, result) && call.row !== undefined)) {
    await commitAnswer(call, result);
  }
  emitAnswer(call, result);
  return result.kind === "recorded"
    ? { kind: "success", output: decode(result.outputJson), replayed: true }
    : result;
}

/** A call whose earlier try may have had its effect was refused now, by a limit or a breaker: neither proves anything. */
function refusedAgain(call: Call, result: Result): Result {
  if (result.kind !== "error" || !call.mayHaveHappened || result.error.effect !== "none") return result;
  // The earlier note said that the call runs again.
  call.note = NOT_RUN_AGAIN;
  return { ...result, error: copyError(result.error, { effect: undefined }) };
}

const NOT_RUN_AGAIN =
  "An earlier try of this call was interrupted. It is not known whether it had its effect, and it was not run again.";

function isOpen({ mayHaveHappened, row }: Call, result: Result): boolean {
  if (result.kind !== "error" || result.error.effect === "happened") return false;
  if (result.error.code === "TOOL_OUTCOME_UNKNOWN") return true;
  return mayHaveHappened && (row?.status === "unknown" || row?.status === "pending");
}

async function commitAnswer(call: Call, result: Result): Promise<void> {
  const { opensRun } = call.scope;
  const settlement = takeSettlement(call);
  try {
    const work = (): Transaction<void> => writeAnswer(call, result, settlement);
    await call.host.store.transaction(work, commitLevel(call.host, false));
  } catch (error) {
    call.scope.opensRun ??= opensRun;
    throw error;
  }
}

function* writeAnswer(call: Call, result: Result, settlement: Settlement): Transaction<void> {
  if (settlement !== undefined) yield* settleRunOf(call, result, settlement);
  const now = call.host.clock.now();
  const fields = answerFields(call, result);
  const { row } = call;
  if (row === undefined) {
    yield* insertRow(call, { ...fields, startedAtMs: now, finishedAtMs: now });
    return;
  }
  const changes = yield* closeCall(
    row,
    {
      status: fields.status,
      effect: fields.effect,
      outputJson: yield* logText(call, "output", fields.outputJson ?? null),
      errorJson: fields.errorJson ?? null,
      finishedAtMs: now,
      approvalId: fields.approvalId ?? null,
      note: call.note ?? null,
    },
    call.scope.writer,
  );
  if (changes === 0) yield* explainRefusal(call);
}

function answerFields(call: Call, result: Result) {
  switch (result.kind) {
    case "success":
      return {
        status: "success",
        effect: "none",
        outputJson: encode(storableOutput(call.spec, call.args, result.output, call.host.store.secret)),
        fromCache: result.fromCache ?? false,
      } as const;
    case "recorded":
      return {
        status: "success",
        effect: "happened",
        outputJson: result.outputJson,
        replayedFrom: result.attempt,
      } as const;
    case "error":
      return {
        status: result.error.code === "TOOL_OUTCOME_UNKNOWN" ? "unknown" : "error",
        effect: effectOfRefusal(call, result.error),
        errorJson: encodeError(result.error, call),
        lateJson: call.lateJson,
      } as const;
    case "denied":
      return { status: "denied", effect: null, approvalId: result.approval.id } as const;
    default:
      throw new ToolwrightError("TOOL_EXECUTION_FAILED", `a call cannot be recorded as "${result.kind}"`);
  }
}

/** A refusal now proves nothing about an earlier try. */
function effectOfRefusal(call: Call, error: ToolwrightError): "none" | "happened" | null {
  if (error.effect === "happened") return "happened";
  return call.mayHaveHappened || error.code === "TOOL_OUTCOME_UNKNOWN" ? null : "none";
}

function isReplay(result: Result): boolean {
  return "replayed" in result && (result.replayed ?? false);
}

function emitAnswer(call: Call, result: Result): void {
  const status = result.kind === "error" || result.kind === "denied" ? result.kind : "success";
  emit(call, {
    type: "call-finished",
    status,
    replayed: result.kind === "recorded" || isReplay(result),
    fromCache: result.kind === "success" && result.fromCache === true,
    errorCode: result.kind === "error" ? result.error.code : undefined,
  });
}
