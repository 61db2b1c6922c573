/**
 * What an agent remembers about messages, so that each is looked at once however often it is sent or handed in again. Only
 * about messages that cannot change any more: those that were made here, and copies of what came from outside.
 */
import { type AgentMessage, chainHash, NOTHING_SAID, withContent } from "./messages.ts";

export class MessageMemory {
  readonly #own = new WeakSet<AgentMessage>();
  readonly #hashes = new WeakMap<AgentMessage, { readonly before: string; readonly after: string }>();

  /** The message itself if it is one of ours, else a copy that nobody can change. */
  keep(message: AgentMessage): AgentMessage {
    if (this.#own.has(message)) return message;
    const kept = frozen(structuredClone(withContent(message)));
    this.#own.add(kept);
    return kept;
  }

  /** The hash of what was said up to and with this message. */
  hashAfter(before: string, message: AgentMessage): string {
    const known = this.#hashes.get(message);
    if (known?.before === before) return known.after;
    const after = chainHash(before, message);
    if (this.#own.has(message)) this.#hashes.set(message, { before, after });
    return after;
  }

  /** The hash after each message: the one at 0 is of nothing. */
  hashesOf(messages: readonly AgentMessage[]): string[] {
    let hash = NOTHING_SAID;
    return [hash, ...messages.map((message) => (hash = this.hashAfter(hash, message)))];
  }
}

function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const item of Object.values(value)) frozen(item);
  // Bytes cannot be frozen, and need not be: they are copies.
  return ArrayBuffer.isView(value) ? value : Object.freeze(value);
}
