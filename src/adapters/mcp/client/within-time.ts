/**
 * Runs synchronous code with a time limit, such as a pattern from an untrusted server: catastrophic backtracking would block
 * the process.
 */
import { createContext, Script } from "node:vm";

// Created once, since a context is expensive. The context only calls a function of this realm, so no values are copied.
const sandbox: { run: (() => unknown) | undefined } = { run: undefined };
const context = createContext(sandbox);
const script = new Script("run()");

/** @throws TimedOut */
export function withinTime<T>(timeoutMs: number, run: () => T): T {
  sandbox.run = run;
  try {
    return script.runInContext(context, { timeout: timeoutMs }) as T;
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") throw new TimedOut();
    throw error;
  } finally {
    sandbox.run = undefined;
  }
}

export class TimedOut extends Error {}
