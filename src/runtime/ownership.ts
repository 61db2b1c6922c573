/**
 * This runtime as an owner: a row in the store, a lease that a heartbeat renews, and the check whether another owner is
 * alive. Leases follow the database's clock and, in this process, a monotonic clock; never the injected clock.
 */
import { randomUUID } from "node:crypto";
import { ToolwrightError } from "../errors.ts";
import {
  endOwner,
  hasFutureLeases,
  type Lease,
  LEASE_MS,
  readOwner,
  registerOwner,
  renewLease,
  setLease,
  shortenFutureLeases,
} from "../store/tables/owners.ts";
import type { Store, Transaction } from "../store/store.ts";
import { sharedByCopies } from "../definition/package-copy.ts";
import { identifyProcess, type ProcessIdentity } from "./process-identity.ts";
import { isOwnerLive } from "./owner-liveness.ts";

/** A lease is renewed this many times before it would end. */
const HEARTBEATS_PER_LEASE = 3;
/** A call begins only if this part of the lease is left. */
const ENOUGH = 0.5;

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
  #settings: Lease = { leaseMs: LEASE_MS, isWorker: false };
  #timer: NodeJS.Timeout | undefined;
  #expiry: NodeJS.Timeout | undefined;
  #isBeating = false;
  #lost = new AbortController();
  #generation = 0;
  #isOverdue = false;

  /** @param onBeat called after each heartbeat that reached the store; must not reject */
  constructor(onBeat: () => Promise<void>) {
    this.#onBeat = onBeat;
  }

  async start(store: Store): Promise<void> {
    this.#store = store;
    const lease = this.#leaseFromNow();
    await store.transaction(() => this.#register(), "normal");
    this.#hold(lease);
    runtimes.set(this.ownerId, "working");
    this.#startBeating();
  }

  get identity(): ProcessIdentity {
    return this.#process;
  }

  /**
   * From now on this owner is a worker with this lease: the lease alone decides whether it is alive, and it notices the end
   * of the lease immediately.
   */
  async becomeWorker(leaseMs: number): Promise<void> {
    this.#settings = { leaseMs, isWorker: true };
    const lease = this.#leaseFromNow();
    const changes = await this.#store?.transaction(() => setLease(this.ownerId, this.#settings), "normal");
    if (changes === 0) await this.#registerAgain();
    this.#hold(lease);
    clearInterval(this.#timer);
    this.#startBeating();
  }

  #startBeating(): void {
    const everyMs = this.#settings.leaseMs / HEARTBEATS_PER_LEASE;
    this.#timer = setInterval(() => void this.#beat(), everyMs);
    // A heartbeat alone does not keep a program running.
    this.#timer.unref();
  }

  *#register(): Transaction<void> {
    yield* registerOwner({ id: this.ownerId, ...this.#process }, this.#settings);
  }

  #leaseFromNow(): { monotonicMs: number; wallMs: number } {
    const { leaseMs } = this.#settings;
    return { monotonicMs: performance.now() + leaseMs, wallMs: Date.now() + leaseMs };
  }

  #hold(lease: { monotonicMs: number; wallMs: number }): void {
    this.#lease = lease;
    this.#isOverdue = false;
    if (!this.#settings.isWorker) return;
    clearTimeout(this.#expiry);
    const leftMs = Math.max(lease.monotonicMs - performance.now(), 0) + 1;
    this.#expiry = setTimeout(() => this.leaseGeneration(), leftMs).unref();
  }

  /**
   * Stops the heartbeat. `end` deletes the owner; without it, the lease expires.
   * @param isWorking a tool still runs. Otherwise other runtimes of this process need not wait for this one.
   */
  stop(isWorking: boolean): void {
    clearInterval(this.#timer);
    clearTimeout(this.#expiry);
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
      const lost = this.#lost;
      // Before the abort: a listener that asks for the next signal must not get this one again.
      this.#lost = new AbortController();
      lost.abort(
        new ToolwrightError(
          "TOOL_RUN_FENCED",
          "This process did not renew its lease in time, so another one may have taken over.",
        ),
      );
    }
    return this.#generation;
  }

  /** `undefined` while enough time is left. */
  renew(): Promise<void> | undefined {
    this.leaseGeneration();
    const leftMs = this.#lease.monotonicMs - performance.now();
    return leftMs > ENOUGH * this.#settings.leaseMs && !this.#isOverdue ? undefined : this.#renewNow();
  }

  isHere(ownerId: string): boolean {
    return runtimes.has(ownerId);
  }

  async isAlive(ownerId: string): Promise<boolean> {
    if (ownerId === this.ownerId) return true;
    const owner = await this.#store?.read(() => readOwner(ownerId));
    if (owner === undefined || owner.ended) return false;
    const { host, pid, processStart } = this.#process;
    if (owner.host === host && owner.pid === pid && owner.processStart === processStart) {
      const known = runtimes.get(ownerId);
      if (known === undefined || owner.isWorker) return known !== "ended" && owner.leaseLeftMs > 0;
      return known === "working";
    }
    return isOwnerLive(owner);
  }

  async #beat(): Promise<void> {
    this.leaseGeneration();
    // The last one still waits for the store.
    if (this.#isBeating) return;
    this.#isBeating = true;
    try {
      await this.#renewNow();
      await this.#shortenFutureLeases();
      await this.#onBeat();
    } catch {
      // The next heartbeat tries again. If none succeeds in time, the lease lapses, and the next call detects it.
      this.leaseGeneration();
    } finally {
      this.#isBeating = false;
    }
  }

  async #shortenFutureLeases(): Promise<void> {
    if ((await this.#store?.read(hasFutureLeases)) === true)
      await this.#store?.transaction(shortenFutureLeases, "normal");
  }

  async #renewNow(): Promise<void> {
    const lease = this.#leaseFromNow();
    const changes = await this.#store?.transaction(() => renewLease(this.ownerId), "normal");
    if (changes === 0) await this.#registerAgain();
    // The store may have answered late: the lease may have ended in between.
    this.leaseGeneration();
    this.#hold(lease);
  }

  /** Retention deleted the row, since the process was suspended for a long time: others may have taken over. */
  async #registerAgain(): Promise<void> {
    this.#generation += 1;
    await this.#store?.transaction(() => this.#register(), "normal");
  }
}
