/**
 * The part of a run's budgets that lives in this process: the queue for places under `maxParallelTools`, and the
 * stretch of wall clock that is not yet on record. Everything that must hold across processes is in the store.
 */

interface RunState {
  holders: number;
  /** When the current stretch of activity began, by the runtime's clock. */
  activeSince: number;
  parallel: number;
  readonly waiting: (() => void)[];
}

export class RunBudgets {
  readonly #runs = new Map<string, RunState>();

  /** Marks the run as active; time counts from the first holder to the last. */
  enter(runId: string, now: number): void {
    const state = this.#runs.get(runId);
    if (state === undefined) {
      this.#runs.set(runId, { holders: 1, activeSince: now, parallel: 0, waiting: [] });
    } else state.holders += 1;
  }

  leave(runId: string): void {
    const state = this.#runs.get(runId);
    if (state === undefined) return;
    state.holders -= 1;
    if (state.holders === 0) this.#runs.delete(runId);
  }

  /** Active time that is not on record yet. */
  unrecordedMs(runId: string, now: number): number {
    const state = this.#runs.get(runId);
    return state === undefined ? 0 : Math.max(0, now - state.activeSince);
  }

  /** Hands out the active time for recording: from here on it counts anew. */
  takeUnrecordedMs(runId: string, now: number): number {
    const elapsed = this.unrecordedMs(runId, now);
    const state = this.#runs.get(runId);
    if (state !== undefined) state.activeSince = now;
    return elapsed;
  }

  /** Waits for one of `max` places, first come, first served. Returns how to give it back. */
  async acquire(runId: string, max: number, signal: AbortSignal | undefined): Promise<() => void> {
    const state = this.#runs.get(runId);
    if (state === undefined) return () => undefined;
    while (state.parallel >= max) await this.#turn(state, signal);
    state.parallel += 1;
    return () => {
      state.parallel -= 1;
      state.waiting.shift()?.();
    };
  }

  #turn(state: RunState, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const wake = (): void => {
        signal?.removeEventListener("abort", cancel);
        resolve();
      };
      const cancel = (): void => {
        const index = state.waiting.indexOf(wake);
        if (index >= 0) state.waiting.splice(index, 1);
        reject(signal?.reason);
      };
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      signal?.addEventListener("abort", cancel, { once: true });
      state.waiting.push(wake);
    });
  }
}
