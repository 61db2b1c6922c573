/** The entry to the pipeline: runs a tool with its arguments in a scope. */
import type { ToolSpec } from "../definition/tool-spec.ts";
import { ToolwrightError } from "../errors.ts";
import type { ApprovalRow } from "../store/tables/approvals.ts";
import { toApproval } from "./approval.ts";
import { Call, type CallOptions, cleanUp } from "./call.ts";
import { identify, releaseIndexes } from "./call-identity.ts";
import { getToolContext } from "../definition/context.ts";
import { keyOutsideRuns } from "./detached.ts";
import { cleanError, copyError, reportedCopy } from "./error-record.ts";
import type { Outcome, Result } from "./outcome.ts";
import { publishResult } from "./publish-result.ts";
import { runDetachedPipeline, runPipeline } from "./pipeline.ts";
import { recordTool } from "./recording/record-tool.ts";
import type { Scope } from "./scope.ts";
import { enterFlight } from "./calls-in-flight.ts";
import { HostValue } from "../util/encode.ts";

/**
 * Resolves with the outcome of the call, whatever it is. Rejects only if the store failed, or with the control flow of the
 * loop that makes the call.
 */
export async function invoke(
  scope: Scope,
  spec: ToolSpec,
  args: unknown,
  options: CallOptions = {},
): Promise<Outcome> {
  const call = new Call(scope, spec, args, "run", options);
  const outcome = toOutcome(call, await run(call));
  publishResult(call, outcome);
  return isOfLoop(call, outcome) ? handOver(call, outcome) : outcome;
}

/** Whether the call would wait for approval. Stores the request, and keeps the call's index. */
export async function checkWhetherPending(
  scope: Scope,
  spec: ToolSpec,
  args: unknown,
  options: CallOptions = {},
): Promise<boolean> {
  const call = new Call(scope, spec, args, "check", options);
  const result = await run(call);
  if (result.kind !== "pending") return false;
  publishResult(call, toOutcome(call, result));
  return true;
}

/** Outside any run: nothing is stored. */
export async function invokeDetached(
  scope: Scope,
  spec: ToolSpec,
  args: unknown,
  options: CallOptions = {},
): Promise<Outcome> {
  const call = new Call(scope, spec, args, "run", options);
  call.idempotencyKey = keyOutsideRuns(call, getToolContext());
  try {
    const outcome = toOutcome(call, await runDetachedPipeline(call));
    return isOfLoop(call, outcome) ? await handOver(call, outcome) : outcome;
  } finally {
    end(call);
  }
}

async function run(call: Call): Promise<Result> {
  const { host, scope } = call;
  const { budgetId } = scope;
  let isInFlight = false;
  let hasEnded = false;
  let isInterrupted = false;
  // Only an enclosing call asks for its open calls.
  if (scope.parent !== undefined) scope.open.add(call);
  try {
    assertMayCall(call);
    await scope.ready;
    identify(call);
    if (host.replay !== undefined) {
      const answer = host.replay.answer(call);
      hasEnded = isEnd(answer);
      return answer;
    }
    if (host.recording === "keep") await recordTool(call);
    const entering = enterFlight(call);
    if (entering !== undefined) await entering;
    isInFlight = true;
    host.budgets.enter(budgetId);
    const result = noteWaiting(call, await runPipeline(call));
    hasEnded = isEnd(result);
    isInterrupted = result.kind === "interrupted" && call.executed;
    if (call.retriesErrors && result.kind === "error") scope.noteTried(call.key);
    return result;
  } catch (error) {
    const result = answerOrFail(call, error);
    // The call was refused before a row was written. It keeps its index, as with any other outcome. A call that only
    // stopped waiting for an equal call has not ended: the next equal call is the same call.
    hasEnded = result.kind === "error" && !STOPPED_WAITING.has(result.error.code);
    return result;
  } finally {
    releaseIndexes(call, call.mode === "run" && hasEnded ? "ended" : isInterrupted ? "interrupted" : "open");
    if (scope.parent !== undefined) scope.open.delete(call);
    if (isInFlight) {
      host.waitGraph.delete(call);
      host.budgets.leave(budgetId);
    }
    end(call);
  }
}

const WITHOUT_OUTCOME: ReadonlySet<Result["kind"]> = new Set([
  "pending",
  "suspended",
  "interrupted",
  "clear",
]);

/** A call that waits or was interrupted has no outcome yet. */
function isEnd(result: Result): boolean {
  return !WITHOUT_OUTCOME.has(result.kind);
}

/** @throws if the enclosing try is over, or the task or the enclosing call could not be stored */
function assertMayCall({ scope, madeBy }: Call): void {
  const { root, parent, ofTry } = scope;
  const failure = root.failure ?? parent?.failure;
  if (failure !== undefined) throw failure;
  // Work that a tool leaves to another run may continue after the tool has returned, but not after it was cut off.
  if (madeBy === undefined || !(ofTry?.isOver === true || madeBy.isStopped)) return;
  const { spec, scope: around } = madeBy.call;
  const { runId } = around.identity;
  throw new ToolwrightError(
    "TOOL_ATTEMPT_STALE",
    `A try of "${spec.name}" in run "${runId}" is over, so it can no longer call tools.`,
    { details: { runId, tool: spec.name }, effect: "none" },
  );
}

/** The driver of the task must know that a call waits, even if a decision arrives before the task has stopped. */
function noteWaiting(call: Call, result: Result): Result {
  const { scope, toolCallId } = call;
  const { waiting } = scope.root;
  if (result.kind === "pending") {
    waiting.add(call.key);
    return result;
  }
  waiting.delete(call.key);
  if (call.mode === "run" && toolCallId !== undefined) scope.noteAnswered(toolCallId, call.key);
  return result;
}

function end(call: Call): void {
  cleanUp(call);
  call.ended.resolve();
}

const STOPPED_WAITING = new Set(["TOOL_ABORTED", "TOOL_TIMEOUT"]);

/** Errors that concern this call alone. After any other error the task stops, since the log may be incomplete. */
const OWN_ENDS = new Set([
  "TOOL_ABORTED",
  "TOOL_TIMEOUT",
  "TOOL_CALL_CYCLE",
  "TOOL_ATTEMPT_STALE",
  "TOOL_INPUT_INVALID",
  "TOOL_INPUT_REDACTED",
]);

function answerOrFail(call: Call, thrown: unknown): Result {
  if (ToolwrightError.is(thrown) && OWN_ENDS.has(thrown.code)) return { kind: "error", error: thrown };
  const error = ToolwrightError.is(thrown) ? thrown : recordFailed(thrown);
  call.scope.fail(error);
  throw error;
}

function recordFailed(cause: unknown): ToolwrightError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ToolwrightError("TOOL_STORE_FAILED", `The call could not be stored: ${reason}.`, {
    cause,
  });
}

/** Whether the tool returned an object of the enclosing loop. */
function isOfLoop(
  { hostLoop }: Call,
  outcome: Outcome,
): outcome is Outcome<HostValue> & { status: "success" } {
  return outcome.status === "success" && hostLoop !== undefined && HostValue.is(outcome.output);
}

/** Rebuilds an object of the enclosing loop. */
async function handOver(
  { hostLoop }: Call,
  outcome: Outcome<HostValue> & { status: "success" },
): Promise<Outcome> {
  return { ...outcome, output: await hostLoop?.unpack(outcome.output) };
}

function toOutcome(call: Call, result: Result): Outcome {
  const key = call.key === "" ? null : call.key;
  switch (result.kind) {
    case "success":
      return {
        status: "success",
        output: result.output,
        key,
        replayed: result.replayed ?? false,
        fromCache: result.fromCache ?? false,
        ...(call.note === undefined ? {} : { note: call.note }),
      };
    case "error":
    case "interrupted":
      return {
        status: "error",
        error: reportedCopy(withNote(cleanError(result.error, call), call.note)),
        key,
        replayed: result.kind === "error" && result.replayed === true,
      };
    case "pending":
      // The enclosing call waits too.
      if (call.scope.parent !== undefined) call.scope.parent.innerPending ??= result.approval;
      return { status: "pending", approval: toApproval(result.approval), key };
    case "suspended":
      throw result.thrown;
    case "denied":
      return {
        status: "denied",
        approval: toApproval(result.approval),
        error: reportedCopy(deniedError(call.spec, result.approval)),
        key,
        replayed: result.replayed ?? false,
      };
    default:
      throw new Error(`a call cannot end as "${result.kind}"`);
  }
}

/** An error has no field for a note, so the note is appended to the hint, which the model reads. */
function withNote(error: ToolwrightError, note: string | undefined): ToolwrightError {
  if (note === undefined) return error;
  const { logged } = error;
  const withIt = (hint: string): string => `${hint} ${note}`.trim();
  return copyError(error, {
    hint: withIt(error.hint),
    logged: logged && { ...logged, hint: withIt(logged.hint) },
  });
}

function deniedError(spec: ToolSpec, approval: ApprovalRow): ToolwrightError {
  const comment = approval.comment === null || approval.comment === "" ? "" : ` Comment: ${approval.comment}`;
  const details = { tool: spec.name, approvalId: approval.id };
  if (approval.kind !== "replay") {
    const message = `The call of "${spec.name}" with these arguments was denied.${comment}`;
    return new ToolwrightError("TOOL_APPROVAL_DENIED", message, { details, effect: "none" });
  }
  return new ToolwrightError(
    "TOOL_APPROVAL_DENIED",
    `A call of "${spec.name}" whose outcome is unknown was given up. It may have happened; it was not run again.${comment}`,
    {
      details: { ...details, resolution: "give-up" },
      hint: "Do not repeat the call. Verify the external state before you do anything that depends on it.",
    },
  );
}
