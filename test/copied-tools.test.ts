/** Every consumer honours or refuses a copy of a tool: a guard that was added to the copy never gets lost. */
import Anthropic from "@anthropic-ai/sdk";
import { RunContext } from "@openai/agents";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { generateText, isStepCount, jsonSchema } from "ai";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import {
  createRegistry,
  createRuntime,
  createSmartAgent,
  defineTool,
  fromTool,
  runAgentLoop,
  type Runtime,
  type Tool,
} from "toolwright";
import { toAISDKTools } from "toolwright/ai-sdk";
import { toLangChainTools } from "toolwright/langchain";
import { createMcpServer } from "toolwright/mcp";
import { toOpenAIAgentTools } from "toolwright/openai-agents";
import { createScriptedAnthropic, createScriptedModel } from "toolwright/testing";
import { run } from "./commander/program.ts";

type Pay = Tool<{ amount: number }, string>;

interface Till {
  readonly pay: Pay;
  readonly paid: number[];
}

function createTill(): Till {
  const paid: number[] = [];
  const pay = defineTool({
    name: "pay",
    schema: z.object({ amount: z.number() }),
    sideEffect: true,
    execute: ({ amount }, ctx) => {
      void ctx.idempotencyKey;
      paid.push(amount);
      return `paid ${amount}`;
    },
  });
  return { pay, paid };
}

const ARGS = { amount: 100 };
const CALL = [{ toolName: "pay", input: ARGS, toolCallId: "id-1" }];

/** Each calls the tool once with 100. */
const CONSUMERS: Readonly<Record<string, (tool: Pay, runtime: Runtime) => Promise<unknown>>> = {
  "runtime.call": (tool, runtime) => runtime.call(tool, ARGS, { runId: "r" }),
  "its own execute": (tool, runtime) => runtime.run({ runId: "r" }, () => tool.execute(ARGS)),
  "its own invoke": (tool, runtime) => runtime.run({ runId: "r" }, () => tool.invoke(ARGS)),
  "its own func": (tool, runtime) => runtime.run({ runId: "r" }, () => tool.func(ARGS)),
  fromTool: (tool, runtime) => runtime.call(fromTool(tool), ARGS, { runId: "r" }),
  "fromTool with a policy": (tool, runtime) =>
    runtime.call(fromTool(tool, { timeoutMs: 5_000 }), ARGS, { runId: "r" }),
  "a registry": (tool, runtime) =>
    runtime.call(createRegistry([tool]).get("pay") as Tool, ARGS, { runId: "r" }),
  "the AI SDK": (tool, runtime) => inAISDK({ pay: tool }, runtime),
  toAISDKTools: (tool, runtime) => inAISDK(toAISDKTools([tool]), runtime),
  "toAISDKTools of a record": (tool, runtime) => inAISDK(toAISDKTools({ pay: tool }), runtime),
  LangChain: async (tool, runtime) => {
    const [made] = toLangChainTools([tool]);
    const call = { type: "tool_call" as const, name: "pay", args: ARGS, id: "id-1" };
    return runtime.run({ runId: "r" }, () => made?.invoke(call));
  },
  "OpenAI Agents": async (tool, runtime) => {
    const [made] = toOpenAIAgentTools([tool]);
    return runtime.run({ runId: "r" }, () => made?.invoke(new RunContext(), JSON.stringify(ARGS)));
  },
  runAgentLoop: async (tool, runtime) => {
    const server = await createScriptedAnthropic([CALL, "Done."]);
    onTestFinished(() => server[Symbol.asyncDispose]());
    const client = new Anthropic({ baseURL: server.baseURL, apiKey: "any" });
    const messages = [{ role: "user" as const, content: "?" }];
    return runAgentLoop({ client, model: "m", messages, tools: [tool], runtime, runId: "r" });
  },
  "the smart agent": (tool, runtime) => {
    const agent = createSmartAgent({ model: createScriptedModel([CALL, "Done."]), tools: [tool], runtime });
    return agent.invoke({ messages: [{ role: "user", content: "?" }] });
  },
  MCP: async (tool, runtime) => {
    const [near, far] = InMemoryTransport.createLinkedPair();
    await createMcpServer({ tools: [tool], runtime }).connect(far);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(near);
    const answer = await client.callTool({ name: "pay", arguments: ARGS });
    await client.close();
    return answer;
  },
  "the command line": (tool, runtime) =>
    run([tool], ["pay", "--input", JSON.stringify(ARGS), "--json"], { runtime }),
};

async function inAISDK(tools: Record<string, Tool>, runtime: Runtime): Promise<unknown> {
  const model = createScriptedModel([CALL, "Done."]);
  return runtime.run({ runId: "r" }, () =>
    generateText({ model, tools, prompt: "?", stopWhen: isStepCount(3) }),
  );
}

type Change = (tool: Pay) => Readonly<Record<string, unknown>>;

/** Each prevents a payment of 100. */
const GATES: Readonly<Record<string, Change>> = {
  "needsApproval: true": () => ({ needsApproval: true }),
  "a needsApproval function": () => ({ needsApproval: ({ amount }: { amount: number }) => amount > 10 }),
  "a guarded execute": (tool) => {
    const original = tool.execute.bind(tool);
    return {
      execute: async (args: { amount: number }, options: object) => {
        if (args.amount > 10) throw new Error("too much");
        return original(args, options);
      },
    };
  },
  "a stricter inputSchema": () => ({ inputSchema: z.object({ amount: z.number().max(10) }) }),
  "an AI SDK inputSchema": () => ({
    inputSchema: jsonSchema(
      { type: "object" },
      { validate: () => ({ success: false, error: new Error("no") }) },
    ),
  }),
  "a limit": () => ({ maxExecutionsPerRun: 0 }),
  "an option that does not exist": () => ({ requiresApproval: true }),
  "no execute": () => ({ execute: undefined }),
};

const COPIES: Readonly<Record<string, (tool: Pay, change: Readonly<Record<string, unknown>>) => Pay>> = {
  "a spread copy": (tool, change) => ({ ...tool, ...change }),
  "Object.assign to a new object": (tool, change) => Object.assign({}, tool, change),
  "Object.assign to the tool itself": (tool, change) => Object.assign(tool, change),
  "an object with the tool as its prototype": (tool, change) =>
    Object.assign(Object.create(tool) as Pay, change),
  "a proxy": (tool, change) =>
    new Proxy(tool, {
      get: (target, name) => (name in change ? change[name as string] : Reflect.get(target, name)),
    }),
  "a copy of a copy": (tool, change) => Object.assign({}, { ...tool, ...change }),
};

async function paidBy(consumer: string, make: (till: Till) => Pay): Promise<readonly number[]> {
  await using runtime = createRuntime({ store: ":memory:" });
  const till = createTill();
  // An error is acceptable too, as long as no payment was made.
  await Promise.resolve()
    .then(() => CONSUMERS[consumer]?.(make(till), runtime))
    .catch(() => undefined);
  return till.paid;
}

describe.each(Object.keys(CONSUMERS))("%s", (consumer) => {
  test("runs an unchanged copy", async () => {
    for (const copy of Object.values(COPIES)) {
      expect(await paidBy(consumer, ({ pay }) => copy(pay, {}))).toEqual([100]);
    }
  });

  test.each(Object.keys(GATES))("honours or refuses a copy with %s", async (gate) => {
    for (const [name, copy] of Object.entries(COPIES)) {
      // A property that a proxy does not list, and that is not read, is invisible.
      if (name === "a proxy" && gate === "an option that does not exist") continue;
      const paid = await paidBy(consumer, ({ pay }) => copy(pay, GATES[gate]?.(pay) ?? {}));
      expect(paid, name).toEqual([]);
    }
  });
});

describe("a copy with another execute", () => {
  const guarded = (pay: Pay, seen: unknown[] = []): Pay => ({
    ...pay,
    execute: async (args, options = {}) => {
      seen.push([args, options]);
      return `guarded: ${await pay.execute({ amount: Math.min(args.amount, 50) }, options)}`;
    },
  });

  test("is one call with one row, one key and one approval", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const { pay, paid } = createTill();
    const copy = guarded({ ...pay, needsApproval: true } as unknown as Pay);
    const asked = await runtime.call(copy, ARGS, { runId: "r" });
    if (asked.status !== "pending") throw new Error(asked.status);
    await runtime.resolveToolApproval(asked.approval.id, { approved: true });
    expect(await runtime.call(copy, ARGS, { runId: "r" })).toMatchObject({ output: "guarded: paid 50" });
    expect(paid).toEqual([50]);
    expect(await runtime.calls()).toMatchObject([
      { toolName: "pay", status: "success", approval: "approved" },
    ]);
  });

  test("does not skip the guard of another copy of the same tool", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const { pay, paid } = createTill();
    const gated = { ...pay, needsApproval: true } as unknown as Pay;
    const copy = { ...pay, execute: (args: { amount: number }) => gated.execute(args) };
    expect(await runtime.call(copy, ARGS, { runId: "r" })).toMatchObject({ status: "pending" });
    expect(paid).toEqual([]);
  });

  test("receives the AI SDK's arguments, and the context of the call", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const seen: [unknown, Record<string, unknown>][] = [];
    await runtime.call(guarded(createTill().pay, seen), ARGS, { runId: "r", toolCallId: "id-1" });
    const [args, options] = seen[0] ?? [];
    expect(args).toEqual(ARGS);
    expect(options).toMatchObject({ toolCallId: "id-1", messages: [] });
    expect(options?.["abortSignal"]).toBeInstanceOf(AbortSignal);
    expect(options?.["runId"]).toBe("r");
  });

  test("that calls the original twice makes two payments, each with its own key", async () => {
    const keys: unknown[] = [];
    const pay = defineTool({
      name: "pay",
      schema: z.object({ amount: z.number() }),
      sideEffect: true,
      execute: (_args, ctx) => keys.push(ctx.idempotencyKey),
    });
    await using runtime = createRuntime({ store: ":memory:" });
    const twice = {
      ...pay,
      execute: async (args: { amount: number }) => (await pay.execute(args)) + (await pay.execute(args)),
    };
    await runtime.call(twice, ARGS, { runId: "r" });
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(2);
  });

  test("keeps the redaction of the original", async () => {
    const login = defineTool({
      name: "login",
      schema: z.object({ password: z.string() }),
      redact: { input: ["password"] },
      execute: () => "in",
    });
    await using runtime = createRuntime({ store: ":memory:" });
    const copy = { ...login, execute: async () => "in again" };
    await runtime.call(copy, { password: "hunter2" }, { runId: "r" });
    expect(JSON.stringify(await runtime.calls())).not.toContain("hunter2");
  });
});

test("a model receives the changed name, description and schema", () => {
  const { pay } = createTill();
  const copy = { ...pay, name: "pay_out", description: "Pays out", schema: z.object({ amount: z.int() }) };
  const [made] = Object.values(toAISDKTools([copy]));
  expect(made).toMatchObject({ name: "pay_out", description: "Pays out" });
  expect(made?.inputSchema.jsonSchema).toMatchObject({ properties: { amount: { type: "integer" } } });
});

test.each<[string, (pay: Pay) => object, RegExp]>([
  [
    "an unknown option",
    (pay) => ({ ...pay, needsAproval: true }),
    /needsAproval.*Did you mean "needsApproval"/,
  ],
  [
    "a wrong type",
    (pay) => ({ ...pay, needsApproval: "yes" }),
    /needsApproval must be true, false or a function/,
  ],
  [
    "different metadata",
    (pay) => ({ ...pay, [Symbol.for("smithers.tool.metadata")]: {} }),
    /different metadata/,
  ],
  ["two functions", (pay) => ({ ...pay, execute: () => 1, func: () => 2 }), /several functions/],
  ["two schemas", (pay) => ({ ...pay, schema: z.object({}), inputSchema: z.object({}) }), /two schemas/],
  ["no function", (pay) => ({ ...pay, execute: "x" }), /no function as execute/],
  ["an unusable schema", (pay) => ({ ...pay, inputSchema: Promise.resolve({}) }), /is a promise/],
])("a copy with %s is refused with a message", (_what, copy, message) => {
  expect(() => fromTool(copy(createTill().pay))).toThrow(message);
});

test("a deep copy is refused with a message", () => {
  const { pay } = createTill();
  const symbol = Object.getOwnPropertySymbols(pay).find(
    (name) => name.description === "toolwright.tool.spec",
  );
  const spec = (pay as unknown as Record<symbol, object>)[symbol as symbol];
  expect(() => fromTool({ ...pay, [symbol as symbol]: { ...spec } })).toThrow(/deep copy/);
});

test("a copy is one tool wherever it is used, and a different one once it changes again", () => {
  const copy: Record<string, unknown> = { ...createTill().pay, timeoutMs: 5 };
  expect(fromTool(copy)).toBe(fromTool(copy));
  const before = fromTool(copy);
  copy["needsApproval"] = true;
  expect(fromTool(copy)).not.toBe(before);
  const { pay } = createTill();
  expect(fromTool({ ...pay })).toBe(pay);
});

test("a changed object for another loop is not treated as the original tool", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const { pay, paid } = createTill();
  const [made] = toOpenAIAgentTools([pay]);
  expect(fromTool(made as object)).toBe(pay);
  const changed = Object.assign(made as object, { needsApproval: async () => true });
  expect(await runtime.call(fromTool(changed), ARGS, { runId: "r" })).toMatchObject({ status: "pending" });
  expect(paid).toEqual([]);
});

test("a copy of an agent is refused with a message", () => {
  const agent = createSmartAgent({ name: "helper", model: createScriptedModel([]), tools: [] });
  expect(fromTool(agent).name).toBe("helper");
  expect(() => fromTool({ ...agent, needsApproval: true })).toThrow(/copy of an agent/);
});
