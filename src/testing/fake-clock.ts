/** A clock that a test advances. Leases ignore it: they use the clock of the database. */
import type { MeasuringClock } from "../util/clock.ts";

export interface PendingSleep {
  /** Its end, by this clock. */
  readonly wakesAtMs: number;
  readonly ms: number;
}

export interface FakeClock extends MeasuringClock {
  /** Advances the time and wakes sleepers in order; resolves after their immediate work is done. */
  advance(ms: number): Promise<void>;
  /** Changes the time of day by `ms`, which may be negative. Sleepers and `monotonic()` are not affected. */
  jump(ms: number): void;
  /** The current sleepers, the next to wake first. */
  readonly pendingSleeps: readonly PendingSleep[];
}

interface Sleeper {
  /** Its end, on the monotonic clock. */
  readonly at: number;
  readonly ms: number;
  wake(): void;
}

/**
 * @param startMs the first `now()`. Default: 2025-01-01.
 * @example
 * const clock = createFakeClock();
 * const runtime = createRuntime({ store: ":memory:", clock });
 * const outcome = runtime.call(slowTool, {}, { runId: "run-1" }); // timeoutMs: 1000
 * await waitUntil(() => clock.pendingSleeps.length > 0);
 * await clock.advance(1000);
 * await outcome; // TOOL_TIMEOUT
 */
export function createFakeClock(startMs = Date.UTC(2025, 0, 1)): FakeClock {
  let offset = startMs;
  let passed = 0;
  let sleepers: Sleeper[] = [];

  const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      const stop = (): void => {
        sleepers = sleepers.filter((other) => other !== sleeper);
        reject(signal?.reason);
      };
      const sleeper: Sleeper = {
        at: passed + Math.max(0, ms),
        ms,
        wake: () => {
          signal?.removeEventListener("abort", stop);
          resolve();
        },
      };
      signal?.addEventListener("abort", stop, { once: true });
      // After sleepers with the same end: they were first.
      const index = sleepers.findIndex((other) => other.at > sleeper.at);
      sleepers.splice(index < 0 ? sleepers.length : index, 0, sleeper);
    });

  const advance = async (ms: number): Promise<void> => {
    const end = passed + ms;
    for (let next = sleepers[0]; next !== undefined && next.at <= end; next = sleepers[0]) {
      passed = next.at;
      sleepers.shift();
      next.wake();
      // A woken sleeper may sleep again, and that sleep may end within this advance.
      await settle();
    }
    passed = end;
    await settle();
  };

  return {
    now: () => offset + passed,
    monotonic: () => passed,
    sleep,
    advance,
    jump: (ms) => {
      offset += ms;
    },
    get pendingSleeps() {
      return sleepers.map(({ at, ms }) => ({ wakesAtMs: offset + at, ms }));
    },
  };
}

/** Lets promises and writes of a SQLite store settle; both need one round of the event loop. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
