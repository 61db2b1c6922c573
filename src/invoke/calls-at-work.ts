/**
 * The calls of this runtime that have not ended, and which of them wait for which. A call holds things while it runs (a
 * place, a budget, a cached answer, a business key), and the calls inside it wait for things that other calls hold. Where
 * such waits would form a circle, one of them gives way, so that none waits for itself.
 */
import { type Call, callsAround } from "./call.ts";

/** In the order in which they give way: sharing an answer costs least to give up. `call` cannot: it would repeat an effect. */
const KINDS = ["answer", "place", "budget", "call"] as const;

export interface Wait {
  readonly kind: (typeof KINDS)[number];
  readonly waiter: Call;
  /** The calls that hold what it waits for, as far as they are in this runtime. */
  holders(): Iterable<Call>;
  /** Lets the waiter continue without it. */
  readonly giveWay?: () => void;
}

export class CallsAtWork {
  readonly #byKey = new Map<string, readonly Call[]>();
  readonly #waits = new Set<Wait>();

  add(call: Call): void {
    const others = this.#byKey.get(call.key);
    this.#byKey.set(call.key, others === undefined ? [call] : [...others, call]);
  }

  delete(call: Call): void {
    const rest = this.#byKey.get(call.key)?.filter((other) => other !== call) ?? NONE;
    if (rest.length === 0) this.#byKey.delete(call.key);
    else this.#byKey.set(call.key, rest);
  }

  withKey(key: string): readonly Call[] {
    return this.#byKey.get(key) ?? NONE;
  }

  /** Begins a wait. Answers `false` where it would never end, and none of the waits that keep it from ending can give way. */
  wait(wait: Wait): boolean {
    this.#waits.add(wait);
    for (;;) {
      const circle = this.#circleOf(wait);
      if (circle === undefined) return true;
      const weakest = circle
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

  /** The waits through which this one waits for its own waiter, or for a call around it. */
  #circleOf(wait: Wait): Wait[] | undefined {
    const goals = new Set([wait.waiter, ...callsAround(wait.waiter)]);
    const seen = new Set<Call>();
    for (const holder of wait.holders()) {
      const path = this.#pathFrom(holder, goals, seen);
      if (path !== undefined) return [wait, ...path];
    }
    return undefined;
  }

  /** A call ends when those inside it have ended, so what they wait for, it waits for. */
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
