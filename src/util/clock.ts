import { onAbort } from "./abort.ts";

/** The runtime's clock. Leases never use it: they follow the database's clock. */
export interface Clock {
  /** The time of day, in milliseconds since 1970. It may be set back or jump ahead. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Milliseconds from an arbitrary start, for durations. It is never set back. Default: the forward steps of `now()`. */
  monotonic?(): number;
}

/** A clock that has a monotonic time. */
export type MeasuringClock = Required<Clock>;

/** Stores hold whole milliseconds; a custom clock may return fractions and may have no monotonic time. */
export function wholeClock(clock: Clock): MeasuringClock {
  return {
    now: () => Math.floor(clock.now()),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    monotonic: clock.monotonic === undefined ? forwardOf(clock) : () => clock.monotonic?.() ?? 0,
  };
}

/** The time that has passed by `now()`. A step back counts as no time. */
function forwardOf(clock: Clock): () => number {
  let passed = 0;
  let last: number | undefined;
  return () => {
    const now = clock.now();
    passed += Math.max(0, now - (last ?? now));
    last = now;
    return passed;
  };
}

/** How far the clocks of two hosts may differ in normal operation. */
export const SKEW_MS = 1_000;

/**
 * How much of `totalMs` is left since `sinceMs`, a stored time. A start in the future means that the clock was set back:
 * then all of `totalMs` is left, and never more.
 */
export function msLeft(sinceMs: number, totalMs: number, nowMs: number): number {
  return Math.min(totalMs, Math.max(0, totalMs - (nowMs - sinceMs)));
}

/** The time in `ms` milliseconds as a stored integer; `null` for one that never comes. */
export function momentAfter(now: number, ms: number): number | null {
  const moment = Math.ceil(now + ms);
  return Number.isSafeInteger(moment) ? moment : null;
}

/** The longest delay of a Node timer; with a longer one it would fire immediately. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: MeasuringClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    let left = ms;
    for (; left > LONGEST_TIMER_MS; left -= LONGEST_TIMER_MS) await sleepOnce(LONGEST_TIMER_MS, signal);
    await sleepOnce(left, signal);
  },
};

function sleepOnce(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason);
      return;
    }
    const timer = setTimeout(() => {
      stopListening?.();
      resolve();
    }, ms);
    const stopListening =
      signal &&
      onAbort(signal, () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
  });
}
