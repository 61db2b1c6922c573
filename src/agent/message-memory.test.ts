/** Which messages of an input are known from the last one. */
import { expect, it } from "vitest";
import type { AgentMessage } from "../model/messages.ts";
import { MessageMemory } from "./message-memory.ts";

const input = (): AgentMessage[] => [
  { role: "user", content: [{ type: "text", text: "Order two apples." }] },
  {
    role: "assistant",
    content: null as never,
    tool_calls: [{ id: "1", type: "function", function: { name: "order", arguments: '{"count":2}' } }],
  },
  { role: "tool", tool_call_id: "1", content: "ordered" },
];

it("knows equal messages that are other objects, and returns the same copies and hashes", () => {
  const memory = new MessageMemory();
  const first = memory.recall(input());
  expect(memory.knownOf(input())).toBe(3);
  const second = memory.recall([...input(), { role: "user", content: "Thanks." }]);
  expect(second.messages.slice(0, 3).every((message, index) => message === first.messages[index])).toBe(true);
  expect(second.hashes.slice(0, 4)).toEqual(first.hashes);
  expect(new MessageMemory().recall([...input(), { role: "user", content: "Thanks." }])).toEqual(second);
});

it.each([
  ["another text", 0, { role: "user", content: [{ type: "text", text: "Order three apples." }] }],
  ["another field", 2, { role: "tool", tool_call_id: "1", content: "ordered", is_error: true }],
  ["a missing field", 2, { role: "tool", content: "ordered" }],
  ["another role", 1, { role: "user", content: "" }],
  ["no message", 1, null],
])("does not know %s", (_, index, message) => {
  const memory = new MessageMemory();
  memory.recall(input());
  expect(memory.knownOf(input().with(index, message as AgentMessage))).toBe(index);
});

it("does not know a message that has changed since", () => {
  const memory = new MessageMemory();
  const messages = input();
  const { hashes } = memory.recall(messages);
  (messages[2] as { content: string }).content = "refused";
  expect(memory.knownOf(messages)).toBe(2);
  expect(memory.recall(messages).hashes.at(-1)).not.toBe(hashes.at(-1));
});

it("compares no bytes", () => {
  const image = (): AgentMessage => ({
    role: "user",
    content: [{ type: "image", image: new Uint8Array(8) }],
  });
  const memory = new MessageMemory();
  memory.recall([image()]);
  expect(memory.knownOf([image()])).toBe(0);
});
