/**
 * The same program with AI SDK tools and with ours, made from them and written for us: what the model is sent,
 * what the program reads and what the hooks see are the same.
 */
import {
  convertToModelMessages,
  dynamicTool,
  generateText,
  hasToolCall,
  isStepCount,
  jsonSchema,
  Output,
  readUIMessageStream,
  streamText,
  tool as sdkTool,
  ToolLoopAgent,
  type ToolSet,
  type UIMessage,
  validateUIMessages,
} from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createRuntime, defineTool, fromTool, type ToolContext } from "../../src/index.ts";
import { type AISDKContext, toAISDKTools } from "../../src/adapters/ai-sdk/index.ts";
import { createScriptedModel, type ScriptedTurn } from "../../src/testing/index.ts";

const PNG = "iVBORw0KGgo=";
const city = z.object({ city: z.string() });

/** Everything that a program can observe of a call. */
function createProbe() {
  const seen: unknown[] = [];
  const note = (what: string, value: unknown): void => void seen.push([what, value]);
  return { seen, note };
}

type Probe = ReturnType<typeof createProbe>;

const SANDBOX = { description: "a sandbox" };

/** Tools as an AI SDK user writes them. */
function plainTools({ note }: Probe) {
  return {
    weather: sdkTool({
      description: "The weather in a city",
      title: "Weather",
      inputSchema: city,
      outputSchema: z.object({ degrees: z.number(), unit: z.string().optional() }),
      strict: true,
      inputExamples: [{ input: { city: "Bern" } }],
      providerOptions: { test: { cache: true } },
      metadata: { source: "here" },
      contextSchema: z.object({ userId: z.string() }),
      onInputStart: ({ toolCallId, context }) => note("start", [toolCallId, context]),
      onInputDelta: ({ inputTextDelta }) => note("delta", inputTextDelta),
      onInputAvailable: ({ input, context }) => note("available", [input, context]),
      execute: async ({ city: name }, options) => {
        const { toolCallId, messages, context, experimental_sandbox, abortSignal } = options;
        note("execute", [
          name,
          toolCallId,
          messages.length,
          context,
          experimental_sandbox,
          abortSignal?.aborted ?? false,
        ]);
        return { degrees: 21, unit: undefined };
      },
      toModelOutput: ({ toolCallId, input, output }) => ({
        type: "text",
        value: `${toolCallId} ${input.city}: ${output.degrees} degrees`,
      }),
    }),
    photo: sdkTool({
      description: "Takes a photo",
      inputSchema: city,
      execute: async () => ({ png: PNG }),
      toModelOutput: ({ output }) => ({
        type: "content",
        value: [
          { type: "text", text: "A photo" },
          { type: "file", mediaType: "image/png", data: { type: "data", data: output.png } },
        ],
      }),
    }),
    count: sdkTool({
      description: "Counts",
      inputSchema: z.object({ to: z.number() }),
      async *execute({ to }) {
        for (let at = 1; at <= to; at += 1) yield { at };
      },
    }),
    lookup: dynamicTool({
      description: "Looks up",
      inputSchema: jsonSchema({ type: "object", properties: { key: { type: "string" } } }),
      execute: async (input) => ({ found: (input as { key?: string }).key ?? null }),
    }),
    fail: sdkTool({
      description: "Fails",
      inputSchema: z.object({}),
      execute: async (): Promise<string> => {
        throw new Error("out of order");
      },
    }),
  };
}

type Make = (probe: Probe) => ToolSet;

/** The same tools, converted to ours. */
const throughUs: Make = (probe) => {
  const tools = Object.entries(plainTools(probe)).map(([name, tool]) =>
    fromTool(tool, { name, sideEffect: false }),
  );
  return toAISDKTools(tools);
};

interface Transcript {
  readonly [what: string]: unknown;
}

type Program = (tools: ToolSet, probe: Probe) => Promise<Transcript>;

const call = (toolName: string, input: unknown, toolCallId = "id-1") => ({ toolName, input, toolCallId });
const weatherTurn: ScriptedTurn = [call("weather", { city: "Bern" })];
const CONTEXT = {
  toolsContext: { weather: { userId: "ann" } },
  experimental_sandbox: SANDBOX,
} as unknown as { readonly toolsContext?: never };

const PROGRAMS: Readonly<Record<string, Program>> = {
  "generateText with hooks, context, sandbox and toModelOutput": async (tools, { seen }) => {
    const model = createScriptedModel([weatherTurn, "21"]);
    const result = await generateText({ model, tools, prompt: "?", stopWhen: isStepCount(3), ...CONTEXT });
    return {
      text: result.text,
      content: result.steps.map(({ content }) => content),
      prompts: promptsOf(model),
      seen,
    };
  },
  "streamText with hooks": async (tools, { seen }) => {
    const model = createScriptedModel([weatherTurn, "21"]);
    const result = streamText({ model, tools, prompt: "?", stopWhen: isStepCount(3), ...CONTEXT });
    const parts: unknown[] = [];
    for await (const part of result.stream) parts.push(shown(part));
    return { parts, prompts: promptsOf(model), seen };
  },
  "parallel calls": async (tools) => {
    const turn = ["a", "b", "c"].map((key) => call("lookup", { key }, `id-${key}`));
    const model = createScriptedModel([turn, "done"]);
    const { steps } = await generateText({ model, tools, prompt: "?", stopWhen: isStepCount(3) });
    return { content: steps.map(({ content }) => content), prompts: promptsOf(model) };
  },
  "images in toModelOutput": async (tools) => {
    const model = createScriptedModel([[call("photo", { city: "Bern" })], "nice"]);
    const { responseMessages } = await generateText({ model, tools, prompt: "?", stopWhen: isStepCount(3) });
    return { responseMessages, prompts: promptsOf(model) };
  },
  "preliminary results": async (tools) => {
    const model = createScriptedModel([[call("count", { to: 3 })], "done"]);
    const result = streamText({ model, tools, prompt: "?", stopWhen: isStepCount(3) });
    const parts: unknown[] = [];
    for await (const part of result.stream) if (part.type === "tool-result") parts.push(shown(part));
    return { parts, prompts: promptsOf(model) };
  },
  "prepareStep, activeTools and stopWhen": async (tools) => {
    const model = createScriptedModel([
      [call("lookup", { key: "a" })],
      [call("lookup", { key: "b" }, "id-2")],
    ]);
    const { steps } = await generateText({
      model,
      tools,
      prompt: "?",
      stopWhen: [isStepCount(2), hasToolCall("weather")],
      prepareStep: ({ stepNumber }) => ({ activeTools: stepNumber === 0 ? ["lookup"] : ["lookup", "photo"] }),
    });
    return {
      content: steps.map(({ content }) => content),
      names: model.requests.map(({ toolNames }) => toolNames),
    };
  },
  "structured output": async (tools) => {
    const model = createScriptedModel([[call("lookup", { key: "a" })], '{"answer":"a"}']);
    const result = await generateText({
      model,
      tools,
      prompt: "?",
      stopWhen: isStepCount(3),
      output: Output.object({ schema: z.object({ answer: z.string() }) }),
    });
    return { output: result.output, prompts: promptsOf(model) };
  },
  repair: async (tools) => {
    const model = createScriptedModel([[call("weather", { town: "Bern" })], "21"]);
    const { steps } = await generateText({
      model,
      tools,
      prompt: "?",
      stopWhen: isStepCount(3),
      ...CONTEXT,
      repairToolCall: async ({ toolCall, inputSchema }) => {
        const schema = await inputSchema(toolCall);
        const [field] = Object.keys(schema.properties ?? {});
        return { ...toolCall, input: JSON.stringify({ [field ?? ""]: "Bern" }) };
      },
    });
    return { content: steps.map(({ content }) => content), prompts: promptsOf(model) };
  },
  "a ToolLoopAgent, and its UI message stream": async (tools) => {
    const model = createScriptedModel([[call("lookup", { key: "a" })], "done"]);
    const agent = new ToolLoopAgent({ model, tools });
    const result = await agent.stream({ prompt: "?" });
    let last: UIMessage | undefined;
    for await (const message of readUIMessageStream({ stream: result.toUIMessageStream() })) last = message;
    const parts = last?.parts ?? [];
    const messages = [{ id: "m", role: "assistant" as const, parts }];
    const valid = await validateUIMessages({ messages, tools: tools as never });
    return { parts, valid: valid.length, model: await convertToModelMessages(valid, { tools }) };
  },
  "tools as the provider gets them": async (tools) => {
    const scripted = createScriptedModel(["ok"]);
    const model = new MockLanguageModelV4({ doGenerate: (options) => scripted.doGenerate(options) });
    await generateText({ model, tools, prompt: "?", ...CONTEXT });
    const shownTools = (model.doGenerateCalls[0]?.tools ?? []) as { inputSchema?: object }[];
    return { tools: shownTools.map(({ inputSchema: _schema, ...rest }) => rest) };
  },
  "an abort": async (tools) => {
    const controller = new AbortController();
    controller.abort(new Error("the user left"));
    const model = createScriptedModel([weatherTurn]);
    const options = { model, tools, prompt: "?", abortSignal: controller.signal };
    return { error: await generateText(options).then(String, (error: Error) => error.message) };
  },
};

function promptsOf(model: ReturnType<typeof createScriptedModel>): unknown {
  return model.requests.map(({ prompt }) => prompt);
}

/** Without times and ids that the SDK generates. */
function shown(part: unknown): unknown {
  const drop = new Set([
    "id",
    "timestamp",
    "performance",
    "response",
    "request",
    "messageId",
    "toolExecutionMs",
    "callId",
  ]);
  return JSON.parse(JSON.stringify(part, (name, value: unknown) => (drop.has(name) ? undefined : value)));
}

describe.each(Object.keys(PROGRAMS))("%s", (name) => {
  const run = async (make: Make): Promise<unknown> => {
    const probe = createProbe();
    return shown(await PROGRAMS[name]?.(make(probe), probe));
  };

  test("is the same with our tools, in a run and outside", async () => {
    const plain = await run((probe) => plainTools(probe));
    expect(await run(throughUs)).toEqual(plain);
    await using runtime = createRuntime({ store: ":memory:" });
    expect(await runtime.run({ runId: "r" }, () => run(throughUs))).toEqual(plain);
  });
});

test("an error has our standard shape, as JSON", async () => {
  const model = createScriptedModel([[call("fail", {})], "sorry"]);
  const tools = throughUs(createProbe());
  await generateText({ model, tools, prompt: "?", stopWhen: isStepCount(3) });
  expect(JSON.parse(String(model.requests[1]?.toolResults[0]?.output))).toMatchObject({
    is_error: true,
    message: "out of order",
  });
});

describe("one of our tools", () => {
  test("reads messages, context and sandbox in ctx", async () => {
    const seen: unknown[] = [];
    const whoami = defineTool({
      name: "whoami",
      schema: z.object({}),
      execute: (_args, ctx: ToolContext<AISDKContext<{ userId: string }>>) => {
        seen.push([ctx.context?.userId, ctx.messages?.length, ctx.experimental_sandbox]);
        return "ok";
      },
    });
    const options = {
      tools: { whoami } as unknown as ToolSet,
      prompt: "?",
      ...({ toolsContext: { whoami: { userId: "ann" } }, experimental_sandbox: SANDBOX } as object),
    };
    await generateText({ model: createScriptedModel([[call("whoami", {})]]), ...options });
    await using runtime = createRuntime({ store: ":memory:" });
    await runtime.run({ runId: "r" }, () =>
      generateText({ model: createScriptedModel([[call("whoami", {})]]), ...options }),
    );
    await runtime.call(whoami, {}, { runId: "other" });
    expect(seen).toEqual([
      ["ann", 1, SANDBOX],
      ["ann", 1, SANDBOX],
      [undefined, undefined, undefined],
    ]);
  });

  test("keeps a capability of the runtime with the same name", async () => {
    const seen: unknown[] = [];
    const read = defineTool({
      name: "read",
      schema: z.object({}),
      execute: (_args, ctx: ToolContext<{ context: string }>) => seen.push(ctx.context),
    });
    await using runtime = createRuntime({ store: ":memory:", capabilities: { context: "the program's" } });
    await runtime.run({ runId: "r" }, () =>
      generateText({
        model: createScriptedModel([[call("read", {})]]),
        tools: { read } as unknown as ToolSet,
        prompt: "?",
        ...({ toolsContext: { read: { userId: "ann" } } } as object),
      }),
    );
    expect(seen).toEqual(["the program's"]);
  });

  test("shows images as images", async () => {
    const photo = defineTool({
      name: "photo",
      schema: z.object({}),
      execute: () => [
        { type: "text", text: "A photo" },
        { type: "image", data: PNG, mimeType: "image/png" },
      ],
    });
    const model = createScriptedModel([[call("photo", {})], "nice"]);
    const { responseMessages } = await generateText({
      model,
      tools: { photo },
      prompt: "?",
      stopWhen: isStepCount(3),
    });
    expect(responseMessages[1]).toMatchObject({
      content: [
        {
          output: {
            type: "content",
            value: [
              { type: "text", text: "A photo" },
              { type: "file", mediaType: "image/png", data: { type: "data", data: PNG } },
            ],
          },
        },
      ],
    });
  });

  test("shows the values that a generator yields, and a replay shows the result", async () => {
    const count = defineTool({
      name: "count",
      schema: z.object({ to: z.number() }),
      async *execute({ to }) {
        for (let at = 1; at <= to; at += 1) yield { at };
      },
    });
    await using runtime = createRuntime({ store: ":memory:" });
    const results = () =>
      runtime.run({ runId: "r" }, async () => {
        const model = createScriptedModel([[call("count", { to: 2 })], "done"]);
        const tools = { count } as unknown as ToolSet;
        const parts: unknown[] = [];
        for await (const part of streamText({ model, tools, prompt: "?" }).stream)
          if (part.type === "tool-result") parts.push([part.preliminary ?? false, part.output]);
        return parts;
      });
    expect(await results()).toEqual([
      [true, { at: 1 }],
      [true, { at: 2 }],
      [false, { at: 2 }],
    ]);
    expect(await results()).toEqual([
      [true, { at: 2 }],
      [false, { at: 2 }],
    ]);
    expect(await count.execute({ to: 2 })).toEqual({ at: 2 });
  });
});
