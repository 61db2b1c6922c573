/**
 * The same program with the SDK's own tools and with ours: the model, the guardrails and the listeners see the same.
 */
import {
  Agent,
  type AgentInputItem,
  handoff,
  MemorySession,
  type ModelRequest,
  type RunContext,
  RunState,
  tool as plainTool,
  ToolGuardrailFunctionOutputFactory,
} from "@openai/agents";
import { ScriptedModel } from "@openai/agents/testing";
import { createRuntime, defineTool, type ToolContext } from "toolwright";
import {
  type OpenAIAgentsContext,
  type OpenAIAgentToolOptions,
  toOpenAIAgentTool,
} from "toolwright/openai-agents";
import { expect, test } from "vitest";
import { z } from "zod";
import { calls, runner, say } from "./harness.ts";

type AgentTool = NonNullable<ConstructorParameters<typeof Agent>[0]["tools"]>[number];
type Work = (args: Record<string, unknown>, runContext: RunContext<{ user: string }> | undefined) => unknown;
type Make = (
  name: string,
  work: Work,
  options?: OpenAIAgentToolOptions & { needsApproval?: boolean },
) => AgentTool;

const schema = z.object({ what: z.string() });
const parameters = {
  type: "object",
  properties: { what: { type: "string" } },
  required: ["what"],
  additionalProperties: true,
};

const plain: Make = (name, work, options = {}) =>
  plainTool({
    name,
    description: name,
    parameters: parameters as never,
    strict: false,
    execute: work as never,
    ...(options as object),
  }) as AgentTool;

const ours: Make = (name, work, { needsApproval, ...options } = {}) =>
  toOpenAIAgentTool(
    defineTool({
      name,
      description: name,
      schema,
      ...(needsApproval === undefined ? {} : { needsApproval }),
      execute: (args, ctx: ToolContext<OpenAIAgentsContext<{ user: string }>>) => work(args, ctx.runContext),
    }),
    options,
  ) as AgentTool;

/** Runs the program with both, ours inside a run, and compares the results. */
async function beside<T>(program: (make: Make) => Promise<T>): Promise<T> {
  const expected = await program(plain);
  // With this option our tool obeys the state of the loop, as a plain tool does.
  await using runtime = createRuntime({ store: ":memory:", trustMessageApprovals: true });
  expect(await runtime.run({ runId: "run-1" }, () => program(ours))).toEqual(expected);
  return expected;
}

/** The calls, results and messages of a request. */
function shown(request: Readonly<ModelRequest> | undefined): unknown {
  if (typeof request?.input === "string") return request.input;
  return request?.input.map(({ id: _id, ...item }: AgentInputItem) => item);
}

function toolsIn(request: Readonly<ModelRequest> | undefined): unknown {
  return request?.tools.map(({ ...tool }) => {
    const { parameters: { $schema: _schema, additionalProperties: _more, ...shape } = {} } = tool as {
      parameters?: Record<string, unknown>;
    };
    return { ...tool, parameters: shape };
  });
}

const png = "data:image/png;base64,iVBORw0KGgo=";
const outputs: Record<string, unknown> = {
  text: "sunny",
  object: { degrees: 21, days: [1, 2], nested: { ok: true, none: null } },
  list: ["a", { b: 1 }],
  "empty list": [],
  "text part": { type: "text", text: "sunny" },
  "an image": { type: "image", image: png, detail: "low" },
  "an image by id": { type: "image", image: { fileId: "file-1" } },
  "an image and text": [
    { type: "text", text: "a chart" },
    { type: "image", image: { data: "iVBORw0KGgo=", mediaType: "image/png" } },
  ],
  "a file": { type: "file", file: { data: "AAAA", mediaType: "application/pdf", filename: "a.pdf" } },
};

test.each(Object.entries(outputs))("an output that is %s", async (_name, output) => {
  await beside(async (make) => {
    const model = new ScriptedModel([calls(["look", { what: "sky" }, "1"]), say("ok")]);
    const agent = new Agent({ name: "A", model, tools: [make("look", () => output)] });
    const result = await runner.run(agent, "Go.");
    return [
      shown(model.calls[1]?.request),
      toolsIn(model.calls[0]?.request),
      result.finalOutput,
      result.newItems.map((item) => [item.type, "output" in item ? item.output : undefined]).slice(0, 2),
    ];
  });
});

test("images in the forms of other SDKs are images, too", async () => {
  const look = defineTool({
    name: "look",
    schema,
    execute: () => ({
      content: [
        { type: "text", text: "a chart" },
        { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
      ],
    }),
  });
  const model = new ScriptedModel([calls(["look", { what: "sky" }, "1"]), say("ok")]);
  await runner.run(new Agent({ name: "A", model, tools: [toOpenAIAgentTool(look)] }), "Go.");
  expect(shown(model.calls[1]?.request)).toMatchObject([
    {},
    { type: "function_call" },
    {
      type: "function_call_result",
      output: [
        { type: "input_text", text: "a chart" },
        { type: "input_image", image: png },
      ],
    },
  ]);
});

test.each(["stop_on_first_tool", "run_llm_again"] as const)(
  "%s, with a structured final output",
  async (toolUseBehavior) => {
    await beside(async (make) => {
      const model = new ScriptedModel([calls(["look", { what: "sky" }, "1"]), say('{"degrees":3}')]);
      const agent = new Agent({
        name: "A",
        model,
        tools: [make("look", () => ({ degrees: 21 }))],
        toolUseBehavior,
        outputType: z.object({ degrees: z.number() }),
      });
      return (await runner.run(agent, "Go.")).finalOutput;
    });
  },
);

test("the context of the run reaches the tool, and the tool may change it", async () => {
  const [, context] = await beside(async (make) => {
    const context = { user: "Ada", seen: [] as string[] };
    const model = new ScriptedModel([calls(["who", { what: "me" }, "1"]), say("ok")]);
    const agent = new Agent<typeof context>({
      name: "A",
      model,
      tools: [
        make("who", (_args, runContext) => {
          const found = runContext?.context as typeof context | undefined;
          found?.seen.push("who");
          return found?.user;
        }) as never,
      ],
    });
    await runner.run(agent, "Go.", { context });
    return [shown(model.calls[1]?.request), context];
  });
  expect(context).toEqual({ user: "Ada", seen: ["who"] });
});

test.each([true, false])(
  "an interruption is decided, and the loop resumes from its serialized state (approved: %s)",
  async (approved) => {
    const [seen] = await beside(async (make) => {
      const effects: unknown[] = [];
      const model = new ScriptedModel([
        calls(["pay", { what: "a" }, "1"], ["look", { what: "b" }, "2"]),
        say("ok"),
      ]);
      const agent = new Agent({
        name: "A",
        model,
        tools: [
          make("pay", ({ what }) => (effects.push(what), "paid"), { needsApproval: true }),
          make("look", () => "seen"),
        ],
      });
      const paused = await runner.run(agent, "Go.");
      const interruptions = paused.interruptions.map(({ name, arguments: args }) => [name, args]);
      const state = await RunState.fromString(agent, paused.state.toString());
      for (const item of state.getInterruptions()) {
        if (approved) state.approve(item);
        else state.reject(item);
      }
      const done = await runner.run(agent, state);
      const answers = (shown(model.calls[1]?.request) as { type: string }[]).filter(
        ({ type }) => type === "function_call_result",
      );
      return [effects, interruptions, answers, done.finalOutput];
    });
    expect(seen).toEqual(approved ? ["a"] : []);
  },
);

test("guardrails of tools see the input and the output, and may replace it", async () => {
  await beside(async (make) => {
    const seen: unknown[] = [];
    const model = new ScriptedModel([
      calls(
        ["look", { what: "secret" }, "1"],
        ["look", { what: "sky" }, "2"],
        ["look", { what: "dark" }, "3"],
      ),
      say("ok"),
    ]);
    const look = make("look", ({ what }) => ({ saw: what }), {
      inputGuardrails: [
        {
          type: "tool_input",
          name: "no secrets",
          run: async ({ toolCall }) =>
            toolCall.arguments.includes("secret")
              ? ToolGuardrailFunctionOutputFactory.rejectContent("not allowed")
              : ToolGuardrailFunctionOutputFactory.allow(),
        },
      ],
      outputGuardrails: [
        {
          type: "tool_output",
          name: "no dark",
          run: async ({ output }) => {
            seen.push(output);
            return JSON.stringify(output).includes("dark")
              ? ToolGuardrailFunctionOutputFactory.rejectContent("hidden")
              : ToolGuardrailFunctionOutputFactory.allow();
          },
        },
      ],
    });
    await runner.run(new Agent({ name: "A", model, tools: [look] }), "Go.");
    return [shown(model.calls[1]?.request), seen];
  });
});

test("handoffs, sessions and switched-off tools", async () => {
  await beside(async (make) => {
    const session = new MemorySession({ sessionId: "s" });
    const clerkModel = new ScriptedModel([calls(["look", { what: "a" }, "2"]), say("from the clerk")]);
    const off = make("off", () => "never", { isEnabled: false });
    const clerk = new Agent({ name: "Clerk", model: clerkModel, tools: [make("look", () => "seen"), off] });
    const model = new ScriptedModel([calls(["transfer_to_Clerk", {}, "1"])]);
    const agent = new Agent({ name: "A", model, tools: [], handoffs: [handoff(clerk)] });
    const result = await runner.run(agent, "Go.", { session });
    const items = (await session.getItems()).map(({ id: _id, ...item }) => item);
    return [result.finalOutput, result.lastAgent?.name, items, toolsIn(clerkModel.calls[0]?.request)];
  });
});

test("streamed events are the same, in the same order", async () => {
  await beside(async (make) => {
    const model = new ScriptedModel([calls(["look", { what: "a" }, "1"]), say("ok")]);
    const agent = new Agent({ name: "A", model, tools: [make("look", () => ({ saw: "a" }))] });
    const stream = await runner.run(agent, "Go.", { stream: true });
    const events: unknown[] = [];
    for await (const event of stream) {
      if (event.type === "run_item_stream_event") events.push([event.name, event.item.type]);
    }
    await stream.completed;
    return [events, stream.finalOutput];
  });
});

test("hooks of the agent are notified of the tool, with its result", async () => {
  await beside(async (make) => {
    const heard: unknown[] = [];
    const model = new ScriptedModel([calls(["look", { what: "a" }, "1"]), say("ok")]);
    const agent = new Agent({ name: "A", model, tools: [make("look", () => ({ saw: "a" }))] });
    agent.on("agent_tool_start", (_context, tool) => heard.push(["start", tool.name]));
    agent.on("agent_tool_end", (_context, tool, result) => heard.push(["end", tool.name, result]));
    await runner.run(agent, "Go.");
    return heard;
  });
});

test("errorFunction sets the text that the model reads, and null ends the loop", async () => {
  await beside(async (make) => {
    const fail = () => {
      throw new Error("the shop is closed");
    };
    const results: unknown[] = [];
    for (const errorFunction of [
      (_context: unknown, error: unknown) => `sorry: ${(error as Error).message}`,
      null,
    ]) {
      const model = new ScriptedModel([
        calls(["look", { what: `${errorFunction === null}` }, "1"]),
        say("ok"),
      ]);
      const agent = new Agent({ name: "A", model, tools: [make("look", fail, { errorFunction })] });
      const ended = await runner.run(agent, "Go.").then(
        () => shown(model.calls[1]?.request),
        (error: unknown) => [(error as Error).constructor.name, String(error).includes("the shop is closed")],
      );
      results.push(ended);
    }
    return results;
  });
});

test("a strict tool is offered as strict, and a tool that strict mode cannot express is refused by name", async () => {
  const strict = toOpenAIAgentTool(defineTool({ name: "look", schema, execute: () => "" }), { strict: true });
  const own = plainTool({
    name: "look",
    description: "look",
    parameters: schema,
    strict: true,
    execute: () => "",
  });
  expect(strict.strict).toBe(own.strict);
  expect(strict.parameters).toMatchObject({ additionalProperties: false, required: ["what"] });
  const nested = z.object({ at: z.object({ city: z.string(), zip: z.string().optional() }) });
  const make = (shape: z.ZodObject) => () =>
    toOpenAIAgentTool(defineTool({ name: "look", schema: shape, execute: () => "" }), { strict: true });
  expect(make(nested)).toThrow(/"at\.zip" is optional/);
  expect(make(z.object({ any: z.record(z.string(), z.string()) }))).toThrow(/field "any" accepts any field/);
});

test("invalid options are refused by name", () => {
  const look = defineTool({ name: "look", schema, execute: () => "" });
  expect(() => toOpenAIAgentTool(look, { strikt: true } as never)).toThrow(
    /unknown option "strikt"\. Did you mean "strict"\?/,
  );
  expect(() => toOpenAIAgentTool(look, { strict: "true" as never })).toThrow(/strict must be true or false/);
  expect(() => toOpenAIAgentTool(look, { isEnabled: "false" as never })).toThrow(/isEnabled must be/);
  expect(() => toOpenAIAgentTool(look, { errorFunction: "no" as never })).toThrow(/errorFunction must be/);
});
