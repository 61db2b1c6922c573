/** Our tools in the AI SDK's loops, unchanged. */
import { generateText, isStepCount, streamText, ToolLoopAgent } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { expect, test } from "vitest";
import { z } from "zod";
import { createRuntime, defineTool } from "../../src/index.ts";
import { toAISDKTools } from "../../src/adapters/ai-sdk/index.ts";
import { createScriptedModel } from "../../src/testing/index.ts";
import { createPay, weather } from "../loop-tools.ts";

const tools = { weather };
const askForBern = [{ toolName: "weather", input: { city: "Bern" }, toolCallId: "id-1" }];

test("generateText runs a tool, and the call is logged with the model's id", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const model = createScriptedModel([askForBern, "It is 21 degrees."]);
  const { text } = await runtime.run({ runId: "run-1" }, () =>
    generateText({ model, tools, prompt: "How is Bern?", stopWhen: isStepCount(3) }),
  );
  expect(text).toBe("It is 21 degrees.");
  expect(await runtime.calls({ runId: "run-1" })).toMatchObject([
    {
      toolName: "weather",
      toolCallId: "id-1",
      status: "success",
      outputJson: '{"city":"Bern","degrees":21,"unit":"C"}',
    },
  ]);
});

test("streamText runs a tool, and the call is logged", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const model = createScriptedModel([askForBern, "It is 21 degrees."]);
  const text = await runtime.run({ runId: "run-1" }, async () => {
    const result = streamText({ model, tools, prompt: "How is Bern?", stopWhen: isStepCount(3) });
    await result.consumeStream();
    return result.text;
  });
  expect(text).toBe("It is 21 degrees.");
  expect(await runtime.calls({ runId: "run-1" })).toMatchObject([{ toolCallId: "id-1", status: "success" }]);
});

test("a ToolLoopAgent runs several calls of one response, and each is logged in its order", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const model = createScriptedModel([
    ["Bern", "Chur", "Bern"].map((city) => ({ toolName: "weather", input: { city } })),
    "All the same.",
  ]);
  const agent = new ToolLoopAgent({ model, tools });
  const { text } = await runtime.run({ runId: "run-1" }, () => agent.generate({ prompt: "How is it?" }));
  expect(text).toBe("All the same.");
  const calls = await runtime.calls({ runId: "run-1" });
  expect(calls.map(({ toolCallId, seq }) => [toolCallId, seq])).toEqual([
    ["call-1", 1],
    ["call-2", 2],
    ["call-3", 3],
  ]);
  expect(new Set(calls.map(({ key }) => key)).size).toBe(3);
});

test("the AI SDK's own mock model drives a tool just as well", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const scripted = createScriptedModel([askForBern, "done"]);
  const model = new MockLanguageModelV4({ doGenerate: (options) => scripted.doGenerate(options) });
  await runtime.run({ runId: "run-1" }, () =>
    generateText({ model, tools, prompt: "How is Bern?", stopWhen: isStepCount(3) }),
  );
  expect(model.doGenerateCalls).toHaveLength(2);
  expect(await runtime.calls({ runId: "run-1" })).toMatchObject([{ toolCallId: "id-1" }]);
});

test("a name with a dot is the tool's name in the loop and in the log", async () => {
  const placeOrder = defineTool({
    name: "shop.place_order",
    schema: z.object({ sku: z.string() }),
    sideEffect: true,
    execute: ({ sku }, ctx) => ({ sku, key: ctx.idempotencyKey }),
  });
  await using runtime = createRuntime({ store: ":memory:" });
  const model = createScriptedModel([[{ toolName: "shop.place_order", input: { sku: "a" } }], "done"]);
  await runtime.run({ runId: "run-1" }, () =>
    generateText({
      model,
      tools: { [placeOrder.name]: placeOrder },
      prompt: "Order a.",
      stopWhen: isStepCount(3),
    }),
  );
  expect(await runtime.calls({ runId: "run-1" })).toMatchObject([
    { toolName: "shop.place_order", status: "success" },
  ]);
});

test("the model receives the input's JSON Schema, in which a field with a default is not required", async () => {
  const greet = defineTool({
    name: "greet",
    schema: z.object({ name: z.string(), greeting: z.string().default("Hello") }),
    execute: ({ name, greeting }) => `${greeting} ${name}`,
  });
  const model = new MockLanguageModelV4({
    doGenerate: async (options) => createScriptedModel(["ok"]).doGenerate(options),
  });
  await generateText({ model, tools: { greet }, prompt: "Greet Ada." });
  expect(model.doGenerateCalls[0]?.tools).toMatchObject([
    {
      name: "greet",
      inputSchema: { required: ["name"], properties: { greeting: { default: "Hello" } } },
    },
  ]);
});

test("invalid input is answered in the standard error shape, logged, and not run", async () => {
  const { pay, paid } = createPay();
  await using runtime = createRuntime({ store: ":memory:" });
  const model = createScriptedModel([[{ toolName: "pay", input: { amount: -1 } }], "sorry"]);
  const result = await runtime.run({ runId: "run-1" }, () =>
    generateText({ model, tools: { pay }, prompt: "Pay.", stopWhen: isStepCount(3) }),
  );
  const [, second] = model.requests;
  const answer = second?.prompt.at(-1)?.content as { output: { type: string; value: string } }[];
  expect(answer[0]?.output.type).toBe("error-text");
  const value = answer[0]?.output.value ?? "";
  expect(JSON.parse(value.slice(value.indexOf("{")))).toEqual({
    is_error: true,
    error_type: "input_invalid",
    message: expect.stringContaining("amount"),
    next_action_hint: expect.any(String),
  });
  expect(result.steps[0]?.content.some(({ type }) => type === "tool-error")).toBe(true);
  expect(paid).toEqual([]);
  expect(await runtime.calls({ runId: "run-1" })).toMatchObject([
    { status: "error", inputJson: '{"amount":-1}', tries: 0 },
  ]);
});

test("outside any run a tool works in a loop, and nothing is logged", async () => {
  const model = createScriptedModel([askForBern, "done"]);
  const { steps } = await generateText({ model, tools, prompt: "Bern?", stopWhen: isStepCount(3) });
  expect(steps[0]?.toolResults).toMatchObject([{ output: { degrees: 21 } }]);
});

test("an input that is not an object is offered inside of one, and the log has the original arguments", async () => {
  const schema = z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("name"), name: z.string() }),
    z.object({ kind: z.literal("id"), id: z.int() }),
  ]);
  const seen: unknown[] = [];
  const find = defineTool({
    name: "find",
    schema,
    needsApproval: (args) => args.kind === "id",
    execute: (args) => {
      seen.push(args);
      return "found";
    },
  });
  const offered = toAISDKTools([find]);
  const model = createScriptedModel([
    [
      { toolName: "find", input: { input: { kind: "name", name: "ann" } } },
      { toolName: "find", input: { input: { kind: "id", id: 7 } } },
    ],
    "Done.",
  ]);
  await using runtime = createRuntime({ store: ":memory:" });
  await runtime.run({ runId: "r" }, () =>
    generateText({ model, tools: offered, prompt: "?", stopWhen: isStepCount(3) }),
  );
  expect(offered["find"]?.inputSchema.jsonSchema).toMatchObject({
    type: "object",
    properties: { input: { oneOf: [{}, {}] } },
    required: ["input"],
  });
  expect(seen).toEqual([{ kind: "name", name: "ann" }]);
  expect(await runtime.approvals({ status: "pending" })).toMatchObject([{ args: { kind: "id", id: 7 } }]);
});
