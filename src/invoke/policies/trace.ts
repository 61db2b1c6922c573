/**
 * The span of a call, for runtimes with telemetry; others have neither stage. `trace` sees every exit. `enterSpan` comes right
 * before the intent, so that the row of the call has its span context, and the tool runs in the span.
 */
import { ToolwrightError } from "../../errors.ts";
import type { Call } from "../call.ts";
import { decodeError, encodeError } from "../error-record.ts";
import type { Result } from "../outcome.ts";
import type { Policy } from "../policy.ts";
import { storedOutput } from "../journal/record-outcome.ts";
import type { CallEnd, WorkContent } from "../telemetry.ts";
import { endOfThrown, placeOf } from "../trace-work.ts";

export const trace: Policy = async (call, next) => {
  const { host, spec, scope, toolCallId, mode } = call;
  // A check whether the call would wait is no call.
  if (mode === "check" || host.telemetry === undefined) return next(call);
  const { name: toolName, description } = spec;
  const span = host.telemetry.openCall({ place: placeOf(scope), toolName, description, toolCallId });
  call.span = span;
  try {
    const result = await next(call);
    const errorType = result.kind === "cut" ? result.error.code : undefined;
    span.close({ errorType, content: () => contentOf(call, result), ...stateOf(call) });
    return result;
  } catch (error) {
    span.close({ ...endOfThrown(error), ...stateOf(call) });
    throw error;
  }
};

export const enterSpan: Policy = (call, next) =>
  call.span === undefined ? next(call) : call.span.enter(call.earlier, () => next(call));

function stateOf({ begun, earlier }: Call): CallEnd {
  return { hasBegun: begun, earlier };
}

/** As the log has it, without the keys of the call: a key opens the door of the service that it was sent to. */
function contentOf(call: Call, result: Result): WorkContent {
  const hasFailed = (result.kind === "error" || result.kind === "cut") && ToolwrightError.is(result.error);
  const withoutKeys = (text: string): string =>
    [call.key, call.idempotencyKey].reduce(
      (left, key) => (key === "" ? left : left.replaceAll(key, "[key]")),
      text,
    );
  return {
    input: call.inputJson === null ? undefined : withoutKeys(call.inputJson),
    output: result.kind === "success" && call.executed ? withoutKeys(storedOutput(call)) : undefined,
    errorMessage: hasFailed ? withoutKeys(decodeError(encodeError(result.error, call)).message) : undefined,
  };
}
