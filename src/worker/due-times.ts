/** A worker's timed work: starts the runs of schedules, and knows when the next run or schedule is due. */
import { fireSchedules, type Firings, isFiring, readStoreTime } from "../runtime/fire-schedules.ts";
import type { Store } from "../store/store.ts";
import { readNextDue } from "../store/tables/queue.ts";
import { readNextFiring } from "../store/tables/schedules.ts";
import { LONGEST_TIMER_MS } from "../util/clock.ts";

/** How often a busy worker checks for runs and schedules that are due soon. */
const LOOK_MS = 100;

export class DueTimes {
  readonly #store: Store;
  readonly #onSoon: (inMs: number) => void;
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  /** Since when it watches schedules, by the clock of the database. */
  #sinceMs = 0;

  /** @param onSoon is called with the time until the next run or schedule is due */
  constructor(store: Store, onSoon: (inMs: number) => void, onError: (error: unknown) => void) {
    this.#store = store;
    this.#onSoon = onSoon;
    this.#onError = onError;
  }

  async start(): Promise<void> {
    this.#sinceMs = await readStoreTime(this.#store);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  fire(): Promise<Firings> {
    return fireSchedules(this.#store, { sinceMs: this.#sinceMs });
  }

  /** The next run of the same schedule may wait for the end of this one. */
  async fireAfter(runId: string): Promise<void> {
    if (isFiring(runId) && !this.#isStopped) await this.fire().catch(this.#onError);
  }

  /** A run that begins to sleep, and a schedule that is set, may be due before the next sweep. */
  lookSoon(): void {
    if (this.#isStopped) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#look().catch(this.#onError);
    }, LOOK_MS).unref();
  }

  async #look(): Promise<void> {
    const times = await this.#store.read(function* () {
      return [yield* readNextDue(), yield* readNextFiring()];
    });
    const inMs = Math.min(...times.map((ms) => ms ?? Infinity));
    // A run may start in years.
    if (inMs < Infinity && !this.#isStopped) this.#onSoon(Math.min(Math.max(0, inMs), LONGEST_TIMER_MS));
  }
}
