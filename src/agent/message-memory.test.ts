/** Which messages of an input are known from the last one. */
import { expect, it } from "vitest";
import type { AgentMessage } from "../model/messages.ts";
import { MessageMemory } from "./message-memory.ts";
import type { Recalled } from "./recent-conversations.ts";

const input = (): AgentMessage[] => [
  { role: "user", content: [{ type: "text", text: "Order two apples." }] },
  {
    role: "assistant",
    content: null as never,
    tool_calls: [{ id: "1", type: "function", function: { name: "order", arguments: '{"count":2}' } }],
  },
  { role: "tool", tool_call_id: "1", name: "order", content: "ordered" },
];

/** How many of the messages are the copies that `first` has. */
const knownIn = (first: Recalled, { messages }: Recalled): number =>
  messages.filter((message, index) => message === first.messages[index]).length;

it("knows equal messages that are other objects, and returns the same copies and hashes", () => {
  const memory = new MessageMemory();
  const first = memory.recall(input());
  const second = memory.recall([...input(), { role: "user", content: "Thanks." }]);
  expect(knownIn(first, second)).toBe(3);
  expect(second.hashes.slice(0, 4)).toEqual(first.hashes);
  expect(new MessageMemory().recall([...input(), { role: "user", content: "Thanks." }])).toEqual(second);
});

it.each([
  ["another text", 0, { role: "user", content: [{ type: "text", text: "Order three apples." }] }],
  [
    "another field",
    2,
    { role: "tool", tool_call_id: "1", name: "order", content: "ordered", is_error: true },
  ],
  ["a missing field", 2, { role: "tool", tool_call_id: "1", content: "ordered" }],
  [
    "a field that is undefined now",
    2,
    { role: "tool", tool_call_id: "1", name: undefined, content: "ordered" },
  ],
  [
    "a field that is called __proto__",
    2,
    Object.defineProperty({ role: "tool", tool_call_id: "1", content: "ordered" }, "__proto__", {
      value: {},
      enumerable: true,
    }),
  ],
  ["another role", 1, { role: "user", content: "" }],
])("does not know %s", (_, index, message) => {
  const memory = new MessageMemory();
  const first = memory.recall(input());
  const second = memory.recall(input().with(index, message as AgentMessage));
  expect(second.messages.slice(0, index)).toEqual(first.messages.slice(0, index));
  expect(knownIn(first, second)).toBe(index);
});

const unreadable = {
  type: "text",
  get text(): string {
    throw new Error("gone");
  },
};

it.each([
  ["has no content", { content: "" }, { content: undefined }],
  [
    "has no content and no calls",
    { content: "", tool_calls: undefined },
    { content: null, tool_calls: undefined },
  ],
  ["cannot be read", { content: [{ type: "text", text: "" }] }, { content: [unreadable] }],
])("refuses a message that %s, even if it knows one like it", (_, known, given) => {
  const memory = new MessageMemory();
  memory.recall([{ role: "assistant", ...known }]);
  expect(() => memory.recall([{ role: "assistant", ...given }])).toThrow("Option messages must");
});

it("does not know a message that has changed since", () => {
  const memory = new MessageMemory();
  const messages = input();
  const first = memory.recall(messages);
  (messages[2] as { content: string }).content = "refused";
  const second = memory.recall(messages);
  expect(knownIn(first, second)).toBe(2);
  expect(second.hashes.at(-1)).not.toBe(first.hashes.at(-1));
});

it("compares no bytes", () => {
  const image = (): AgentMessage => ({
    role: "user",
    content: [{ type: "image", image: new Uint8Array(8) }],
  });
  const memory = new MessageMemory();
  const first = memory.recall([image()]);
  expect(knownIn(first, memory.recall([image()]))).toBe(0);
});

it("knows the messages after bytes that have not changed", () => {
  const withImage = (byte: number): AgentMessage[] => [
    { role: "user", content: [{ type: "image", image: new Uint8Array([byte]) }] },
    ...input(),
  ];
  const memory = new MessageMemory();
  const first = memory.recall(withImage(1));
  const second = memory.recall(withImage(1));
  expect([knownIn(first, second), second.hashes]).toEqual([3, first.hashes]);
  expect(knownIn(first, memory.recall(withImage(2)))).toBe(0);
});

it("refuses a list with a missing message, even if it knows those before", () => {
  const memory = new MessageMemory();
  memory.recall(input());
  expect(() => memory.recall([...input(), undefined])).toThrow("message 3 is not an object");
});

class Said {
  readonly role = "user";
  content = [new Part("Order two apples.")];
}

class Part {
  readonly type = "text";
  text: string;

  constructor(text: string) {
    this.text = text;
  }
}

it("freezes its copies of instances of classes", () => {
  const { messages } = new MessageMemory().recall([new Said()]);
  expect(messages).toEqual([{ role: "user", content: [{ type: "text", text: "Order two apples." }] }]);
  const [{ content }] = messages as readonly object[] as [Said];
  expect([messages[0], content, content[0]].every((copy) => Object.isFrozen(copy))).toBe(true);
});

it("copies bytes, and not the buffer that they share with others", () => {
  const image = Buffer.alloc(10_000).subarray(0, 3);
  const { messages } = new MessageMemory().recall([{ role: "user", content: [{ type: "image", image }] }]);
  const [{ content }] = messages as readonly object[] as [{ content: [{ image: Uint8Array }] }];
  expect(content[0].image.buffer.byteLength).toBe(3);
});

const long = (name: string, characters: number): AgentMessage[] => [
  { role: "user", content: `${name} ${"x".repeat(characters)}` },
];

it("knows conversations that take turns, by their runs", () => {
  const memory = new MessageMemory();
  const names = Array.from({ length: 100 }, (_, index) => `chat ${index}`);
  const first = names.map((name) => memory.recall(long(name, 10), name));
  expect(
    names.every((name, index) => knownIn(first[index] as Recalled, memory.recall(long(name, 10), name))),
  ).toBe(true);
});

it("forgets the oldest conversations when there is too much text or there are too many messages", () => {
  const memory = new MessageMemory();
  const first = memory.recall(long("first", 10), "first");
  const second = memory.recall(long("second", 10), "second");
  memory.recall(long("first", 10), "first");
  memory.recall(long("long", 16_000_000 - 100), "long");
  expect(knownIn(first, memory.recall(long("first", 10), "first"))).toBe(1);
  expect(knownIn(second, memory.recall(long("second", 10), "second"))).toBe(0);
  const many = Array.from({ length: 50_000 }, () => input()[2] as AgentMessage);
  const third = memory.recall(long("third", 10), "third");
  const all = memory.recall(many, "many");
  expect(knownIn(all, memory.recall(many, "many"))).toBe(50_000);
  expect(knownIn(third, memory.recall(long("third", 10), "third"))).toBe(0);
});
