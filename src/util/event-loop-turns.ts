/**
 * Keeps code that never waits for I/O from blocking the event loop. A SQLite store answers within the same turn of the
 * event loop, so a program that awaits one result after another would starve timers, signals and heartbeats.
 */

/** How long work may run before timers, signals and I/O get a turn. */
const LONGEST_STRETCH_MS = 5;

export class EventLoopTurns {
  /** When the current turn of the event loop was first seen. */
  #sinceMs: number | undefined;
  #next: Promise<void> | undefined;

  /** A promise to await if this turn has lasted too long, else `undefined`. Waiters continue in order. */
  nextIfDue(): Promise<void> | undefined {
    if (this.#next !== undefined) return this.#next;
    // Real time, not the runtime's clock: this protects the process.
    const nowMs = performance.now();
    if (this.#sinceMs === undefined) {
      this.#sinceMs = nowMs;
      setImmediate(() => {
        this.#sinceMs = undefined;
      }).unref();
      return undefined;
    }
    if (nowMs - this.#sinceMs < LONGEST_STRETCH_MS) return undefined;
    this.#next = new Promise((resolve) => {
      setImmediate(() => {
        this.#next = undefined;
        this.#sinceMs = undefined;
        resolve();
      });
    });
    return this.#next;
  }
}
