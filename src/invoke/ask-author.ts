/**
 * Functions of a tool's author beside `execute`: `needsApproval`, `approvalPrompt`, `reconcile`, `shouldRetry`. None of them
 * may keep its call from ending: each has as long as a try of the call, and ends with the abort of the call.
 */
import type { ToolContext } from "../definition/context.ts";
import { systemClock } from "../util/clock.ts";
import type { Call } from "./call.ts";
import { withToolContext } from "./tool-context.ts";
import { Try } from "./try.ts";

/** With a context of its own. */
export async function askAuthor<T>(call: Call, ask: (ctx: ToolContext<object>) => Promise<T>): Promise<T> {
  const attempt = new Try(call);
  try {
    return await inTime(call, withToolContext(call, ask, attempt));
  } catch (error) {
    attempt.stop(error);
    throw error;
  } finally {
    attempt.end();
  }
}

/** @throws when the answer does not come in time, or the call is aborted */
export async function inTime<T>(call: Call, answer: T | PromiseLike<T>): Promise<T> {
  const { spec, host, signal } = call;
  const timeoutMs = spec.timeoutMs ?? host.settings.timeoutMs;
  const over = new AbortController();
  const ended = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]);
  const timeout = async (): Promise<never> => {
    // In real time: a clock of a test may stand still, or be over at once.
    await systemClock.sleep(timeoutMs, ended);
    throw new Error(`it timed out after ${timeoutMs} ms`);
  };
  try {
    return await Promise.race([answer, timeout()]);
  } finally {
    over.abort();
  }
}
