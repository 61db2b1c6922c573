/** The scope in which a tool that is called further down the stack counts. Tools themselves cannot see it. */
import { getAmbient, type PartialToolContext, runInFrame } from "../definition/context.ts";
import type { Replay } from "./replay/replay.ts";
import type { Scope } from "./scope.ts";
import type { Try } from "./try.ts";

export interface Ambient {
  readonly scope: Scope;
  /** The running try of a call. Its inner calls have their own scope. */
  readonly ofTry: Try | undefined;
  /** The try that opened the run, if the run was opened inside a call. */
  readonly around?: Try | undefined;
  /** Set in a replay. Here, so that reading it does not open the scope. */
  readonly replay?: Replay | undefined;
}

export function runInAmbient<T>(ambient: Ambient, context: PartialToolContext | undefined, work: () => T): T {
  return runInFrame(ambient, context, work);
}

/** The try whose function is running, even through a run that it opened. */
export function tryAround(): Try | undefined {
  const ambient = currentAmbient();
  return ambient?.ofTry ?? ambient?.around;
}

export function currentAmbient(): Ambient | undefined {
  return getAmbient() as Ambient | undefined;
}
