/** A stage of the pipeline. It returns a result itself, or calls the next stage and handles the result of that. */
import type { ToolwrightError } from "../errors.ts";
import type { Reservation } from "../store/tables/usage.ts";
import { abortError } from "./abort-error.ts";
import type { Call } from "./call.ts";
import type { Result } from "./outcome.ts";

export type Policy = (call: Call, next: Next) => Promise<Result>;

/** The rest of the pipeline. */
export type Next = (call: Call) => Promise<Result>;

/** The stages are linked once, so that a call creates no closures. */
export function compose(policies: readonly Policy[]): Next {
  return policies.reduceRight<Next>((next, policy) => (call) => policy(call, next), noNext);
}

function noNext(): never {
  throw new Error("the last policy of a pipeline must not call next()");
}

/** Thrown by a guard of the begin transaction: the transaction rolls back, and the call returns the result. */
export class Refused extends Error {
  readonly result: Result;

  constructor(result: Result) {
    super("refused");
    this.result = result;
  }
}

/** Another process has written to this call's rows in the meantime: the call enters the pipeline again. */
export class Contended extends Error {}

/** The resource for which a call waits before it can begin. */
export type WaitReason =
  | { readonly what: "slot"; readonly max: number }
  /** `holders`: the keys of the calls that hold the budget. */
  | { readonly what: "budget"; readonly holders: readonly string[] }
  | { readonly what: "breaker" }
  /** `holders`: the calls that hold the places of the limit, as far as they are known. */
  | {
      readonly what: "place";
      readonly name: string;
      readonly max: number;
      readonly holders: readonly Reservation[];
    }
  | { readonly what: "rate"; readonly name: string; readonly waitMs: number };

/** Thrown by a guard: calls in flight hold the capacity that this one needs, or may be about to open the breaker. */
export class MustWait extends Error {
  readonly reason: WaitReason;

  constructor(reason: WaitReason) {
    super(`waits for a ${reason.what}`);
    this.reason = reason;
  }
}

export function refuse(error: ToolwrightError): Result {
  return { kind: "error", error };
}

/** @param elapsedMs of the try that was running */
export function aborted(call: Call, elapsedMs?: number): Result {
  return { kind: "interrupted", error: abortError(call, elapsedMs === undefined ? {} : { elapsedMs }) };
}
