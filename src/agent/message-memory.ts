/**
 * Caches hashes of messages, so that each message is processed once, however often it is sent or passed in. Only frozen
 * messages are cached: those created here, and copies of messages from callers.
 */
import { messageOf } from "../invoke/error-record.ts";
import { refusal } from "../runtime/options.ts";
import { type AgentMessage, chainHash, NOTHING_SAID, withContent } from "../model/messages.ts";

export interface Recalled {
  readonly messages: readonly AgentMessage[];
  readonly hashes: readonly string[];
}

export class MessageMemory {
  /** The last input: the next invoke of a conversation repeats it with a few more messages. */
  #last: Recalled = { messages: [], hashes: [NOTHING_SAID] };
  readonly #own = new WeakSet<AgentMessage>();
  readonly #hashes = new WeakMap<AgentMessage, { readonly before: string; readonly after: string }>();

  /** Whether the message is one of ours, and therefore frozen. */
  knows(message: unknown): boolean {
    return this.#own.has(message as AgentMessage);
  }

  /** The message itself if it is one of ours, else a frozen copy. */
  keep(message: AgentMessage): AgentMessage {
    if (this.#own.has(message)) return message;
    const kept = copied(message);
    this.#own.add(kept);
    return kept;
  }

  /** The hash of all messages up to and including this one. */
  hashAfter(before: string, message: AgentMessage): string {
    const known = this.#hashes.get(message);
    if (known?.before === before) return known.after;
    const after = chainHash(before, message);
    if (this.#own.has(message)) this.#hashes.set(message, { before, after });
    return after;
  }

  /**
   * The length of the common prefix with the last input: the same objects, which cannot have changed, or equal ones. A
   * comparison costs a small part of a copy and a hash, and callers often read a conversation from their own database.
   */
  knownOf(messages: readonly unknown[]): number {
    const { messages: last } = this.#last;
    const most = Math.min(last.length, messages.length);
    let known = 0;
    while (known < most && isCopyOf(last[known], messages[known])) known += 1;
    return known;
  }

  /** The frozen messages, and the hash after each; the hash at 0 is that of an empty list. */
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

/** Whether a copy of the message would be equal to `kept`. */
function isCopyOf(kept: AgentMessage | undefined, message: unknown): boolean {
  if (kept === message) return true;
  const hasCalls = typeof message === "object" && message !== null && "tool_calls" in message;
  return isEqual(kept, hasCalls ? withContent(message as AgentMessage) : message);
}

/** `false` if it is not certain, as for bytes and dates. */
function isEqual(kept: unknown, given: unknown): boolean {
  if (kept === given) return true;
  if (typeof kept !== "object" || typeof given !== "object" || kept === null || given === null) return false;
  if (Array.isArray(kept)) {
    if (!Array.isArray(given) || kept.length !== given.length) return false;
    // Holes are not certain.
    return kept.findIndex((item, index) => item === undefined || !isEqual(item, given[index])) === -1;
  }
  if (!isPlain(kept) || !isPlain(given)) return false;
  const names = Object.keys(given);
  if (names.length !== Object.keys(kept).length) return false;
  return names.every(
    (name) =>
      Object.hasOwn(kept, name) &&
      isEqual(kept[name as keyof typeof kept], given[name as keyof typeof given]),
  );
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** @throws TOOL_OPTION_INVALID */
function copied(message: AgentMessage): AgentMessage {
  try {
    return frozenCopy(withContent(message)) as AgentMessage;
  } catch (error) {
    throw refusal("messages", `must contain only data that can be serialized: ${messageOf(error)}`);
  }
}

function frozenCopy(value: unknown): unknown {
  if (typeof value === "function" || typeof value === "symbol") throw new Error(`there is a ${typeof value}`);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy));
  // Bytes, dates and URLs in the parts of a message keep their type.
  if (!isPlain(value)) return value instanceof URL ? new URL(value) : structuredClone(value);
  return Object.freeze(
    Object.fromEntries(Object.entries(value).map(([name, item]) => [name, frozenCopy(item)])),
  );
}
