/**
 * This runtime as an owner: a row in the store, a lease that a heartbeat renews, and the check whether another owner is
 * alive. Leases follow the database's clock and, in this process, a monotonic clock; never the injected clock.
 */
import { randomUUID } from "node:crypto";
import { ToolwrightError } from "../errors.ts";
import { endOwner, LEASE_MS, readOwner, registerOwner, renewLease } from "../store/tables/owners.ts";
import type { Store } from "../store/store.ts";
import { sharedByCopies } from "../definition/package-copy.ts";
import { identifyProcess, isProcessAlive } from "./process-identity.ts";

const HEARTBEAT_MS = 10_000;
/** A call begins only if this much of the lease is left. */
const ENOUGH_MS = 15_000;

/**
 * The runtimes of this thread, in all copies of the package. A runtime of another thread is not among them: its lease shows
 * whether it is alive, as for another host.
 */
const runtimes = sharedByCopies("runtimes", () => new Map<string, "working" | "ended">());

export class Ownership {
  readonly ownerId = randomUUID();
  readonly #process = identifyProcess();
  readonly #onBeat: () => Promise<void>;
  #store: Store | undefined;
  /** When the lease ends, by both clocks: the monotonic one stops while the machine sleeps, and the other may be set. */
  #lease = { monotonicMs: Infinity, wallMs: Infinity };
  #timer: NodeJS.Timeout | undefined;
  #lost = new AbortController();
  #generation = 0;
  #isOverdue = false;

  /** @param onBeat called after each heartbeat that reached the store; must not reject */
  constructor(onBeat: () => Promise<void>) {
    this.#onBeat = onBeat;
  }

  async start(store: Store): Promise<void> {
    this.#store = store;
    const lease = leaseFromNow();
    await store.transaction(() => registerOwner({ id: this.ownerId, ...this.#process }), "normal");
    this.#lease = lease;
    runtimes.set(this.ownerId, "working");
    this.#timer = setInterval(() => void this.#beat(), HEARTBEAT_MS);
    // A heartbeat alone does not keep a program running.
    this.#timer.unref();
  }

  /**
   * Stops the heartbeat. `end` deletes the owner; without it, the lease expires.
   * @param isWorking a tool still runs. Otherwise other runtimes of this process need not wait for this one.
   */
  stop(isWorking: boolean): void {
    clearInterval(this.#timer);
    if (!isWorking) runtimes.set(this.ownerId, "ended");
  }

  /** @throws where the store fails */
  async end(store: Store | undefined = this.#store): Promise<void> {
    runtimes.set(this.ownerId, "ended");
    await store?.transaction(() => endOwner(this.ownerId), "normal");
  }

  lostSignal(): AbortSignal {
    return this.#lost.signal;
  }

  leaseGeneration(): number {
    const isOver = performance.now() > this.#lease.monotonicMs || Date.now() > this.#lease.wallMs;
    if (isOver && !this.#isOverdue) {
      this.#isOverdue = true;
      this.#generation += 1;
      this.#lost.abort(
        new ToolwrightError(
          "TOOL_RUN_FENCED",
          "This process did not renew its lease in time, so another one may have taken over.",
        ),
      );
      this.#lost = new AbortController();
    }
    return this.#generation;
  }

  /** `undefined` while enough time is left. */
  renew(): Promise<void> | undefined {
    this.leaseGeneration();
    const leftMs = this.#lease.monotonicMs - performance.now();
    return leftMs > ENOUGH_MS && !this.#isOverdue ? undefined : this.#renewNow();
  }

  async isAlive(ownerId: string): Promise<boolean> {
    if (ownerId === this.ownerId) return true;
    const owner = await this.#store?.read(() => readOwner(ownerId));
    if (owner === undefined || owner.ended) return false;
    const { host, pid, processStart } = this.#process;
    if (owner.host === host && owner.pid === pid && owner.processStart === processStart) {
      const known = runtimes.get(ownerId);
      return known === undefined ? owner.leaseLeftMs > 0 : known === "working";
    }
    // On the same host the process table answers at once; for other hosts only the lease does.
    return isProcessAlive(owner) ?? owner.leaseLeftMs > 0;
  }

  async #beat(): Promise<void> {
    this.leaseGeneration();
    try {
      await this.#renewNow();
      await this.#onBeat();
    } catch {
      // The next heartbeat tries again. If none succeeds in time, the lease lapses, and the next call detects it.
      this.leaseGeneration();
    }
  }

  async #renewNow(): Promise<void> {
    const lease = leaseFromNow();
    const changes = await this.#store?.transaction(() => renewLease(this.ownerId), "normal");
    if (changes === 0) await this.#registerAgain();
    this.#lease = lease;
    this.#isOverdue = false;
  }

  /** Retention deleted the row, since the process was suspended for long: others may have taken over since. */
  async #registerAgain(): Promise<void> {
    this.#generation += 1;
    await this.#store?.transaction(() => registerOwner({ id: this.ownerId, ...this.#process }), "normal");
  }
}

function leaseFromNow(): { monotonicMs: number; wallMs: number } {
  return { monotonicMs: performance.now() + LEASE_MS, wallMs: Date.now() + LEASE_MS };
}
