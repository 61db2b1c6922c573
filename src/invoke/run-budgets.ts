/**
 * The part of a run's budgets that lives in this process: the queue for slots under `maxParallelTools`, and the active time
 * that is not stored yet. Everything that must hold across processes is in the store.
 */
import { addUsage } from "../store/tables/usage.ts";
import type { Call } from "./call.ts";
import type { Host } from "./host.ts";

interface RunState {
  holders: number;
  /** When the current period of activity began, by the monotonic clock. */
  activeSince: number;
  /** Active time of earlier periods that could not be stored. */
  unstoredMs: number;
  /** The run has a time limit: its active time is stored while calls run, so that a kill does not lose it. */
  isTimed: boolean;
  /** Created by the first call that takes a slot. */
  slotHolders: Set<Call> | undefined;
  readonly queue: Waiter[];
}

interface Waiter {
  readonly call: Call;
  readonly max: number;
  resolve(): void;
}

export class RunBudgets {
  readonly #runs = new Map<string, RunState>();
  readonly #monotonic: () => number;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Marks the run as active; time counts from the first holder to the last. */
  enter(runId: string): void {
    const state = this.#runs.get(runId);
    if (state === undefined) {
      this.#runs.set(runId, {
        holders: 1,
        activeSince: this.#monotonic(),
        unstoredMs: 0,
        isTimed: false,
        slotHolders: undefined,
        queue: [],
      });
    } else state.holders += 1;
  }

  leave(runId: string): void {
    const state = this.#runs.get(runId);
    if (state === undefined) return;
    state.holders -= 1;
    if (state.holders === 0) this.#runs.delete(runId);
  }

  /** Active time that is not stored yet. */
  unrecordedMs(runId: string): number {
    const state = this.#runs.get(runId);
    return state === undefined ? 0 : state.unstoredMs + Math.max(0, this.#monotonic() - state.activeSince);
  }

  /** Returns the active time for a write to the store, and restarts it from 0. */
  takeUnrecordedMs(runId: string): number {
    const elapsed = this.unrecordedMs(runId);
    const state = this.#runs.get(runId);
    if (state !== undefined) {
      state.activeSince = this.#monotonic();
      state.unstoredMs = 0;
    }
    return elapsed;
  }

  /** The time from `takeUnrecordedMs` could not be stored. */
  giveBackMs(runId: string, ms: number): void {
    const state = this.#runs.get(runId);
    if (state !== undefined) state.unstoredMs += ms;
  }

  markTimed(runId: string): void {
    const state = this.#runs.get(runId);
    if (state !== undefined) state.isTimed = true;
  }

  /** Active runs that have a time limit. */
  get timedRuns(): readonly string[] {
    return [...this.#runs].filter(([, { isTimed }]) => isTimed).map(([runId]) => runId);
  }

  /** Takes one of `max` slots, unless it must wait or would overtake another call. A call has at most one. */
  tryTakeSlot(call: Call, max: number): boolean {
    const state = this.#runs.get(call.scope.budgetId);
    if (state === undefined || state.slotHolders?.has(call) === true) return true;
    if (slotsTaken(state) >= max || state.queue.length > 0) return false;
    takeSlot(state, call);
    return true;
  }

  /** Waits for one of `max` slots, first come, first served. `leave` leaves the queue. */
  queueForSlot(call: Call, max: number): { readonly taken: Promise<void>; readonly leave: () => void } {
    const state = this.#runs.get(call.scope.budgetId);
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiter: Waiter = { call, max, resolve };
    state?.queue.push(waiter);
    if (state === undefined) resolve();
    else grant(state);
    const leave = (): void => {
      const index = state?.queue.indexOf(waiter) ?? -1;
      if (index < 0 || state === undefined) return;
      state.queue.splice(index, 1);
      grant(state);
    };
    return { taken: promise, leave };
  }

  /** Releases the call's slot, if it has one. */
  freeSlot(call: Call): void {
    const state = this.#runs.get(call.scope.budgetId);
    if (state?.slotHolders?.delete(call) === true) grant(state);
  }

  /** The calls that have slots. */
  slotHolders(runId: string): Iterable<Call> {
    return this.#runs.get(runId)?.slotHolders ?? [];
  }
}

function slotsTaken({ slotHolders }: RunState): number {
  return slotHolders?.size ?? 0;
}

function takeSlot(state: RunState, call: Call): void {
  (state.slotHolders ??= new Set()).add(call);
}

function grant(state: RunState): void {
  for (let next = state.queue[0]; next !== undefined; next = state.queue[0]) {
    if (slotsTaken(state) >= next.max) return;
    state.queue.shift();
    takeSlot(state, next.call);
    next.resolve();
  }
}

/** With every heartbeat: stores the active time of runs with a time limit, so that a kill does not lose it. */
export async function recordActiveTime({ budgets, store }: Host): Promise<void> {
  for (const runId of budgets.timedRuns) {
    const ms = budgets.takeUnrecordedMs(runId);
    try {
      await store.transaction(() => addUsage(runId, "maxWallClockMs", ms), "normal");
    } catch {
      // The next heartbeat, or the end of a call, stores it.
      budgets.giveBackMs(runId, ms);
    }
  }
}
