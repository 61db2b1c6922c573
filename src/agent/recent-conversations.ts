/** The conversations that an agent was last invoked with, up to a limit on their text. A server has many at a time. */
import type { AgentMessage } from "../model/messages.ts";

export interface Recalled {
  readonly messages: readonly AgentMessage[];
  /** The hash before and after each message: one more than there are messages. */
  readonly hashes: readonly string[];
  /** The length of the text up to and including each message. */
  readonly lengths: readonly number[];
}

/** 30 to 80 MB, since most texts have one byte per character, and each message has its share besides. */
const MOST_CHARACTERS = 16_000_000;
const MOST_MESSAGES = 50_000;

export class RecentConversations {
  /** Oldest first. */
  readonly #kept = new Map<string, Recalled>();
  #last: Recalled | undefined;
  #characters = 0;
  #messages = 0;

  /** The conversation of this name, or the last one: conversations may begin with the same messages. */
  find(name: string): Recalled | undefined {
    return this.#kept.get(name) ?? this.#last;
  }

  /** The last one is kept, however long it is. */
  keep(name: string, conversation: Recalled): void {
    this.#drop(name);
    this.#kept.set(name, conversation);
    this.#last = conversation;
    this.#characters += lengthOf(conversation);
    this.#messages += conversation.messages.length;
    for (const oldest of this.#kept.keys()) {
      if (oldest === name || (this.#characters <= MOST_CHARACTERS && this.#messages <= MOST_MESSAGES)) break;
      this.#drop(oldest);
    }
  }

  #drop(name: string): void {
    const conversation = this.#kept.get(name);
    if (conversation === undefined) return;
    this.#kept.delete(name);
    this.#characters -= lengthOf(conversation);
    this.#messages -= conversation.messages.length;
  }
}

function lengthOf({ lengths }: Recalled): number {
  return lengths.at(-1) ?? 0;
}
