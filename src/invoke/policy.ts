/** One stage of a call. It may answer itself, or ask the next stage and look at what comes back. */
import { ToolwrightError } from "../errors.ts";
import type { Call } from "./call.ts";
import type { Result } from "./outcome.ts";

export type Policy = (call: Call, next: () => Promise<Result>) => Promise<Result>;

export function compose(policies: readonly Policy[]): (call: Call) => Promise<Result> {
  return (call) => {
    const dispatch = (index: number): Promise<Result> => {
      const policy = policies[index];
      if (policy === undefined) throw new Error("the last policy of a pipeline must answer itself");
      return policy(call, () => dispatch(index + 1));
    };
    return dispatch(0);
  };
}

/** Thrown by a guard of the begin transaction: the transaction is rolled back, and the call answers with the result. */
export class Refused extends Error {
  readonly result: Result;

  constructor(result: Result) {
    super("refused");
    this.result = result;
  }
}

/** Another process wrote about this call in the meantime: look again and decide anew. */
export class Contended extends Error {}

/** What a call waits for before it can begin. */
export type Room =
  | { readonly what: "place"; readonly max: number }
  /** `holders`: the keys of the calls that hold it. */
  | { readonly what: "budget"; readonly holders: readonly string[] }
  | { readonly what: "breaker" };

/** Thrown by a guard: calls in flight hold what this one needs, or may be about to open the breaker. */
export class MustWait extends Error {
  readonly reason: Room;

  constructor(reason: Room) {
    super(`waits for a ${reason.what}`);
    this.reason = reason;
  }
}

export function refuse(error: ToolwrightError): Result {
  return { kind: "error", error };
}

export function aborted(signal: AbortSignal | undefined): Result {
  const reason: unknown = signal?.reason;
  const message = reason instanceof Error && reason.message !== "" ? reason.message : "the run was aborted";
  return {
    kind: "cut",
    error: new ToolwrightError("TOOL_ABORTED", `The call was cut off: ${message}.`, { cause: reason }),
  };
}
