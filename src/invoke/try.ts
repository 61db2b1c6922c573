/**
 * One run of a function of the tool's author on behalf of a call: a try of `execute`, or a question such as
 * `needsApproval`. Tools that the function calls belong to this try. Once it is over it can make no further call: a
 * function that ignores its signal must not act beside its successor, or after its run has ended.
 */
import type { Call } from "./call.ts";
import type { Scope } from "./scope.ts";

export class Try {
  readonly call: Call;
  /** Where the calls that this try makes are counted. Created by the first of them. */
  innerScope: Scope | undefined;
  #controller: AbortController | undefined;
  #stopped: { readonly reason: unknown } | undefined;
  #isOver = false;
  #ranOwn: Set<object> | undefined;

  constructor(call: Call) {
    this.call = call;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** It was cut off. Unlike one that has returned, it can call nothing at all, in whichever run. */
  get isStopped(): boolean {
    return this.#stopped !== undefined;
  }

  /**
   * Whether the function may run the original that its tool is a copy of as a part of this try. Once: a second time is a
   * call of its own, with a key of its own.
   */
  takeOwnExecute(original: object): boolean {
    if (this.#isOver || this.#ranOwn?.has(original) === true) return false;
    (this.#ranOwn ??= new Set()).add(original);
    return true;
  }

  /** Created on demand: most tools never read it, and every call would pay for it. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      const fenced = this.call.host.fencedSignal();
      const onFenced = (): void => controller.abort(fenced.reason);
      fenced.addEventListener("abort", onFenced, { once: true, signal: controller.signal });
      // The runtime outlives the call and must not keep a listener for it.
      this.call.cleanups.push(() => fenced.removeEventListener("abort", onFenced));
      if (fenced.aborted) controller.abort(fenced.reason);
      if (this.#stopped !== undefined) controller.abort(this.#stopped.reason);
    }
    return this.#controller.signal;
  }

  /** The function has settled. Calls that it began and did not await may still finish. */
  end(): void {
    this.#isOver = true;
  }

  /** The function was cut off: it, and every call that it has in flight, should stop. */
  stop(reason: unknown): void {
    this.#isOver = true;
    this.#stopped = { reason };
    this.#controller?.abort(reason);
  }
}
