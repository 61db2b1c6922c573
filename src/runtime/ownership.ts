/**
 * This runtime as an owner: a row in the store, a lease that a heartbeat renews, and the judgement whether another
 * owner is alive. Leases follow the database's clock and, in here, a monotonic one; never the injected clock.
 */
import { randomUUID } from "node:crypto";
import { ToolwrightError } from "../errors.ts";
import { endOwner, LEASE_MS, readOwner, registerOwner, renewLease } from "../store/owners.ts";
import type { Store } from "../store/store.ts";
import { identifyProcess, isProcessAlive } from "../util/process-identity.ts";

const HEARTBEAT_MS = 10_000;
/** A call begins only with this much of the lease left. */
const ENOUGH_MS = 15_000;

// Runtimes of this very process that are at work: its pid is alive, whatever became of a runtime in it.
const atWork = new Set<string>();

export class Ownership {
  readonly ownerId = randomUUID();
  readonly #process = identifyProcess();
  #store: Store | undefined;
  #deadline = Infinity;
  #timer: NodeJS.Timeout | undefined;
  #lost = new AbortController();

  async start(store: Store): Promise<void> {
    this.#store = store;
    const asked = performance.now();
    await store.transaction(() => registerOwner({ id: this.ownerId, ...this.#process }), "normal");
    this.#deadline = asked + LEASE_MS;
    atWork.add(this.ownerId);
    this.#timer = setInterval(() => void this.#beat(), HEARTBEAT_MS);
    // A heartbeat alone does not keep a program running.
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    atWork.delete(this.ownerId);
    await this.#store?.transaction(() => endOwner(this.ownerId), "normal");
  }

  lostSignal(): AbortSignal {
    return this.#lost.signal;
  }

  isLost(): boolean {
    return performance.now() > this.#deadline;
  }

  /** Nothing to wait for while there is enough time left. */
  renew(): Promise<void> | undefined {
    return this.#deadline - performance.now() > ENOUGH_MS ? undefined : this.#renewNow();
  }

  async isAlive(ownerId: string): Promise<boolean> {
    if (ownerId === this.ownerId) return true;
    const owner = await this.#store?.read(() => readOwner(ownerId));
    if (owner === undefined || owner.ended) return false;
    if (
      owner.host === this.#process.host &&
      owner.pid === this.#process.pid &&
      owner.processStart === this.#process.processStart
    ) {
      return atWork.has(ownerId);
    }
    // On the same host the process itself tells, at once; elsewhere only time does.
    return isProcessAlive(owner) ?? owner.leaseLeftMs > 0;
  }

  async #beat(): Promise<void> {
    if (this.isLost()) this.#lose();
    try {
      await this.#renewNow();
    } catch {
      // The next beat tries again; if none succeeds in time, the lease is lost, and that is said.
      if (this.isLost()) this.#lose();
    }
  }

  async #renewNow(): Promise<void> {
    const asked = performance.now();
    await this.#store?.transaction(() => renewLease(this.ownerId), "normal");
    this.#deadline = asked + LEASE_MS;
  }

  #lose(): void {
    this.#lost.abort(new ToolwrightError("TOOL_RUN_FENCED", "This process did not renew its lease in time."));
    this.#lost = new AbortController();
  }
}
