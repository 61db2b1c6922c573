/**
 * Calls that wait for approval and came without a key. A client that cannot send one repeats the call as it was. Where the
 * client is known, that is the same call until it has ended. Where it is not, two equal calls may be those of two clients,
 * so a repeat continues a call only once that was decided, and each decision is used by one request.
 */
import { textOfCall } from "../../../invoke/call.ts";
import { specOf } from "../../../tool/create-callable.ts";
import type { Tool } from "../../../tool/tool.ts";
import { sha256 } from "../../../util/hash.ts";

const MOST_KEPT = 1_000;

interface WaitingCall {
  readonly key: string;
  /** A request is at work on it: another one at the same time is another call. */
  isTaken: boolean;
}

/** What a client repeats. */
export interface RepeatableCall {
  /** `undefined` where requests do not show which client sent them. */
  readonly client: string | undefined;
  readonly tool: Tool;
  readonly args: unknown;
}

export class WaitingCalls {
  readonly #calls = new Map<string, WaitingCall[]>();
  #count = 0;

  /** The key of the call that this request continues, which is then taken until `release`. */
  async take(
    call: RepeatableCall,
    isDecided: (key: string) => Promise<boolean>,
  ): Promise<string | undefined> {
    const name = nameOf(call);
    const free = (this.#calls.get(name) ?? []).filter(({ isTaken }) => !isTaken);
    // Before anything is awaited: a request that comes meanwhile must not take the same ones.
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

  /** The request is over, whatever came of it: a repeat may continue the call if that still waits. */
  release(call: RepeatableCall, key: string): void {
    const known = this.#calls.get(nameOf(call))?.find((waiting) => waiting.key === key);
    if (known !== undefined) known.isTaken = false;
  }

  /** The call waits: a repeat may continue it. */
  keep(call: RepeatableCall, key: string): void {
    const name = nameOf(call);
    const calls = this.#calls.get(name) ?? [];
    if (calls.some((waiting) => waiting.key === key)) return;
    this.#calls.set(name, [...calls, { key, isTaken: false }]);
    this.#count += 1;
    const [oldest] = this.#calls.keys();
    if (this.#count > MOST_KEPT && oldest !== undefined) this.#drop(oldest, 0);
  }

  /** The call has ended. */
  forget(call: RepeatableCall, key: string): void {
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
