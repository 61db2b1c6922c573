/** What was made of a conversation is found by its next list of messages. */
import { expect, it } from "vitest";
import { ByConversation } from "./by-conversation.ts";
import type { AgentMessage } from "./messages.ts";

const say = (role: AgentMessage["role"], content: string): AgentMessage => Object.freeze({ role, content });

/** The names of conversations, and the lists that they are found by. */
function keepTwo() {
  const made = new ByConversation<{ name: string; length: number }>();
  const lists = ["one", "two"].map((name) => [
    say("user", "Hi."),
    say("assistant", "Hi."),
    say("user", name),
  ]);
  for (const [index, list] of lists.entries())
    made.keep(list, ({ length }) => ({ name: `${index}`, length }));
  const next = lists.map((list) => [...list, say("assistant", "Yes."), say("user", "Go on.")]);
  return { made, next };
}

it("is found by the next list of the same conversation, however many take turns", () => {
  const { made, next } = keepTwo();
  expect(next.map((list) => made.take(list)?.name)).toEqual(["0", "1"]);
});

it("is removed, so that a conversation has one entry: another one finds what was made last", () => {
  const { made, next } = keepTwo();
  const [first = []] = next;
  expect([made.take(first), made.take(first), made.take([])].map((found) => found?.name)).toEqual([
    "0",
    "1",
    "1",
  ]);
});

it("has the messages up to the last one of the user", () => {
  const made = new ByConversation<number>();
  made.keep([say("user", "Hi."), say("assistant", "I look."), say("tool", "seen")], ({ length }) => length);
  made.keep([say("assistant", "Hi.")], ({ length }) => length);
  expect(made.take([])).toBe(1);
});
