/** Prompts reuse the parts that equal the previous prompt, and the result equals a prompt built from scratch. */
import { expect, it } from "vitest";
import type { AgentMessage } from "./messages.ts";
import { createPromptMaker } from "./to-sdk-prompt.ts";

const user = (content: string): AgentMessage => Object.freeze({ role: "user", content });
const answer = (content: string): AgentMessage => Object.freeze({ role: "assistant", content });
const calls = (...ids: string[]): AgentMessage =>
  Object.freeze({
    role: "assistant",
    content: "",
    tool_calls: ids.map((id) => ({
      id,
      type: "function" as const,
      function: { name: `tool-${id}`, arguments: "{}" },
    })),
  });
const result = (id: string): AgentMessage =>
  Object.freeze({ role: "tool", tool_call_id: id, content: `result ${id}` });

const begin = [user("Go."), calls("a", "b"), result("a"), result("b")];
const [go, call, first, second] = begin as [AgentMessage, AgentMessage, AgentMessage, AgentMessage];

it.each([
  ["the same messages", [...begin]],
  ["more messages", [...begin, answer("Done."), user("More.")]],
  ["another result in the last group", [go, call, first, result("b")]],
  ["a shorter last group", [go, call, first]],
  ["a longer last group", [...begin, result("c")]],
  ["an answer without content", [...begin, answer(""), user("More.")]],
  ["another start", [user("Stop."), call, first, second]],
  ["fewer messages", [go]],
  ["no messages", []],
])("with %s, the next prompt is the one of a new maker", (_, messages) => {
  const toPrompt = createPromptMaker();
  const before = structuredClone(toPrompt(begin));
  const next = toPrompt(messages);
  expect(next).toEqual(createPromptMaker()(messages));
  // Also back again, and the first prompt has not changed.
  expect(toPrompt([...begin])).toEqual(before);
});

it("a list that grows is continued, even after the prompt of another list", () => {
  const toPrompt = createPromptMaker();
  const growing = [go];
  toPrompt(growing);
  toPrompt([user("Other."), answer("Yes.")]);
  growing.push(call, first, second, answer("Done."));
  expect(toPrompt(growing)).toEqual(createPromptMaker()([...growing]));
});

it("messages of an earlier prompt are the same objects, so that they are converted once", () => {
  const toPrompt = createPromptMaker();
  const before = toPrompt(begin);
  const after = toPrompt([...begin, user("More.")]);
  expect(after[0]).toBe(before[0]);
  expect(after).toHaveLength(4);
});
