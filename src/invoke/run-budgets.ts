/**
 * The part of a run's budgets that lives in this process: the queue for places under `maxParallelTools`, and the
 * stretch of wall clock that is not in the store yet. Everything that must hold across processes is in the store.
 */
import type { Call } from "./call.ts";

interface RunState {
  holders: number;
  /** When the current stretch of activity began, by the monotonic clock. */
  activeSince: number;
  /** Active time from before that which could not be stored. */
  owedMs: number;
  /** The run has a time budget: its active time is stored while calls run, so that a kill does not forget it. */
  isTimed: boolean;
  /** Made by the first call that takes a place. */
  inPlaces: Set<Call> | undefined;
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
        owedMs: 0,
        isTimed: false,
        inPlaces: undefined,
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

  /** Active time that is not in the store yet. */
  unrecordedMs(runId: string): number {
    const state = this.#runs.get(runId);
    return state === undefined ? 0 : state.owedMs + Math.max(0, this.#monotonic() - state.activeSince);
  }

  /** Hands out the active time for storing: from here on it counts from 0. */
  takeUnrecordedMs(runId: string): number {
    const elapsed = this.unrecordedMs(runId);
    const state = this.#runs.get(runId);
    if (state !== undefined) {
      state.activeSince = this.#monotonic();
      state.owedMs = 0;
    }
    return elapsed;
  }

  /** What was handed out was not stored after all. */
  giveBackMs(runId: string, ms: number): void {
    const state = this.#runs.get(runId);
    if (state !== undefined) state.owedMs += ms;
  }

  markTimed(runId: string): void {
    const state = this.#runs.get(runId);
    if (state !== undefined) state.isTimed = true;
  }

  /** Active runs that have a time budget. */
  get timedRuns(): readonly string[] {
    return [...this.#runs].filter(([, { isTimed }]) => isTimed).map(([runId]) => runId);
  }

  /** Takes one of `max` places, unless it would have to wait or to overtake another. A call has at most one. */
  tryTakePlace(call: Call, max: number): boolean {
    const state = this.#runs.get(call.scope.budgetId);
    if (state === undefined || state.inPlaces?.has(call) === true) return true;
    if (placesTaken(state) >= max || state.queue.length > 0) return false;
    takePlace(state, call);
    return true;
  }

  /** Waits for one of `max` places, first come, first served. The second function leaves the queue. */
  queueForPlace(call: Call, max: number): { readonly taken: Promise<void>; readonly leave: () => void } {
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

  /** Gives its place back, if it has one. */
  freePlace(call: Call): void {
    const state = this.#runs.get(call.scope.budgetId);
    if (state?.inPlaces?.delete(call) === true) grant(state);
  }

  /** The calls that have places. */
  inPlaces(runId: string): Iterable<Call> {
    return this.#runs.get(runId)?.inPlaces ?? [];
  }
}

function placesTaken({ inPlaces }: RunState): number {
  return inPlaces?.size ?? 0;
}

function takePlace(state: RunState, call: Call): void {
  (state.inPlaces ??= new Set()).add(call);
}

function grant(state: RunState): void {
  for (let next = state.queue[0]; next !== undefined; next = state.queue[0]) {
    if (placesTaken(state) >= next.max) return;
    state.queue.shift();
    takePlace(state, next.call);
    next.resolve();
  }
}
