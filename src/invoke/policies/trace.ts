/**
 * The span of a call, for runtimes with telemetry; others have neither stage. `trace` sees every exit. `enterSpan` comes right
 * before the intent, so that the row of the call has its span context, and the tool runs in the span.
 */
import { ToolwrightError } from "../../errors.ts";
import { type Call, callsAround } from "../call.ts";
import { decodeError, encodeError } from "../error-record.ts";
import type { Result } from "../outcome.ts";
import type { Policy } from "../policy.ts";
import { storedOutput } from "../journal/record-outcome.ts";
import type { CallEnd, WorkContent } from "../telemetry.ts";
import { endOfThrown, placeOf } from "../trace-work.ts";

export const trace: Policy = async (call, next) => {
  const { host, spec, scope, toolCallId, mode } = call;
  // A check whether the call would wait is not a call.
  if (mode === "check" || host.telemetry === undefined) return next(call);
  const { name: toolName, description } = spec;
  const span = host.telemetry.openCall({ place: placeOf(scope), toolName, description, toolCallId });
  call.span = span;
  try {
    const result = await next(call);
    noteKeys(call);
    const errorType = result.kind === "interrupted" ? result.error.code : undefined;
    span.close({ errorType, content: () => contentOf(call, result), ...stateOf(call) });
    return result;
  } catch (error) {
    span.close({ ...endOfThrown(error), ...stateOf(call) });
    throw error;
  }
};

export const enterSpan: Policy = (call, next) => {
  if (call.span === undefined) return next(call);
  // The tool may pass its key to the call around it before it ends.
  noteKeys(call);
  return call.span.enter(call.earlier, () => next(call));
};

/** The output of an enclosing call may contain its keys, even if it is replayed. */
function noteKeys(call: Call): void {
  for (const outer of callsAround(call)) {
    outer.keysInside ??= new Set();
    for (const key of keysOf(call)) outer.keysInside.add(key);
  }
}

function keysOf({ key, idempotencyKey, recordedKey }: Call): string[] {
  return [key, idempotencyKey, recordedKey ?? ""].filter((text) => text !== "");
}

function stateOf({ begun, earlier }: Call): CallEnd {
  return { hasBegun: begun, earlier };
}

/**
 * As in the log, without the keys of the call and its inner calls: the service would accept a request from anyone who has
 * the key.
 */
function contentOf(call: Call, result: Result): WorkContent {
  const hasFailed =
    (result.kind === "error" || result.kind === "interrupted") && ToolwrightError.is(result.error);
  const withoutKeys = (text: string): string =>
    [...keysOf(call), ...(call.keysInside ?? [])].reduce((left, key) => left.replaceAll(key, "[key]"), text);
  return {
    input: call.inputJson === null ? undefined : withoutKeys(call.inputJson),
    output: result.kind === "success" && call.executed ? withoutKeys(storedOutput(call)) : undefined,
    errorMessage: hasFailed ? withoutKeys(decodeError(encodeError(result.error, call)).message) : undefined,
  };
}
