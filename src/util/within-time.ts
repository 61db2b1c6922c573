/**
 * Runs code whose time nobody can foresee, such as a pattern that a stranger wrote: one that goes back and forth would
 * keep the whole process from doing anything else, for years.
 */
import { createContext, Script } from "node:vm";

// Made once, since a context is costly. What is run in it is a function of this one, so nothing is handed over.
const place: { run: (() => unknown) | undefined } = { run: undefined };
const context = createContext(place);
const script = new Script("run()");

/** @throws TookTooLong */
export function withinTime<T>(timeoutMs: number, run: () => T): T {
  place.run = run;
  try {
    return script.runInContext(context, { timeout: timeoutMs }) as T;
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT")
      throw new TookTooLong();
    throw error;
  } finally {
    place.run = undefined;
  }
}

export class TookTooLong extends Error {}
