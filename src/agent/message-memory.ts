/**
 * Caches hashes of messages, so that each message is validated, copied and hashed once, however often it is sent or passed in.
 * Only frozen messages are cached: those created here, and copies of messages from callers.
 */
import { messageOf } from "../invoke/error-record.ts";
import { refusal } from "../runtime/options.ts";
import { canonicalText } from "../util/canonical.ts";
import { frozenCopy, isPlain } from "./state.ts";
import { type Recalled, RecentConversations } from "./recent-conversations.ts";
import {
  type AgentMessage,
  chainHash,
  checkAgentMessage,
  checkAgentMessages,
  isMessageOfCalls,
  NOTHING_SAID,
  withContent,
} from "../model/messages.ts";

/** What is known about one of our own messages. */
interface Facts {
  /** The hash of the messages before it, for which the others hold; `""` until they are known. */
  before: string;
  after: string;
  /** The length of its canonical text. */
  length: number;
}

const NOTHING: Recalled = { messages: [], hashes: [NOTHING_SAID], lengths: [] };

export class MessageMemory {
  /** The next invoke of a conversation repeats its messages, and has a few more. */
  readonly #recent = new RecentConversations();
  /** One map for all facts: a write to a WeakMap costs about as much as a hash. */
  readonly #own = new WeakMap<AgentMessage, Facts>();

  /** The message itself if we made it, else a frozen copy. */
  keep(message: AgentMessage): AgentMessage {
    return this.#own.has(message) ? message : this.#copy(message);
  }

  /** The hash of all messages up to and including this one. */
  hashAfter(before: string, message: AgentMessage): string {
    return this.#factsAfter(before, message).after;
  }

  /**
   * The frozen messages, and the hash after each; the hash at 0 is the hash of an empty list.
   * @param runId names the conversation; without it, the conversation is new
   * @throws TOOL_OPTION_INVALID
   */
  recall(messages: unknown, runId = ""): Recalled {
    checkAgentMessages(messages);
    const last = this.#recent.find(runId) ?? NOTHING;
    if (messages === last.messages) {
      this.#recent.keep(runId, last);
      return last;
    }
    const known = knownPrefix(last, messages);
    const kept = last.messages.slice(0, known);
    const hashes = last.hashes.slice(0, known + 1);
    const lengths = last.lengths.slice(0, known);
    for (let index = known; index < messages.length; index += 1) {
      const before = hashes.at(-1) ?? NOTHING_SAID;
      // A message with bytes is copied again. If it has not changed, those after it are known.
      const same = before === last.hashes[index] ? last.messages[index] : undefined;
      const isKnown = same !== undefined && isCopyOf(same, messages[index]);
      const own = isKnown ? same : this.#take(messages[index], index);
      const { after, length } = this.#factsAfter(before, own);
      kept.push(own);
      hashes.push(after);
      lengths.push((lengths.at(-1) ?? 0) + length);
    }
    const recalled = { messages: kept, hashes, lengths };
    this.#recent.keep(runId, recalled);
    return recalled;
  }

  #take(message: unknown, index: number): AgentMessage {
    if (this.#own.has(message as AgentMessage)) return message as AgentMessage;
    checkAgentMessage(message, index);
    return this.#copy(message);
  }

  #copy(message: AgentMessage): AgentMessage {
    const kept = copied(message);
    this.#own.set(kept, { before: "", after: "", length: 0 });
    return kept;
  }

  #factsAfter(before: string, message: AgentMessage): Readonly<Facts> {
    const facts = this.#own.get(message) ?? { before: "", after: "", length: 0 };
    if (facts.before === before) return facts;
    const text = textOf(message);
    facts.before = before;
    facts.after = chainHash(before, text);
    facts.length = text.length;
    return facts;
  }
}

/**
 * The length of the common prefix: the same objects, which cannot have changed, or equal ones. A comparison costs a small
 * part of a copy and a hash, and callers often read a conversation from their own database.
 */
function knownPrefix({ messages: last }: Recalled, messages: readonly unknown[]): number {
  const most = Math.min(last.length, messages.length);
  let known = 0;
  while (known < most && isCopyOf(last[known], messages[known])) known += 1;
  return known;
}

/** Whether a copy of the message would be equal to `kept`. */
function isCopyOf(kept: AgentMessage | undefined, message: unknown): boolean {
  if (kept === message) return true;
  try {
    return isEqual(kept, isMessageOfCalls(message) ? withContent(message) : message);
  } catch {
    // A getter has thrown. The copy says so.
    return false;
  }
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
    // Without the first check, a field that is called `__proto__` would be compared with the prototype.
    if (!Object.hasOwn(kept, name) || !isEqual(kept[name], given[name])) return false;
    more += 1;
  }
  for (const _ in kept) more -= 1;
  return more === 0;
}

/** @throws TOOL_OPTION_INVALID */
function copied(message: AgentMessage): AgentMessage {
  return onlyData(() => frozenCopy(withContent(message)) as AgentMessage);
}

/** @throws TOOL_OPTION_INVALID */
function textOf(message: AgentMessage): string {
  return onlyData(() => canonicalText(message));
}

function onlyData<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw refusal("messages", `must contain only data that can be serialized: ${messageOf(error)}`);
  }
}
