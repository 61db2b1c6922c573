/**
 * Calls without a key that wait for approval. A client that cannot send keys repeats the call unchanged. If the
 * client is identified, a repeat continues the call until it has ended. Otherwise equal calls may come from two
 * clients, so a repeat continues a call only after its decision, and one request uses each decision.
 */
import { textOfCall } from "../../../invoke/call-identity.ts";
import { specOf } from "../../../tool/create-callable.ts";
import type { Tool } from "../../../tool/tool.ts";
import { sha256 } from "../../../util/hash.ts";

const MAX_CALLS = 1_000;

interface WaitingCall {
  readonly key: string;
  /** A request is processing it; a concurrent one is another call. */
  isTaken: boolean;
}

/** The call that a client repeats. */
export interface RepeatableCall {
  /** `undefined` if the transport does not identify the client. */
  readonly client: string | undefined;
  readonly tool: Tool;
  readonly args: unknown;
}

export class WaitingCalls {
  readonly #calls = new Map<string, WaitingCall[]>();
  #count = 0;

  /** Returns the key of the call that this request continues. It is taken until `release`. */
  async take(
    call: RepeatableCall,
    isDecided: (key: string) => Promise<boolean>,
  ): Promise<string | undefined> {
    const name = nameOf(call);
    const free = (this.#calls.get(name) ?? []).filter(({ isTaken }) => !isTaken);
    // Before the first await: a concurrent request must not take the same ones.
    for (const waiting of free) waiting.isTaken = true;
    let taken: WaitingCall | undefined;
    try {
      for (const waiting of free) {
        if (taken === undefined && (await isDecided(waiting.key))) taken = waiting;
      }
      if (call.client !== undefined) taken ??= free[0];
    } finally {
      for (const waiting of free) waiting.isTaken = waiting === taken;
    }
    return taken?.key;
  }

  /** The request has ended: a repeat may continue the call if it still waits. */
  release(call: RepeatableCall, key: string): void {
    const waiting = this.#calls.get(nameOf(call))?.find((one) => one.key === key);
    if (waiting !== undefined) waiting.isTaken = false;
  }

  /** The call waits for approval: a repeat may continue it. */
  add(call: RepeatableCall, key: string): void {
    const name = nameOf(call);
    const calls = this.#calls.get(name) ?? [];
    if (calls.some((waiting) => waiting.key === key)) return;
    this.#calls.set(name, [...calls, { key, isTaken: false }]);
    this.#count += 1;
    const [oldest] = this.#calls.keys();
    if (this.#count > MAX_CALLS && oldest !== undefined) this.#drop(oldest, 0);
  }

  /** The call has ended. */
  remove(call: RepeatableCall, key: string): void {
    const name = nameOf(call);
    const index = this.#calls.get(name)?.findIndex((waiting) => waiting.key === key) ?? -1;
    if (index >= 0) this.#drop(name, index);
  }

  #drop(name: string, index: number): void {
    const rest = (this.#calls.get(name) ?? []).toSpliced(index, 1);
    this.#count -= 1;
    if (rest.length === 0) this.#calls.delete(name);
    else this.#calls.set(name, rest);
  }
}

function nameOf({ client, tool, args }: RepeatableCall): string {
  return sha256(JSON.stringify([client ?? null, textOfCall(specOf(tool), args, "")]));
}
