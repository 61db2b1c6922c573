/**
 * Writes that could not be committed: outcomes of calls, and releases of claims and leases. The process is alive, so no other
 * process may take over; this class retries them until the store answers again.
 */
import { setTimeout as pause } from "node:timers/promises";
import { ToolwrightError } from "../errors.ts";
import type { Store, Transaction } from "../store/store.ts";

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/** Names the write that ends a claim of a run. */
export function runClaimName(runId: string, epoch: number): string {
  return `run ${runId} ${epoch}`;
}

export class FailedWrites {
  readonly #store: Store;
  readonly #writes = new Map<string, () => Transaction<unknown>>();
  #settling: Promise<void> | undefined;
  #isWaiting = false;

  constructor(store: Store) {
    this.#store = store;
  }

  has(name: string): boolean {
    return this.#writes.has(name);
  }

  /** @param write must be safe to repeat: the failed commit may have succeeded */
  add(name: string, write: () => Transaction<unknown>): void {
    this.#writes.set(name, write);
    void this.#settleInTime();
  }

  /**
   * Commits a claim, for example of a run or a task. A claim that reported an error may have been committed: this process
   * is alive and does not work on what it has claimed, so the claim is undone as soon as the store answers.
   * @param name has the epoch of the claim. Writes for earlier epochs stay: if this claim fails, they are still needed, and if
   * it succeeds, they change nothing.
   * @param undo must recognize the claim by its owner and epoch
   */
  async claim<T>(
    name: string,
    claim: () => Transaction<T>,
    undo: (error: ToolwrightError) => Transaction<unknown>,
  ): Promise<T> {
    await this.#forget(name);
    try {
      return await this.#store.transaction(claim, "normal");
    } catch (error) {
      if (ToolwrightError.is(error) && error.code === "TOOL_STORE_FAILED") this.add(name, () => undo(error));
      throw error;
    }
  }

  get isEmpty(): boolean {
    return this.#writes.size === 0;
  }

  /** Tries each write once. A write that fails again stays. @param store replaces the runtime's own, if that is closed */
  settle(store: Store = this.#store): Promise<void> {
    if (this.#writes.size === 0) return Promise.resolve();
    this.#settling ??= this.#settleAll(store).finally(() => {
      this.#settling = undefined;
    });
    return this.#settling;
  }

  /** Retries until every write has succeeded, at most this long. */
  async settleWithin(ms: number): Promise<void> {
    const giveUpAtMs = performance.now() + ms;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
      await this.settle();
      if (this.isEmpty || performance.now() + pauseMs > giveUpAtMs) return;
      await pause(pauseMs);
    }
  }

  /**
   * Call it before something begins again under this name: it drops the write for the predecessor, which could not tell
   * the two apart.
   */
  async supersede(name: string): Promise<void> {
    if (this.#writes.has(name)) await this.#forget(name);
  }

  async #forget(name: string): Promise<void> {
    await this.settle();
    while (this.#settling !== undefined) await this.#settling;
    this.#writes.delete(name);
  }

  async #settleAll(store: Store): Promise<void> {
    for (const [name, write] of this.#writes) {
      try {
        await store.transaction(write, "normal");
      } catch {
        // The store still fails. The next heartbeat tries again.
        continue;
      }
      if (this.#writes.get(name) === write) this.#writes.delete(name);
    }
  }

  /** Retries before the next heartbeat, since other processes may wait for these calls. */
  async #settleInTime(): Promise<void> {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    for (let ms = FIRST_PAUSE_MS; this.#writes.size > 0; ms = Math.min(2 * ms, LONGEST_PAUSE_MS)) {
      await pause(ms, undefined, { ref: false });
      await this.settle();
    }
    this.#isWaiting = false;
  }
}
