/**
 * The error with which a call ends when its signal fires, wherever the call is: in its tool, in a queue, or waiting for
 * an equal call. A loop may set a timeout for one call and continue, so the model must not read then that the run was
 * stopped.
 */
import { ToolwrightError, type ToolwrightErrorOptions } from "../errors.ts";
import type { Call } from "./call.ts";

interface AbortedWhere {
  /** The time that the try took, if one was running. */
  readonly elapsedMs?: number;
  /** What the call was doing, for example `while it waited for an equal call`. Default: the reason of the abort. */
  readonly doing?: string;
  readonly effect?: ToolwrightErrorOptions["effect"];
}

export function abortError(call: Call, { elapsedMs, doing, effect }: AbortedWhere = {}): ToolwrightError {
  const reason: unknown = call.signal?.reason;
  const more = { cause: reason, ...(effect === undefined ? {} : { effect }) };
  if (isTimeoutOfLoop(call)) {
    const tool = call.spec.name;
    if (elapsedMs !== undefined) return timeoutError(call, Math.round(elapsedMs), false);
    const message = `Tool "${tool}" timed out${doing === undefined ? ": the loop has a time limit for each call" : ` ${doing}`}.`;
    return new ToolwrightError("TOOL_TIMEOUT", message, { details: { tool }, ...more });
  }
  const why = reason instanceof Error && reason.message !== "" ? reason.message : "the run was aborted";
  return new ToolwrightError(
    "TOOL_ABORTED",
    doing === undefined ? `The call was cancelled: ${why}.` : `The call was cancelled ${doing}.`,
    more,
  );
}

/**
 * Whether the loop has set a timeout for this call, such as the AI SDK's `timeout: { toolMs }` or OpenAI Agents' `timeoutMs`,
 * whose error has no name of its own. It may also end the loop, which must be able to resume: the call stays in doubt, and
 * the next equal call resolves it.
 */
export function isTimeoutOfLoop({ signal, scope, madeBy }: Call): boolean {
  const reason: unknown = signal?.reason;
  const isTimeout =
    reason instanceof Error &&
    (reason.name === "TimeoutError" || reason.constructor.name === "ToolTimeoutError");
  return isTimeout && scope.root.signal?.aborted !== true && madeBy?.isStopped !== true;
}

export function timeoutError(
  { spec }: Pick<Call, "spec">,
  timeoutMs: number,
  retryable: boolean,
): ToolwrightError {
  return new ToolwrightError("TOOL_TIMEOUT", `Tool "${spec.name}" timed out after ${timeoutMs} ms.`, {
    details: { tool: spec.name, timeoutMs },
    retryable,
  });
}
