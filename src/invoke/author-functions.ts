/**
 * Runs the functions of a tool's author other than `execute`: `needsApproval`, `approvalPrompt`, `reconcile`, `shouldRetry`,
 * `cache.keyFn`, and asynchronous schemas. Each has the timeout of one try and stops when the call is aborted, so that none of them can block its call.
 */
import type { ToolContext } from "../definition/context.ts";
import { systemClock } from "../util/clock.ts";
import type { Call } from "./call.ts";
import { withToolContext } from "./tool-context.ts";
import { Try } from "./try.ts";

/** Runs a function with a tool context. */
export async function runAuthorFunction<T>(
  call: Call,
  run: (ctx: ToolContext<object>) => Promise<T>,
): Promise<T> {
  const currentTry = new Try(call);
  try {
    return await withTimeLimit(call, withToolContext(call, run, currentTry));
  } catch (error) {
    currentTry.stop(error);
    throw error;
  } finally {
    currentTry.end();
  }
}

/** @throws on timeout, or when the call is aborted */
export function withTimeLimit<T>(call: Call, result: T | PromiseLike<T>): Promise<T> {
  return untilTimeout(call, result, call.signal);
}

/** For what follows an effect: an abort does not end it, so that the outcome is known. @throws on timeout */
export function withTimeLimitAfterEffect<T>(call: Call, result: T | PromiseLike<T>): Promise<T> {
  return untilTimeout(call, result, undefined);
}

async function untilTimeout<T>(
  { spec, host }: Call,
  result: T | PromiseLike<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const timeoutMs = spec.timeoutMs ?? host.settings.timeoutMs;
  const over = new AbortController();
  const ended = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]);
  const timeout = async (): Promise<never> => {
    // In real time: the clock of a test may stand still or jump.
    await systemClock.sleep(timeoutMs, ended);
    throw new Error(`it timed out after ${timeoutMs} ms`);
  };
  try {
    return await Promise.race([result, timeout()]);
  } finally {
    over.abort();
  }
}
