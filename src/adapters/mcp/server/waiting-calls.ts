/**
 * Calls that wait for a person and came without a key. A client that cannot send one repeats the call as it was: that is
 * the same call, not a second one, until it has run.
 */
import { textOfCall } from "../../../invoke/call.ts";
import { specOf } from "../../../tool/create-callable.ts";
import type { Tool } from "../../../tool/tool.ts";
import { sha256 } from "../../../util/hash.ts";

const KEPT = 1_000;

export class WaitingCalls {
  readonly #keys = new Map<string, string>();

  keyOf(tool: Tool, args: unknown): string | undefined {
    return this.#keys.get(likeness(tool, args));
  }

  keep(tool: Tool, args: unknown, key: string): void {
    this.#keys.set(likeness(tool, args), key);
    const [oldest] = this.#keys.keys();
    if (this.#keys.size > KEPT && oldest !== undefined) this.#keys.delete(oldest);
  }

  forget(tool: Tool, args: unknown, key: string): void {
    const name = likeness(tool, args);
    if (this.#keys.get(name) === key) this.#keys.delete(name);
  }
}

function likeness(tool: Tool, args: unknown): string {
  return sha256(textOfCall(specOf(tool), args, ""));
}
