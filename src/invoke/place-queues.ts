/**
 * The calls of this runtime that wait under a limit of their tool across processes, first come, first served. Only the first
 * one of each limit asks the store, so that a thousand waiting calls cost as much as one.
 */
import type { Call } from "./call.ts";

interface Waiter {
  readonly call: Call;
  /** Ends its pause: it may be its turn, or a place may be free. */
  wake: (() => void) | undefined;
}

export class PlaceQueues {
  readonly #queues = new Map<string, Waiter[]>();
  /** A call waits in one queue at a time. */
  readonly #names = new Map<Call, string>();

  /** The limit that the call waits under. */
  nameOf(call: Call): string | undefined {
    return this.#names.get(call);
  }

  /** Enters the queue at its end. */
  join(call: Call, name: string): void {
    this.#names.set(call, name);
    const queue = this.#queues.get(name);
    if (queue === undefined) this.#queues.set(name, [{ call, wake: undefined }]);
    else queue.push({ call, wake: undefined });
  }

  /** The call has begun, or no longer waits. Returns the limit whose queue is empty now. */
  leave(call: Call): string | undefined {
    if (this.#names.size === 0) return undefined;
    const name = this.#names.get(call);
    const queue = name === undefined ? undefined : this.#queues.get(name);
    if (name === undefined || queue === undefined) return undefined;
    this.#names.delete(call);
    const rest = queue.filter((waiter) => waiter.call !== call);
    if (rest.length === 0) this.#queues.delete(name);
    else this.#queues.set(name, rest);
    rest[0]?.wake?.();
    return rest.length === 0 ? name : undefined;
  }

  /** Whether other calls of this runtime have waited for longer. */
  isBehind(call: Call, name: string): boolean {
    const queue = this.#queues.get(name);
    return queue !== undefined && queue[0]?.call !== call;
  }

  /** The calls that come before this one. */
  before(call: Call, name: string): readonly Call[] {
    const queue = this.#queues.get(name) ?? [];
    const index = queue.findIndex((waiter) => waiter.call === call);
    return queue.slice(0, Math.max(index, 0)).map((waiter) => waiter.call);
  }

  /** A call of this runtime has ended: its place is free. */
  freed(name: string): void {
    this.#queues.get(name)?.[0]?.wake?.();
  }

  wake(call: Call): void {
    this.#waiterOf(call)?.wake?.();
  }

  /** Calls `wake` when the call is the first, or a place is free. Returns a function that stops waiting for it. */
  onTurn(call: Call, wake: () => void): () => void {
    const waiter = this.#waiterOf(call);
    if (waiter === undefined) return () => undefined;
    waiter.wake = wake;
    return () => {
      waiter.wake = undefined;
    };
  }

  #waiterOf(call: Call): Waiter | undefined {
    const name = this.#names.get(call);
    return name === undefined ? undefined : this.#queues.get(name)?.find((one) => one.call === call);
  }
}
