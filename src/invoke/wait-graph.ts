/**
 * The calls of this runtime that are in flight, and which of them wait for which. A call holds resources while it runs (a
 * slot, a budget, a place, a shared result, a business key), and calls inside it wait for resources of other calls. If waits would
 * form a cycle, one of them gives way, so that there is no deadlock.
 */
import { type Call, callsAround } from "./call.ts";

/** In the order in which they give way, the cheapest first. `call` never does: that would repeat an effect. */
const KINDS = ["result", "slot", "budget", "place", "call"] as const;

export interface Wait {
  readonly kind: (typeof KINDS)[number];
  readonly waiter: Call;
  /** The calls of this runtime that hold the resource. */
  holders(): Iterable<Call>;
  /** Lets the waiter continue without the resource. */
  readonly giveWay?: () => void;
}

export class WaitGraph {
  readonly #byKey = new Map<string, readonly Call[]>();
  readonly #waits = new Set<Wait>();

  add(call: Call): void {
    const others = this.#byKey.get(call.key);
    this.#byKey.set(call.key, others === undefined ? [call] : [...others, call]);
  }

  delete(call: Call): void {
    const { key } = call;
    const calls = this.withKey(key);
    if (calls.length <= 1) this.#byKey.delete(key);
    else {
      const rest = calls.filter((other) => other !== call);
      this.#byKey.set(key, rest);
    }
  }

  /** The call continues under another key. */
  rename(call: Call, key: string): void {
    this.delete(call);
    call.key = key;
    this.add(call);
  }

  /** The call in flight with this key and attempt. */
  find(key: string, attempt: number): Call | undefined {
    const calls = this.#byKey.get(key);
    return calls?.find(({ scope }) => scope.attempt === attempt);
  }

  get size(): number {
    return this.#byKey.size;
  }

  *calls(): Generator<Call, void> {
    for (const calls of this.#byKey.values()) yield* calls;
  }

  withKey(key: string): readonly Call[] {
    return this.#byKey.get(key) ?? NONE;
  }

  /** Begins a wait. Returns `false` if it would be a deadlock in which no wait can give way. */
  wait(wait: Wait): boolean {
    this.#waits.add(wait);
    for (;;) {
      const cycle = this.#cycleOf(wait);
      if (cycle === undefined) return true;
      const weakest = cycle
        .filter(({ giveWay }) => giveWay !== undefined)
        .toSorted((one, other) => KINDS.indexOf(one.kind) - KINDS.indexOf(other.kind))[0];
      this.#waits.delete(weakest ?? wait);
      if (weakest?.giveWay === undefined) return false;
      weakest.giveWay();
      if (weakest === wait) return true;
    }
  }

  /** Ends a wait, whether it gave way or not. */
  end(wait: Wait): void {
    this.#waits.delete(wait);
  }

  /** The waits through which this one waits for its own waiter, or for an enclosing call of it. */
  #cycleOf(wait: Wait): Wait[] | undefined {
    const goals = new Set([wait.waiter, ...callsAround(wait.waiter)]);
    const seen = new Set<Call>();
    for (const holder of wait.holders()) {
      const path = this.#pathFrom(holder, goals, seen);
      if (path !== undefined) return [wait, ...path];
    }
    return undefined;
  }

  /** A call waits for its inner calls to end, so it also waits for everything that they wait for. */
  #pathFrom(call: Call, goals: ReadonlySet<Call>, seen: Set<Call>): Wait[] | undefined {
    if (goals.has(call)) return [];
    if (seen.has(call)) return undefined;
    seen.add(call);
    for (const wait of this.#waits) {
      if (wait.waiter !== call && !isInside(wait.waiter, call)) continue;
      for (const holder of wait.holders()) {
        const path = this.#pathFrom(holder, goals, seen);
        if (path !== undefined) return [wait, ...path];
      }
    }
    return undefined;
  }
}

const NONE: readonly Call[] = [];

function isInside(call: Call, outer: Call): boolean {
  for (const around of callsAround(call)) if (around === outer) return true;
  return false;
}
