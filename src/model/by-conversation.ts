/**
 * What was made of the messages of each conversation, for its next invoke, which repeats them and has a few more. One lookup finds
 * it, instead of one for each message. An agent may serve many conversations at a time.
 */
import type { AgentMessage } from "./messages.ts";

export class ByConversation<Made> {
  /** By the last message of the user, which every later list of the conversation has, and no other conversation. */
  readonly #made = new WeakMap<AgentMessage, Made>();
  #last: Made | undefined;

  /** What was kept of this conversation, which is removed; or of the last one, which may begin with the same messages. */
  take(messages: readonly AgentMessage[]): Made | undefined {
    for (let index = messages.length - 1; index >= 0; index -= 1) {
      const message = messages[index] as AgentMessage;
      const made = message.role === "user" ? this.#made.get(message) : undefined;
      if (made === undefined) continue;
      this.#made.delete(message);
      return made;
    }
    return this.#last;
  }

  /** @param make of the messages up to the user's last: later ones may be in a form that is not stored, and long */
  keep(messages: readonly AgentMessage[], make: (messages: readonly AgentMessage[]) => Made): void {
    const index = messages.findLastIndex(({ role }) => role === "user");
    const key = messages[index];
    if (key === undefined) return;
    this.#last = make(messages.slice(0, index + 1));
    this.#made.set(key, this.#last);
  }
}
