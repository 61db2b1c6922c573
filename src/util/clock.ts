/** Time as the runtime sees it. Leases never use it: they follow the database's own clock. */
export interface Clock {
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Stores keep whole milliseconds; a clock of the caller's may tell fractions. */
export function wholeClock(clock: Clock): Clock {
  return { now: () => Math.floor(clock.now()), sleep: (ms, signal) => clock.sleep(ms, signal) };
}

/** The moment after so many milliseconds, as a store can keep it: `null` for one that never comes. */
export function momentAfter(now: number, ms: number): number | null {
  const moment = Math.ceil(now + ms);
  return Number.isSafeInteger(moment) ? moment : null;
}

/** What a timer can wait for at most; asked for more, it would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
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
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
