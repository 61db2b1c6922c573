/**
 * Caches hashes of messages, so that each message is validated, copied and hashed once, however often it is sent or passed in.
 * Only frozen messages are cached: those created here, and copies of messages from callers.
 */
import { messageOf } from "../invoke/error-record.ts";
import { refusal } from "../runtime/options.ts";
import {
  type AgentMessage,
  chainHash,
  checkAgentMessage,
  checkAgentMessages,
  NOTHING_SAID,
  withContent,
} from "../model/messages.ts";

export interface Recalled {
  readonly messages: readonly AgentMessage[];
  readonly hashes: readonly string[];
}

export class MessageMemory {
  /** The last input: the next invoke of a conversation repeats it with a few more messages. */
  #last: Recalled = { messages: [], hashes: [NOTHING_SAID] };
  readonly #own = new WeakSet<AgentMessage>();
  readonly #hashes = new WeakMap<AgentMessage, { readonly before: string; readonly after: string }>();

  /** The message itself if we made it, else a frozen copy. */
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

  /**
   * The frozen messages, and the hash after each; the hash at 0 is the hash of an empty list.
   * @throws TOOL_OPTION_INVALID
   */
  recall(messages: unknown): Recalled {
    checkAgentMessages(messages);
    const known = this.knownOf(messages);
    const kept = this.#last.messages.slice(0, known);
    const hashes = this.#last.hashes.slice(0, known + 1);
    for (let index = known; index < messages.length; index += 1) {
      const own = this.#take(messages[index], index);
      kept.push(own);
      hashes.push(this.hashAfter(hashes.at(-1) ?? NOTHING_SAID, own));
    }
    this.#last = { messages: kept, hashes };
    return this.#last;
  }

  #take(message: unknown, index: number): AgentMessage {
    if (this.#own.has(message as AgentMessage)) return message as AgentMessage;
    checkAgentMessage(message, index);
    return this.keep(message);
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
    for (let index = 0; index < kept.length; index += 1) {
      // Holes are not certain.
      if (kept[index] === undefined || !isEqual(kept[index], given[index])) return false;
    }
    return true;
  }
  if (!isPlain(kept) || !isPlain(given)) return false;
  return hasEqualFields(kept as Fields, given as Fields);
}

type Fields = Readonly<Record<string, unknown>>;

/** Loops and not lists of names: every invoke compares every message. */
function hasEqualFields(kept: Fields, given: Fields): boolean {
  let more = 0;
  for (const name in given) {
    const value = given[name];
    if (value === undefined ? !Object.hasOwn(kept, name) : !isEqual(kept[name], value)) return false;
    more += 1;
  }
  for (const _ in kept) more -= 1;
  return more === 0;
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
