/**
 * One execution of a function of the tool's author for a call: a try of `execute`, or a function such as `needsApproval`.
 * Tools that the function calls belong to this try. Once the try is over it can make no further call: a function that
 * ignores its signal must not act alongside its successor, or after its run has ended.
 */
import { onAbort } from "../util/abort.ts";
import type { Call } from "./call.ts";
import type { Scope } from "./scope.ts";

export class Try {
  readonly call: Call;
  /** The scope of the calls that this try makes. Created by the first of them. */
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
   * Whether the function may run the original of its tool as a part of this try. Only once: a second time is another call,
   * with its own key.
   */
  takeOwnExecute(original: object): boolean {
    if (this.#isOver || this.#ranOwn?.has(original) === true) return false;
    (this.#ranOwn ??= new Set()).add(original);
    return true;
  }

  /** Created on first use: most tools never read it. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      const fenced = this.call.host.fencedSignal();
      // The runtime outlives the call, so the callback must be removed.
      this.call.cleanups.push(onAbort(fenced, () => controller.abort(fenced.reason)));
      if (fenced.aborted) controller.abort(fenced.reason);
      if (this.#stopped !== undefined) controller.abort(this.#stopped.reason);
    }
    return this.#controller.signal;
  }

  /** The function has settled. Calls that it started without awaiting them may still finish. */
  end(): void {
    this.#isOver = true;
  }

  /** The function was interrupted: it and all its calls in flight should stop. */
  stop(reason: unknown): void {
    this.#isOver = true;
    this.#stopped = { reason };
    this.#controller?.abort(reason);
  }
}
