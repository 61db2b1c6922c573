/** One value and one error, every reader: the command line, MCP, the model in each loop, the agent's history, the log. */
import Anthropic from "@anthropic-ai/sdk";
import { ToolMessage } from "@langchain/core/messages/tool";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { RunContext } from "@openai/agents";
import { generateText, isStepCount } from "ai";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import {
  createRuntime,
  createSmartAgent,
  defineTool,
  runAgentLoop,
  type Runtime,
  type Tool,
} from "toolwright";
import { toLangChainTool } from "toolwright/langchain";
import { createMcpServer } from "toolwright/mcp";
import { toOpenAIAgentTool } from "toolwright/openai-agents";
import { createScriptedAnthropic, createScriptedModel } from "toolwright/testing";
import { resultsIn } from "./anthropic/harness.ts";
import { run } from "./commander/program.ts";

let runtime: Runtime;
beforeEach(() => {
  runtime = createRuntime({ store: ":memory:" });
  onTestFinished(() => runtime[Symbol.asyncDispose]());
});

/** The text that each model reads. */
const MODELS: Readonly<Record<string, (tool: Tool) => Promise<string>>> = {
  "the AI SDK": async (tool) => {
    const model = createScriptedModel([[{ toolName: "show", input: {} }], "Done."]);
    await runtime.run({ runId: "ai-sdk" }, () =>
      generateText({ model, tools: { show: tool }, prompt: "?", stopWhen: isStepCount(3) }),
    );
    return textOf(model.requests[1]?.toolResults[0]?.output);
  },
  "the Anthropic SDK": async (tool) => {
    const server = await createScriptedAnthropic([[{ toolName: "show", input: {} }], "Done."]);
    onTestFinished(() => server[Symbol.asyncDispose]());
    const client = new Anthropic({ baseURL: server.baseURL, apiKey: "any" });
    const messages = [{ role: "user" as const, content: "?" }];
    await runAgentLoop({ client, model: "m", messages, tools: [tool], runtime, runId: "anthropic" });
    return textOf(resultsIn(server.requests[1]?.body.messages.at(-1))[0]?.["content"]);
  },
  LangChain: async (tool) => {
    const call = { type: "tool_call" as const, id: "c1", name: "show", args: {} };
    const message: unknown = await runtime.run({ runId: "langchain" }, () =>
      toLangChainTool(tool).invoke(call),
    );
    if (!ToolMessage.isInstance(message)) throw new Error("no tool message");
    return textOf(message.content);
  },
  "OpenAI Agents": async (tool) => {
    const made = toOpenAIAgentTool(tool);
    return textOf(await runtime.run({ runId: "openai" }, () => made.invoke(new RunContext(), "{}")));
  },
  "the smart agent": async (tool) => {
    const model = createScriptedModel([[{ toolName: "show", input: {} }], "Done."]);
    const agent = createSmartAgent({ model, runtime, tools: [tool] });
    const { messages } = await agent.invoke({ messages: [{ role: "user", content: "?" }], runId: "smart" });
    return textOf(messages.find(({ role }) => role === "tool")?.content);
  },
  MCP: async (tool) => {
    const { content } = await callOverMcp(tool);
    return (content as { text: string }[])[0]?.text ?? "";
  },
  "the command line": async (tool) => (await run([tool], ["show", "--json"], { runtime })).stdout,
};

function textOf(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content);
}

async function callOverMcp(tool: Tool) {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await createMcpServer({ tools: [tool], runtime }).connect(far);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(near);
  const result = await client.callTool({ name: "show", arguments: {} });
  await client.close();
  return result;
}

/** Everything that plain JSON has no form for. */
const VALUE = {
  fruit: new Map([["apple", 3]]),
  byNumber: new Map<unknown, unknown>([
    [1, "one"],
    ["1", "text"],
  ]),
  set: new Set(["a", "b"]),
  at: new Date(0),
  never: new Date(Number.NaN),
  big: 2n ** 70n,
  bytes: Buffer.from("hi"),
  plainBytes: new Uint8Array([104, 105]),
  gone: undefined,
  inside: { gone: undefined, kept: 1 },
  // oxlint-disable-next-line eslint/no-sparse-arrays
  holes: [1, , undefined, 2],
  nan: Number.NaN,
  infinite: -Infinity,
  failed: new RangeError("out of range"),
  tagged: { $type: "map", value: [] },
};

const SHOWN = {
  fruit: { apple: 3 },
  byNumber: [
    [1, "one"],
    ["1", "text"],
  ],
  set: ["a", "b"],
  at: "1970-01-01T00:00:00.000Z",
  never: "Invalid Date",
  big: "1180591620717411303424",
  bytes: "aGk=",
  plainBytes: "aGk=",
  inside: { kept: 1 },
  holes: [1, null, null, 2],
  nan: "NaN",
  infinite: "-Infinity",
  failed: { name: "RangeError", message: "out of range" },
  tagged: { $type: "map", value: [] },
};

const asking = defineTool({
  name: "ask",
  schema: z.object({}),
  needsApproval: true,
  execute: () => "asked",
});

function showing(output: unknown): Tool {
  const tool = defineTool({ name: "show", schema: z.object({}), execute: () => output });
  return tool;
}

describe("a value has one form", () => {
  test.each(Object.keys(MODELS))("for %s", async (name) => {
    expect(JSON.parse((await MODELS[name]?.(showing(VALUE))) ?? "")).toEqual(SHOWN);
  });

  test("for readers of the run's stream, live and late", async () => {
    const called = Promise.withResolvers<void>();
    const show = defineTool({
      name: "show",
      schema: z.object({}),
      execute: async () => {
        await called.promise;
        return VALUE;
      },
    });
    const read = async (): Promise<unknown> => {
      for await (const part of runtime.stream("smart")) {
        if (part.type === "tool-call") called.resolve();
        if (part.type === "tool-result") return part.output;
      }
      return undefined;
    };
    const model = createScriptedModel([
      [
        { toolName: "show", input: {} },
        { toolName: "ask", input: {} },
      ],
    ]);
    const live = read();
    const agent = createSmartAgent({ model, runtime, tools: [show, asking] });
    await agent.invoke({ messages: [{ role: "user", content: "?" }], runId: "smart" });
    // The run waits for a decision about the other call.
    expect([await live, await read()]).toEqual([SHOWN, SHOWN]);
  });

  test("in MCP structured content", async () => {
    expect((await callOverMcp(showing(VALUE))).structuredContent).toEqual(SHOWN);
  });

  test("in the history and the cache of the smart agent, which stay JSON", async () => {
    const tool = defineTool({ name: "show", schema: z.object({}), cache: true, execute: () => VALUE });
    const model = createScriptedModel([[{ toolName: "show", input: {} }], "Done."]);
    const agent = createSmartAgent({ model, runtime, tools: [tool] });
    const { state } = await agent.invoke({ messages: [{ role: "user", content: "?" }] });
    expect(state.toolHistory[0]?.output).toEqual(SHOWN);
    expect(Object.values(state.toolCache)).toMatchObject([{ output: SHOWN }]);
    expect(JSON.parse(JSON.stringify(state))).toEqual(state);
  });

  test("in the preview of a result that is too long for the log", async () => {
    const small = createRuntime({ store: ":memory:", maxOutputBytes: 300 });
    onTestFinished(() => small[Symbol.asyncDispose]());
    const output = new Map([["apple", "a".repeat(400)]]);
    await small.call(showing(output), {}, { runId: "r" });
    const [row] = await small.calls({ runId: "r" });
    const { preview } = JSON.parse(row?.outputJson ?? "") as { preview: string };
    expect(preview).toMatch(/^\{"apple":"aaa/);
    // The program gets the map itself, live and replayed.
    expect(await small.fullOutput(row?.key ?? "")).toEqual(output);
  });

  test("and a program gets the value itself, live and replayed", async () => {
    const { failed: _error, ...value } = VALUE;
    const call = () => runtime.call(showing(value), {}, { runId: "r", callKey: "1" });
    expect(await call()).toMatchObject({ status: "success", output: value, replayed: false });
    expect(await call()).toMatchObject({ status: "success", output: value, replayed: true });
  });
});

describe("an error has one text, which is JSON", () => {
  const failing = (thrown: unknown): Tool =>
    defineTool({
      name: "show",
      schema: z.object({}),
      execute(): unknown {
        throw thrown;
      },
    });

  test.each(Object.keys(MODELS))("for %s", async (name) => {
    const declined = Object.assign(new Error("The card was declined."), {
      code: "card_declined",
      status: 402,
      error_type: "payment_refused",
      next_action_hint: "Ask for another card.",
    });
    expect(JSON.parse((await MODELS[name]?.(failing(declined))) ?? "")).toEqual({
      is_error: true,
      error_type: "payment_refused",
      message: "The card was declined.",
      next_action_hint: "Ask for another card.",
      code: "card_declined",
      status: 402,
    });
  });
});
