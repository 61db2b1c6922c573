/** What a tool that is called further down finds: the scope it counts in. Separate from what tools themselves see. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Call } from "./call.ts";
import type { Scope } from "./scope.ts";

export interface Ambient {
  readonly scope: Scope;
  /** The call that is running, whose inner calls have a scope of their own. */
  readonly call: Call | undefined;
}

const storage = new AsyncLocalStorage<Ambient>();

export function runInAmbient<T>(ambient: Ambient, work: () => T): T {
  return storage.run(ambient, work);
}

export function currentAmbient(): Ambient | undefined {
  return storage.getStore();
}
