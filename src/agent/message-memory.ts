/**
 * What an agent remembers about messages, so that each is looked at once however often it is sent or handed in again. Only
 * about messages that cannot change any more: those that were made here, and copies of what came from outside.
 */
import { messageOf } from "../invoke/error-record.ts";
import { refusal } from "../runtime/options.ts";
import { type AgentMessage, chainHash, NOTHING_SAID, withContent } from "../model/messages.ts";

export interface Recalled {
  readonly messages: readonly AgentMessage[];
  readonly hashes: readonly string[];
}

export class MessageMemory {
  /** What came in last: a conversation that goes on hands it in again, with little more. */
  #last: Recalled = { messages: [], hashes: [NOTHING_SAID] };
  readonly #own = new WeakSet<AgentMessage>();
  readonly #hashes = new WeakMap<AgentMessage, { readonly before: string; readonly after: string }>();

  /** Whether it is one of ours: made here, and never changed since. */
  knows(message: unknown): boolean {
    return this.#own.has(message as AgentMessage);
  }

  /** The message itself if it is one of ours, else a copy that nobody can change. */
  keep(message: AgentMessage): AgentMessage {
    if (this.#own.has(message)) return message;
    const kept = copied(message);
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

  /** How many of these the last list began with: the very same objects, which cannot have changed. */
  knownOf(messages: readonly unknown[]): number {
    const { messages: last } = this.#last;
    const most = Math.min(last.length, messages.length);
    let known = 0;
    while (known < most && last[known] === messages[known]) known += 1;
    return known;
  }

  /** All of them as they are kept, and the hash after each: the one at 0 is of nothing. */
  recall(messages: readonly AgentMessage[]): Recalled {
    const known = this.knownOf(messages);
    const kept = this.#last.messages.slice(0, known);
    const hashes = this.#last.hashes.slice(0, known + 1);
    for (const message of messages.slice(known)) {
      const own = this.keep(message);
      kept.push(own);
      hashes.push(this.hashAfter(hashes.at(-1) ?? NOTHING_SAID, own));
    }
    this.#last = { messages: kept, hashes };
    return this.#last;
  }
}

/** @throws TOOL_OPTION_INVALID */
function copied(message: AgentMessage): AgentMessage {
  try {
    return frozenCopy(withContent(message)) as AgentMessage;
  } catch (error) {
    throw refusal("messages", `must hold nothing but data, which can be written down: ${messageOf(error)}`);
  }
}

function frozenCopy(value: unknown): unknown {
  if (typeof value === "function" || typeof value === "symbol") throw new Error(`there is a ${typeof value}`);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy));
  const prototype: unknown = Object.getPrototypeOf(value);
  // Bytes, dates and addresses in the parts of a message: copies of their own kind.
  if (prototype !== Object.prototype && prototype !== null) {
    return value instanceof URL ? new URL(value) : structuredClone(value);
  }
  return Object.freeze(
    Object.fromEntries(Object.entries(value).map(([name, item]) => [name, frozenCopy(item)])),
  );
}
