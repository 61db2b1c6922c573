/** Agents inside tools: their responses are logged and found by request, in any order. */
import { generateText, isStepCount, streamText, ToolLoopAgent } from "ai";
import { createRuntime, createSmithers, defineTool, runWorkflow } from "toolwright";
import { recordModel, toAISDKTools } from "toolwright/ai-sdk";
import { jsx } from "toolwright/jsx-runtime";
import { createScriptedModel, type ScriptedModel } from "toolwright/testing";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { createStorePath, endAllOwners, rowsOf } from "../workflow/harness.ts";

/** Echoes its prompt, and counts the requests. */
function createEcho() {
  const asked: string[] = [];
  const model = createScriptedModel(
    [
      ({ text }) => {
        asked.push(text);
        return `answer to ${text}`;
      },
    ],
    { atEnd: "repeat-last" },
  );
  return { asked, model };
}

/** Runs two agents in parallel, and is interrupted after them the first time. */
function createResearch(model: ScriptedModel) {
  const agent = new ToolLoopAgent({ model: recordModel(model) });
  let starts = 0;
  const crash = Promise.withResolvers<void>();
  const research = defineTool({
    name: "research",
    schema: z.object({ topics: z.array(z.string()) }),
    idempotent: true,
    sideEffect: true,
    async execute({ topics }) {
      starts += 1;
      // The second time in reverse: the order of the responses must not matter.
      const order = starts === 1 ? topics : topics.toReversed();
      const answers = await Promise.all(order.map((prompt) => agent.generate({ prompt })));
      if (starts === 1) {
        crash.resolve();
        await new Promise(() => undefined);
      }
      const texts = answers.map(({ text }) => text);
      return starts === 1 ? texts : texts.toReversed();
    },
  });
  return { research, crashed: crash.promise };
}

test("rule 7: agents inside a tool do not request responses from before the crash again", async () => {
  const store = createStorePath();
  const { asked, model } = createEcho();
  const { research, crashed } = createResearch(model);
  const topics = ["birds", "fish", "birds"];
  const dying = createRuntime({ store });
  void dying.run({ runId: "r" }, () => research.invoke({ topics })).catch(() => undefined);
  await crashed;
  expect(asked.toSorted()).toEqual(["birds", "birds", "fish"]);
  await endAllOwners(store);
  await using runtime = createRuntime({ store });
  expect(await runtime.run({ runId: "r" }, () => research.invoke({ topics }))).toEqual(
    topics.map((topic) => `answer to ${topic}`),
  );
  expect(asked).toHaveLength(3);
});

test("in a workflow the responses are deleted at the end of their task", async () => {
  const store = createStorePath();
  const { asked, model } = createEcho();
  const agent = new ToolLoopAgent({ model: recordModel(model) });
  const ask = defineTool({
    name: "ask",
    schema: z.object({ prompt: z.string() }),
    execute: async ({ prompt }) => (await agent.generate({ prompt })).text,
  });
  const { Workflow, Task, smithers, outputs } = createSmithers({ result: z.string() }, { dbPath: store });
  const workflow = smithers(() =>
    jsx(Workflow, {
      name: "w",
      children: [
        jsx(Task, { id: "t", output: outputs.result, children: () => ask.invoke({ prompt: "birds" }) }),
        // The same model in an agent of a task: it is recorded once.
        jsx(Task, { id: "u", output: outputs.result, agent, children: "fish" }),
      ],
    }),
  );
  expect(await runWorkflow(workflow)).toMatchObject({ status: "finished" });
  expect(asked).toEqual(["birds", expect.stringContaining("fish")]);
  expect(await rowsOf(store, "SELECT 1 AS one FROM toolwright_responses")).toEqual([]);
});

test("an AI SDK model keeps its type", () => {
  const model = recordModel(new MockLanguageModelV4());
  expectTypeOf(model).toEqualTypeOf<MockLanguageModelV4>();
  expect(new ToolLoopAgent({ model })).toBeInstanceOf(ToolLoopAgent);
});

test("outside any run it is the model itself", async () => {
  const { asked, model } = createEcho();
  const recorded = recordModel(model);
  expect(recorded.modelId).toBe(model.modelId);
  const { text } = await generateText({ model: recorded, prompt: "birds" });
  expect([text, asked]).toEqual(["answer to birds", ["birds"]]);
});

test("a tool whose name a provider refuses is offered under another one, and logged under its own", async () => {
  const place = defineTool({
    name: "shop.order",
    schema: z.object({ sku: z.string() }),
    execute: ({ sku }) => sku,
  });
  const tools = toAISDKTools([place]);
  const [name = ""] = Object.keys(tools);
  expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  await using runtime = createRuntime({ store: ":memory:" });
  const model = createScriptedModel([[{ toolName: name, input: { sku: "a" } }], "Done."]);
  await runtime.run({ runId: "r" }, () =>
    generateText({ model, tools, prompt: "?", stopWhen: isStepCount(3) }),
  );
  expect(await runtime.calls()).toMatchObject([{ toolName: "shop.order", status: "success" }]);
});

test("models with the same prompt in parallel each give and replay their own response", async () => {
  const store = createStorePath();
  const models = ["one", "other"].map((modelId) =>
    Object.assign(createScriptedModel([`of ${modelId}`]), { modelId }),
  );
  const ask = async (model: ScriptedModel) =>
    (await generateText({ model: recordModel(model), prompt: "birds" })).text;
  for (const order of [models, models.toReversed()]) {
    await using runtime = createRuntime({ store });
    const answers = await runtime.run({ runId: "r" }, () => Promise.all(order.map(ask)));
    expect(answers).toEqual(order.map(({ modelId }) => `of ${modelId}`));
  }
});

test("one model with the same prompt from two agents receives two requests", async () => {
  const model = createScriptedModel(["first", "second"]);
  await using runtime = createRuntime({ store: ":memory:" });
  const texts = await runtime.run({ runId: "r" }, async () => [
    (await generateText({ model: recordModel(model), prompt: "birds" })).text,
    (await generateText({ model: recordModel(model), prompt: "birds" })).text,
  ]);
  expect(texts).toEqual(["first", "second"]);
});

type Part =
  Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never;

const order: Part = { type: "tool-call", toolCallId: "a", toolName: "order", input: '{"sku":"apple"}' };

test.each<{ how: string; broken: Part[] }>([
  { how: "says that it failed", broken: [order, { type: "error", error: new Error("overloaded") }] },
  { how: "just ends", broken: [order] },
])("a stream that $how is not logged, and none of its calls run", async ({ broken }) => {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 1, text: 1, reasoning: undefined },
  };
  const whole: Part[] = [
    { type: "text-start", id: "1" },
    { type: "text-delta", id: "1", delta: "Done." },
    { type: "text-end", id: "1" },
    { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage },
  ];
  const streams = [broken, whole];
  const model = recordModel(
    new MockLanguageModelV4({
      doStream: async () => ({ stream: simulateReadableStream({ chunks: streams.shift() ?? [] }) }),
    }),
  );
  const placed: string[] = [];
  const tools = {
    order: defineTool({
      name: "order",
      schema: z.object({ sku: z.string() }),
      execute: ({ sku }) => placed.push(sku),
    }),
  };
  const store = createStorePath();
  const go = async () => {
    const errors: unknown[] = [];
    await using runtime = createRuntime({ store });
    return runtime.run({ runId: "r" }, async () => {
      const { textStream } = streamText({
        model,
        tools,
        prompt: "?",
        onError: ({ error }) => void errors.push(error),
      });
      let text = "";
      for await (const delta of textStream) text += delta;
      return { text, failed: errors.length > 0 };
    });
  };
  expect(await go()).toEqual({ text: "", failed: true });
  expect(await go()).toEqual({ text: "Done.", failed: false });
  expect(await go()).toEqual({ text: "Done.", failed: false });
  expect(placed).toEqual([]);
});
