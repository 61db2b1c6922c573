import { expect, test } from "vitest";
import { createScriptedModel } from "./scripted-model.ts";

const asked = { prompt: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] };

test("returns its turns in order and keeps the requests", async () => {
  const model = createScriptedModel([
    { text: "Let me see.", toolCalls: [{ toolName: "look", input: { at: "x" } }] },
    [{ toolName: "look", input: "{broken", toolCallId: "mine" }],
    ({ index, prompt }) => `turn ${index} after ${prompt.length} message`,
  ]);
  const turns = [await model.doGenerate(asked), await model.doGenerate(asked), await model.doGenerate(asked)];
  expect(turns.map(({ content }) => content)).toEqual([
    [
      { type: "text", text: "Let me see." },
      { type: "tool-call", toolCallId: "call-1", toolName: "look", input: '{"at":"x"}' },
    ],
    [{ type: "tool-call", toolCallId: "mine", toolName: "look", input: "{broken" }],
    [{ type: "text", text: "turn 2 after 1 message" }],
  ]);
  expect(turns.map(({ finishReason }) => finishReason.unified)).toEqual(["tool-calls", "tool-calls", "stop"]);
  expect(model.requests.map(({ index, mode }) => [index, mode])).toEqual([
    [0, "generate"],
    [1, "generate"],
    [2, "generate"],
  ]);
});

test("passes a turn the messages, the results of its calls, and the number of earlier responses", async () => {
  const model = createScriptedModel([
    ({ turn, text, toolResults }) => JSON.stringify({ turn, text, toolResults }),
  ]);
  const result = (toolName: string, output: object) => ({
    type: "tool-result",
    toolCallId: "c",
    toolName,
    output,
  });
  const { content } = await model.doGenerate({
    prompt: [
      { role: "system", content: "Be short." },
      {
        role: "user",
        content: [
          { type: "text", text: "Look " },
          { type: "text", text: "around." },
        ],
      },
      { role: "assistant", content: [] },
      { role: "tool", content: [result("earlier", { type: "text", value: "gone" })] },
      { role: "assistant", content: [] },
      {
        role: "tool",
        content: [
          result("look", { type: "json", value: { seen: 2 } }),
          result("move", { type: "execution-denied", reason: "not now" }),
        ],
      },
    ],
  });
  expect(JSON.parse((content[0] as { text: string }).text)).toEqual({
    turn: 2,
    text: "Look around.",
    toolResults: [
      { toolName: "look", output: { seen: 2 } },
      { toolName: "move", output: "not now" },
    ],
  });
  expect(model.requests[0]).toMatchObject({ turn: 2, text: "Look around." });
});

test("streams the same turns", async () => {
  const model = createScriptedModel([{ text: "Hi", toolCalls: [{ toolName: "look", input: {} }] }]);
  const { stream } = await model.doStream(asked);
  const types: string[] = [];
  for await (const { type } of stream) types.push(type);
  expect(types).toEqual([
    "stream-start",
    "text-start",
    "text-delta",
    "text-end",
    "tool-input-start",
    "tool-input-delta",
    "tool-input-end",
    "tool-call",
    "finish",
  ]);
  expect(model.requests).toMatchObject([{ mode: "stream" }]);
});

test("reports that its script has ended, or repeats the last turn", async () => {
  const model = createScriptedModel(["only"]);
  await model.doGenerate(asked);
  await expect(model.doGenerate(asked)).rejects.toThrow("called 2 times, but its script has 1 turns");
  const patient = createScriptedModel(["only"], { atEnd: "repeat-last" });
  await patient.doGenerate(asked);
  expect((await patient.doGenerate(asked)).content).toEqual([{ type: "text", text: "only" }]);
});

test("fails if the script contains an error, and when the request was aborted", async () => {
  const model = createScriptedModel([new Error("overloaded"), "better"]);
  await expect(model.doGenerate(asked)).rejects.toThrow("overloaded");
  const aborted = { ...asked, abortSignal: AbortSignal.abort(new Error("gone")) };
  await expect(model.doGenerate(aborted)).rejects.toThrow("gone");
  expect(model.requests).toHaveLength(1);
});

test.each<[script: unknown, says: string]>([
  ["Done.", 'createScriptedModel: script must be an array, not "Done."'],
  [[[{ name: "pay", input: {} }]], 'unknown option "name" of "script[0][0]". Known options: toolName, input'],
  [[[{ toolName: "pay", args: {} }]], 'unknown option "args" of "script[0][0]". Did you mean "input"?'],
  [[[{ toolName: "pay" }]], "script[0][0].input is missing"],
  [[{ toolCall: [] }], 'Did you mean "toolCalls"?'],
  [
    ["Hi.", 5],
    "script[1] must be a string, calls such as [{ toolName, input }], { text, toolCalls } or an Error",
  ],
])("a script that is misspelt is refused when it is written: %j", (script, says) => {
  expect(() => createScriptedModel(script as never)).toThrow(says);
});

test("an answer that a function computes is checked too", async () => {
  const model = createScriptedModel([() => ({ txt: "Hi." }) as never]);
  await expect(model.doGenerate({ prompt: [] })).rejects.toThrow(
    'unknown option "txt" of "script[0]()". Did you mean "text"?',
  );
});

const call = (toolName: string, input: object) => ({ toolName, input });

/** A request in the middle of a loop that made these calls, one in each response. */
function askedAfter(...calls: readonly object[]) {
  const steps = calls.flatMap((made) => [
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "c", ...made }] },
    { role: "tool", content: [] },
  ]);
  return { prompt: [...asked.prompt, ...steps] };
}

test("begins after the turns that a restarted run has replayed", async () => {
  const script = [[call("look", { at: "x" })], [call("move", { to: "x" })], "done"];
  const restarted = createScriptedModel(script);
  const { content } = await restarted.doGenerate(askedAfter(call("look", { at: "x" })));
  expect(content).toMatchObject([{ toolName: "move" }]);
  const next = await restarted.doGenerate(askedAfter(call("look", { at: "x" }), call("move", { to: "x" })));
  expect(next.content).toEqual([{ type: "text", text: "done" }]);
});

test.each([
  ["other calls", askedAfter(call("look", { at: "y" })), ["look"]],
  ["a new user message", { prompt: [...askedAfter(call("look", {})).prompt, ...asked.prompt] }, ["look"]],
])("begins with its first turn after %s", async (_, request, tools) => {
  const model = createScriptedModel([[call("look", { at: "x" })], "done"]);
  const { content } = await model.doGenerate(request);
  expect(content.map((part) => "toolName" in part && part.toolName)).toEqual(tools);
});

test("a script of the remaining turns begins with its first turn", async () => {
  const rest = createScriptedModel(["done"]);
  const { content } = await rest.doGenerate(askedAfter(call("look", { at: "x" })));
  expect(content).toEqual([{ type: "text", text: "done" }]);
});
