/**
 * Retries a failed try if that is safe. An unrepeatable effect is retried only if the error says `effect: "none"`, or if the
 * tool has read its idempotency key.
 */
import { isUnrepeatable, type ToolSpec } from "../../definition/tool-spec.ts";
import type { ToolwrightError } from "../../errors.ts";
import { withTimeLimit } from "../author-functions.ts";
import { type Call, emit } from "../call.ts";
import type { Result } from "../outcome.ts";
import { aborted, type Policy, type Next } from "../policy.ts";
import { LONGEST_WAIT_MS, retryAfterMs } from "../retry-after.ts";
import { refusalOfBreaker } from "./breaker.ts";
import { wallLeft } from "./timeout.ts";

const DEFAULT_BACKOFF_MS = 200;
const DEFAULT_MAX_BACKOFF_MS = 30_000;
const JITTER = 0.25;

export const retry: Policy = (call, next) => {
  const { maxRetries = 0 } = call.spec.retry;
  return maxRetries === 0 ? next(call) : tryAgain(call, maxRetries, next);
};

async function tryAgain(call: Call, maxRetries: number, next: Next): Promise<Result> {
  for (let retries = 0; ; retries += 1) {
    const result = await next(call);
    if (result.kind !== "error") return result;
    call.noEffectSoFar &&= result.error.effect === "none";
    if (retries >= maxRetries || !(await mayRetry(call, result.error, retries + 1))) return result;
    // Another call may have opened the breaker while this one was waiting.
    if ((await refusalOfBreaker(call)) !== undefined) return result;
    const waitMs = waitOf(call, result.error, retries);
    if (waitMs > LONGEST_WAIT_MS || waitMs >= (wallLeft(call) ?? Infinity)) return result;
    // Aborted during the wait: the last error is not the outcome then.
    if (!(await waitBeforeRetry(call, result.error, waitMs))) return aborted(call);
    if ((await refusalOfBreaker(call)) !== undefined) return result;
  }
}

async function mayRetry(call: Call, error: ToolwrightError, attempt: number): Promise<boolean> {
  const { spec } = call;
  if (error.effect === "happened" || error.code === "TOOL_LIMIT_EXCEEDED" || error.code === "TOOL_RUN_FENCED")
    return false;
  if (isUnrepeatable(spec) && error.effect !== "none" && !isKeyed(call)) return false;
  const { shouldRetry } = spec.retry;
  if (shouldRetry === undefined) return true;
  try {
    return await withTimeLimit(call, shouldRetry(originalOf(error), attempt));
  } catch {
    // If the predicate throws, do not retry (fail closed).
    return false;
  }
}

/** The service deduplicates by a key that the tool has read, unless the author says that it does not. */
function isKeyed({ keyRead, spec }: Call): boolean {
  return keyRead && spec.options.acceptsIdempotencyKey !== false;
}

/** The author's predicate receives the error that the tool threw. */
function originalOf(error: ToolwrightError): Error {
  return error.code === "TOOL_EXECUTION_FAILED" && error.cause instanceof Error ? error.cause : error;
}

function waitOf(call: Call, error: ToolwrightError, retries: number): number {
  const now = call.host.clock.now();
  const requested = retryAfterMs(error.cause ?? error, now) ?? retryAfterMs(error.details, now);
  return requested ?? backoffOf(call.spec.retry, retries, Math.random());
}

/** @param random from 0 to 1: the share of the jitter */
export function backoffOf(
  { backoffMs = DEFAULT_BACKOFF_MS, maxBackoffMs = DEFAULT_MAX_BACKOFF_MS }: ToolSpec["retry"],
  retries: number,
  random: number,
): number {
  return Math.min(backoffMs * 2 ** retries * (1 + random * JITTER), maxBackoffMs);
}

/** Returns `false` if the call was aborted. */
async function waitBeforeRetry(call: Call, error: ToolwrightError, waitMs: number): Promise<boolean> {
  emit(call, { type: "call-retried", tries: call.tries, waitMs, errorCode: error.code });
  if (waitMs === 0) return call.signal?.aborted !== true;
  try {
    await call.host.clock.sleep(waitMs, call.signal);
    return true;
  } catch {
    // Only an abort ends the wait early.
    return false;
  }
}
