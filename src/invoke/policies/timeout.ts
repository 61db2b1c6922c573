/**
 * Ends a try at the tool's timeout, at the run's time limit, or when its run is aborted. A result that the try delivers after
 * that is stored as late and never returned.
 */
import { ToolwrightError } from "../../errors.ts";
import { endExecution, recordLate } from "../../store/tables/write-calls.ts";
import type { Transaction } from "../../store/store.ts";
import { isTimeoutOfLoop, timeoutError } from "../abort-error.ts";
import { type Call, inFlightName, emit } from "../call.ts";
import { releaseIndexes } from "../call-identity.ts";
import { encodeError } from "../error-record.ts";
import { storableOutput } from "../storable.ts";
import type { Result } from "../outcome.ts";
import { aborted, type Policy, type Next } from "../policy.ts";
import { noteUnsettledTry } from "../unsettled-tries.ts";
import { Try } from "../try.ts";
import { onAbort } from "../../util/abort.ts";
import { encode } from "../../util/encode.ts";

export const timeout: Policy = (call, next) => {
  if (call.signal?.aborted === true) return Promise.resolve(aborted(call));
  const currentTry = new Try(call);
  call.currentTry = currentTry;
  const limit = limitOf(call);
  return limit === undefined && call.signal === undefined ? next(call) : race(call, next, currentTry, limit);
};

const NOT_NEEDED = "the try has ended";

interface TimeLimit {
  readonly ms: number;
  readonly result: () => Result;
}

function limitOf(call: Call): TimeLimit | undefined {
  const { timeoutMs } = call.spec;
  const wallLeftMs = wallLeft(call);
  if (wallLeftMs !== undefined && (timeoutMs === undefined || wallLeftMs < timeoutMs)) {
    return { ms: wallLeftMs, result: () => wallClockSpent(call) };
  }
  return timeoutMs === undefined ? undefined : { ms: timeoutMs, result: () => timedOut(call, timeoutMs) };
}

/** The time that the run's limit leaves for this call and all its tries. */
export function wallLeft(call: Call): number | undefined {
  const { wallDeadlineMs, host } = call;
  return wallDeadlineMs === undefined ? undefined : Math.max(0, wallDeadlineMs - host.clock.monotonic());
}

async function race(call: Call, next: Next, currentTry: Try, limit: TimeLimit | undefined): Promise<Result> {
  const { signal, host } = call;
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const timer = limit === undefined ? undefined : new AbortController();
  const startedAtMs = performance.now();
  let isOver = false;
  let isLate = false;
  const end = (settle: () => void): void => {
    if (isOver) return;
    isOver = true;
    stopListening?.();
    // Without a reason, Node would create an error with a stack for each call.
    timer?.abort(NOT_NEEDED);
    settle();
  };
  const interrupt = (result: () => Result): void =>
    end(() => {
      isLate = true;
      resolve(result());
    });
  const abort = (): Result => {
    // The loop continues immediately. Its next equal call is this call, even before this one is stored as in doubt.
    if (isTimeoutOfLoop(call)) releaseIndexes(call, "interrupted");
    return aborted(call, performance.now() - startedAtMs);
  };
  const stopListening = signal && onAbort(signal, () => interrupt(abort));
  if (limit !== undefined) {
    host.clock.sleep(limit.ms, timer?.signal).then(
      () => interrupt(limit.result),
      // The try ended first.
      () => undefined,
    );
  }
  const triesBefore = call.tries;
  const work = next(call);
  work.then(
    (own) => end(() => resolve(own)),
    (error: unknown) => end(() => reject(error)),
  );
  const result = await promise;
  if (isLate) {
    // Set before the signal fires: a try that stops immediately may still have had an effect.
    call.interruptedInExecute = call.tries > triesBefore;
    currentTry.stop(result.kind === "interrupted" || result.kind === "error" ? result.error : undefined);
    watchLate(call, work);
  }
  return result;
}

/**
 * An interrupted try runs until it settles. Its late result still shows whether the effect happened, and until then its call
 * cannot be resolved.
 */
function watchLate(call: Call, work: Promise<Result>): void {
  call.unsettledTries += 1;
  const { host, scope } = call;
  const settled = recordWhenSettled(call, work);
  if (scope.isDetached) return;
  noteUnsettledTry(host.store, call.key, settled);
  host.cutOff.add(settled);
  void settled.finally(() => host.cutOff.delete(settled));
}

async function recordWhenSettled(call: Call, work: Promise<Result>): Promise<void> {
  const result = await work.catch(() => undefined);
  // A decision counts if the try had settled before it, however late the store learns of that.
  const settledAtMs = call.host.clock.now();
  await call.ended.promise;
  call.unsettledTries -= 1;
  if (!call.begun || call.isDeferred || call.scope.isDetached) return;
  const { host, scope } = call;
  const at = { scopeId: scope.id, key: call.key, attempt: scope.attempt };
  const late = result === undefined ? undefined : describeLate(call, result);
  const isLast = call.unsettledTries === 0;
  const write = function* (): Transaction<void> {
    if (late !== undefined) yield* recordLate(at, late);
    if (isLast) yield* endExecution(at, settledAtMs);
  };
  try {
    await host.store.transaction(write, "normal");
    if (late !== undefined) emit(call, { type: "call-late", effect: late.effect });
  } catch {
    host.failedWrites.add(`late ${inFlightName(call.key, scope.attempt)}`, write);
  }
}

function describeLate(
  call: Call,
  result: Result,
): { readonly effect: "none" | "happened" | null; readonly json: string } | undefined {
  if (result.kind === "error") {
    const effect = result.error.effect === "none" && call.noEffectSoFar ? "none" : null;
    return { effect, json: encodeError(result.error, call) };
  }
  if (result.kind !== "success") return undefined;
  try {
    return {
      effect: "happened",
      json: encode(storableOutput(call.spec, call.args, result.output, call.host.store.secret)),
    };
  } catch {
    // The output cannot be stored, but the fact that it happened can.
    return { effect: "happened", json: encode(undefined) };
  }
}

function timedOut(call: Call, timeoutMs: number): Result {
  return { kind: "error", error: timeoutError(call, timeoutMs, true) };
}

export function wallClockSpent(call: Call): Result {
  return {
    kind: "error",
    error: new ToolwrightError(
      "TOOL_LIMIT_EXCEEDED",
      `The run reached its time limit (maxWallClockMs) while "${call.spec.name}" was running.`,
      { details: { tool: call.spec.name, limit: "maxWallClockMs" } },
    ),
  };
}
