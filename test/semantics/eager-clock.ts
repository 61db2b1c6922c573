/** A clock whose sleepers never wait: it records each requested duration and advances by it. */
import type { Clock } from "toolwright";

export interface EagerClock extends Clock {
  readonly sleeps: readonly number[];
}

export function createEagerClock(start = 1_000_000): EagerClock {
  let now = start;
  const sleeps: number[] = [];
  return {
    sleeps,
    now: () => now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      sleeps.push(ms);
      now += ms;
    },
  };
}
