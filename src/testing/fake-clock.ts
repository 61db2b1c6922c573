/** A clock that stands still until a test moves it. Leases do not follow it: they use the database's own clock. */
import type { MeasuringClock } from "../util/clock.ts";

export interface PendingSleep {
  /** When it ends, by this clock. */
  readonly wakesAtMs: number;
  readonly ms: number;
}

export interface FakeClock extends MeasuringClock {
  /** Moves time on and wakes the sleepers on the way, in order; what they do at once is done when it resolves. */
  advance(ms: number): Promise<void>;
  /** Sets the time of day ahead, or back where `ms` is negative. No time passes: sleepers and `monotonic()` do not notice. */
  jump(ms: number): void;
  /** Who sleeps now, the next to wake first. */
  readonly pendingSleeps: readonly PendingSleep[];
}

interface Sleeper {
  /** When it ends, in the time that has passed. */
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
      // Behind those that wake at the same moment: they came first.
      const index = sleepers.findIndex((other) => other.at > sleeper.at);
      sleepers.splice(index < 0 ? sleepers.length : index, 0, sleeper);
    });

  const advance = async (ms: number): Promise<void> => {
    const end = passed + ms;
    for (let next = sleepers[0]; next !== undefined && next.at <= end; next = sleepers[0]) {
      passed = next.at;
      sleepers.shift();
      next.wake();
      // Whoever woke may sleep again, and that sleep may end on the way too.
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

/** Lets promises and the writes of a SQLite store, which take their turn within one round of events, come to an end. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
