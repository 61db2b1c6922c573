/** What a tool that is called further down finds: the scope it counts in. Separate from what tools themselves see. */
import { getAmbient, type PartialToolContext, runInFrame } from "../definition/context.ts";
import type { Scope } from "./scope.ts";
import type { Try } from "./try.ts";

export interface Ambient {
  readonly scope: Scope;
  /** The try of a call that is running, whose inner calls have a scope of their own. */
  readonly attempt: Try | undefined;
  /** For a run that was opened inside a call: the try of that call. */
  readonly around?: Try | undefined;
}

export function runInAmbient<T>(ambient: Ambient, context: PartialToolContext | undefined, work: () => T): T {
  return runInFrame(ambient, context, work);
}

/** The try whose function is running here, also through a run that it opened. */
export function tryAround(): Try | undefined {
  const ambient = currentAmbient();
  return ambient?.attempt ?? ambient?.around;
}

export function currentAmbient(): Ambient | undefined {
  return getAmbient() as Ambient | undefined;
}
