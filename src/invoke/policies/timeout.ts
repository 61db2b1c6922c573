/**
 * Bounds one try, by the tool's own timeout, by the run's time budget and by the abort of its run. What a try delivers
 * after that is recorded as late and never used.
 */
import { ToolwrightError } from "../../errors.ts";
import { recordLate } from "../../store/write-calls.ts";
import { type Call, tell } from "../call.ts";
import { encodeError } from "../error-record.ts";
import { maskOutput } from "../redact.ts";
import type { Result } from "../outcome.ts";
import { aborted, type Policy } from "../policy.ts";
import { encode, UnencodableError } from "../../util/encode.ts";

export const timeout: Policy = (call, next) => {
  if (call.signal?.aborted === true) return Promise.resolve(aborted(call.signal));
  const stop = new Stop(call);
  call.currentTry = stop;
  const limit = limitOf(call);
  return limit === undefined && call.signal === undefined ? next() : race(call, next, stop, limit);
};

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

/** What the run's time budget leaves this call, with all its tries. */
export function wallLeft(call: Call): number | undefined {
  const { wallDeadlineMs, host } = call;
  return wallDeadlineMs === undefined ? undefined : Math.max(0, wallDeadlineMs - host.clock.now());
}

async function race(
  call: Call,
  next: () => Promise<Result>,
  stop: Stop,
  limit: TimeLimit | undefined,
): Promise<Result> {
  const over = new AbortController();
  const interrupted = Promise.withResolvers<Result>();
  const onAbort = (): void => interrupted.resolve(aborted(call.signal));
  call.signal?.addEventListener("abort", onAbort, { once: true });
  if (limit !== undefined) {
    call.host.clock.sleep(limit.ms, over.signal).then(
      () => interrupted.resolve(limit.result()),
      // The try was faster.
      () => undefined,
    );
  }
  const triesBefore = call.tries;
  const work = next();
  const { result, isLate } = await Promise.race([
    work.then((own) => ({ result: own, isLate: false })),
    interrupted.promise.then((cut) => ({ result: cut, isLate: true })),
  ]);
  over.abort();
  call.signal?.removeEventListener("abort", onAbort);
  if (isLate) {
    // Noted before the try is told: one that heeds its signal at once may still have done something.
    call.cutInside = call.tries > triesBefore;
    stop.abort(result.kind === "cut" || result.kind === "error" ? result.error : undefined);
    void watchLate(call, work);
  }
  return result;
}

/** Tells a try to stop. The signal is made when it is asked for: most tools never do, and it would cost every call. */
class Stop {
  readonly #call: Call;
  #controller: AbortController | undefined;
  #stopped: { reason: unknown } | undefined;

  constructor(call: Call) {
    this.#call = call;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      const fenced = this.#call.host.fencedSignal();
      const onFenced = (): void => controller.abort(fenced.reason);
      fenced.addEventListener("abort", onFenced, { once: true, signal: controller.signal });
      // The runtime outlives the call: it must not keep a listener for it.
      this.#call.cleanups.push(() => fenced.removeEventListener("abort", onFenced));
      if (fenced.aborted) controller.abort(fenced.reason);
      if (this.#stopped !== undefined) controller.abort(this.#stopped.reason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#stopped = { reason };
    this.#controller?.abort(reason);
  }
}

/** What comes after nobody waits any more still tells whether the effect happened. */
async function watchLate(call: Call, work: Promise<Result>): Promise<void> {
  try {
    const result = await work;
    await call.ended.promise;
    const late = describeLate(call, result);
    if (late === undefined || !call.begun) return;
    const at = { scopeId: call.scope.id, key: call.key, attempt: call.scope.attempt };
    await call.host.store.transaction(() => recordLate(at, late), "normal");
    tell(call, { type: "call-late", effect: late.effect });
  } catch {
    // The call is on record as interrupted, which stays true: a late word that is lost loses nothing else.
  }
}

function describeLate(
  call: Call,
  result: Result,
): { readonly effect: "none" | "happened" | null; readonly json: string } | undefined {
  if (result.kind === "error") {
    const effect = result.error.effect === "none" && call.harmless ? "none" : null;
    return { effect, json: encodeError(result.error, call) };
  }
  if (result.kind !== "success") return undefined;
  try {
    return { effect: "happened", json: encode(maskOutput(call.spec, result.output, call.host.store.secret)) };
  } catch (error) {
    if (!(error instanceof UnencodableError)) throw error;
    return { effect: "happened", json: encode(undefined) };
  }
}

function timedOut(call: Call, timeoutMs: number): Result {
  return {
    kind: "error",
    error: new ToolwrightError("TOOL_TIMEOUT", `Tool "${call.spec.name}" took longer than ${timeoutMs} ms.`, {
      details: { tool: call.spec.name, timeoutMs },
      retryable: true,
    }),
  };
}

export function wallClockSpent(call: Call): Result {
  return {
    kind: "error",
    error: new ToolwrightError(
      "TOOL_LIMIT_EXCEEDED",
      `The run's time budget (maxWallClockMs) ended while "${call.spec.name}" was running.`,
      { details: { tool: call.spec.name, limit: "maxWallClockMs" } },
    ),
  };
}
