/** Tools of the OpenAI Agents SDK converted to ours: their policies are kept, approval included. */
import {
  Agent,
  applyPatchTool,
  computerTool,
  type FunctionTool,
  handoff,
  hostedMcpTool,
  MCPServerStdio,
  RunContext,
  shellTool,
  tool,
  webSearchTool,
} from "@openai/agents";
import {
  createRegistry,
  createRuntime,
  defineTool,
  fromTool,
  getDefinedToolMetadata,
  type Tool,
} from "toolwright";
import { toOpenAIAgentTool, toOpenAIAgentTools } from "toolwright/openai-agents";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { answersIn, calls, runner, say, script } from "./harness.ts";

const task = { runId: "run-1" };
interface Payment {
  readonly pay: FunctionTool;
  readonly paid: unknown[];
}

interface Options {
  readonly needsApproval?: boolean | ((context: RunContext, input: unknown) => Promise<boolean>);
  readonly parameters?: object;
}

function createPayment({ parameters = z.object({ amount: z.number() }), ...options }: Options = {}): Payment {
  const paid: unknown[] = [];
  const pay: unknown = tool({
    name: "pay",
    description: "Pays",
    parameters: parameters as z.ZodObject,
    ...options,
    execute: async (input) => {
      paid.push(input);
      return { receipt: paid.length };
    },
  });
  return { pay: pay as FunctionTool, paid };
}

/** Euros as text, which the tool receives as cents: a schema of another library than Zod. */
const inCents = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value: unknown) => ({
      value: { amount: { cents: Number((value as { amount: string }).amount) * 100 } },
    }),
    jsonSchema: {
      input: () => ({
        type: "object",
        properties: { amount: { type: "string" } },
        required: ["amount"],
        additionalProperties: false,
      }),
      output: () => ({ type: "object" }),
    },
  },
};

describe("a function tool", () => {
  test("is called as its own loop would call it, validated, and logged", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const { pay, paid } = createPayment();
    const own = fromTool(pay);
    expect(own).toMatchObject({ name: "pay", description: "Pays" });
    expect(await runtime.call(own, { amount: 5 }, task)).toMatchObject({
      status: "success",
      output: { receipt: 1 },
    });
    expect(await runtime.call(pay, { amount: "five" }, task)).toMatchObject({
      error: { code: "TOOL_INPUT_INVALID" },
    });
    expect(paid).toEqual([{ amount: 5 }]);
    expect(await runtime.calls(task)).toMatchObject([
      { toolName: "pay", status: "success", inputJson: '{"amount":5}' },
      { status: "error" },
    ]);
  });

  test("counts as a non-idempotent side effect, and keeps its own policies and the program's", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const { pay, paid } = createPayment();
    expect(getDefinedToolMetadata(fromTool(pay))).toMatchObject({ sideEffect: true, idempotent: false });
    const once = fromTool(pay, { maxExecutionsPerRun: 1 });
    await runtime.call(once, { amount: 1 }, task);
    expect(await runtime.call(once, { amount: 2 }, task)).toMatchObject({
      error: { code: "TOOL_LIMIT_EXCEEDED" },
    });
    expect(paid).toHaveLength(1);
  });

  test("with a plain JSON Schema works as well, in a registry and in a list", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const echo = tool({
      name: "echo",
      description: "Echoes",
      strict: false,
      parameters: {
        type: "object",
        properties: { text: { type: "string" }, times: { type: "number", default: 1 } },
        required: ["text"],
        additionalProperties: true,
      },
      execute: async (input) => input,
    });
    const own = createRegistry([echo]).get("echo") as Tool;
    // As sent: the tool parses it itself.
    expect(await runtime.call(own, { text: "a", more: 1 }, task)).toHaveProperty("output", {
      text: "a",
      more: 1,
    });
    expect(await runtime.call(own, {}, task)).toMatchObject({ error: { code: "TOOL_INPUT_INVALID" } });
  });

  test("parses its input once: a transform is not applied twice", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const { pay, paid } = createPayment({ parameters: inCents });
    await runtime.call(pay, { amount: "5" }, task);
    expect(paid).toEqual([{ amount: { cents: 500 } }]);
  });

  test("gets the call's id, its signal and the run context that a capability brings", async () => {
    const seen: unknown[] = [];
    const look = tool({
      name: "look",
      description: "Looks",
      parameters: z.object({}),
      execute: async (_input, context, details) => {
        seen.push(context?.context, details?.toolCall?.callId, details?.signal instanceof AbortSignal);
        return "ok";
      },
    });
    await using runtime = createRuntime({
      store: ":memory:",
      capabilities: () => ({ runContext: new RunContext({ user: "Ada" }) }),
    });
    await runtime.call(look, {}, { ...task, toolCallId: "id-1" });
    expect(seen).toEqual([{ user: "Ada" }, "id-1", true]);
  });

  test("that is switched off does not run", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    let runs = 0;
    const off = tool({
      name: "off",
      description: "Off",
      parameters: z.object({}),
      isEnabled: false,
      execute: async () => (runs += 1),
    });
    const outcome = await runtime.call(fromTool(off, { needsApproval: false }), {}, task);
    expect(outcome).toMatchObject({ error: { code: "TOOL_NOT_FOUND" } });
    expect(runs).toBe(0);
  });

  test("that exceeds its limit has timed out, and is not logged as a success", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const slow = tool({
      name: "slow",
      description: "Slow",
      parameters: z.object({}),
      timeoutMs: 20,
      execute: () => new Promise<string>(() => undefined),
    });
    expect(await runtime.call(slow, {}, task)).toMatchObject({ error: { code: "TOOL_TIMEOUT" } });
    expect(() => fromTool(slow, { timeoutMs: 500 })).toThrow('Tool "slow": its own timeout of 20 ms');
  });

  test("that throws is an error if its own options say so", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const fail = tool({
      name: "fail",
      description: "Fails",
      parameters: z.object({}),
      errorFunction: null,
      execute: async () => {
        throw new Error("the bank is closed");
      },
    });
    expect(await runtime.call(fail, {}, task)).toMatchObject({
      error: { code: "TOOL_EXECUTION_FAILED", message: expect.stringContaining("the bank is closed") },
    });
  });
});

/** In each of these the tool's own loop would pause for 500 and, but for the first, not for 5. */
const GATES: readonly [string, Options, asked: object, free: object | undefined][] = [
  ["always", { needsApproval: true }, { amount: 500 }, undefined],
  [
    "on a condition",
    { needsApproval: async (_context, input) => (input as { amount: number }).amount > 100 },
    { amount: 500 },
    { amount: 5 },
  ],
  [
    "on a condition that throws",
    {
      needsApproval: async (_context, input) => {
        if ((input as { amount: number }).amount > 100) throw new Error("cannot tell");
        return false;
      },
    },
    { amount: 500 },
    { amount: 5 },
  ],
  [
    // In strict mode a model sends null for it; the condition sees that the field is missing.
    "on a field that was left out",
    {
      parameters: z.object({ amount: z.number(), limit: z.number().optional() }),
      needsApproval: async (_context, input) => (input as { limit?: number }).limit === undefined,
    },
    { amount: 500, limit: null },
    { amount: 5, limit: 10 },
  ],
  [
    "on the parsed input",
    {
      parameters: inCents,
      needsApproval: async (_context, input) =>
        (input as { amount: { cents: number } }).amount.cents > 10_000,
    },
    { amount: "500" },
    { amount: "5" },
  ],
  [
    "on the context of the run, which is missing",
    {
      needsApproval: async (context) => (context.context as { user?: string }).user === undefined,
    },
    { amount: 500 },
    undefined,
  ],
];

describe.each(GATES)("a tool that needs approval %s", (_when, options, asked, free) => {
  test("needs it in the store", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const { pay, paid } = createPayment(options);
    const waiting = await runtime.call(pay, asked, task);
    expect(waiting).toMatchObject({ status: "pending", approval: { toolName: "pay", args: asked } });
    expect(paid).toEqual([]);
    if (free !== undefined) expect(await runtime.call(pay, free, task)).toMatchObject({ status: "success" });
    expect(paid).toHaveLength(free === undefined ? 0 : 1);
  });

  test("is run once after a decision, and not at all after a denial", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const { pay, paid } = createPayment(options);
    for (const [runId, approved] of Object.entries({ yes: true, no: false })) {
      await runtime.call(pay, asked, { runId, callKey: "one" });
      const [request] = await runtime.approvals({ status: "pending", runId });
      await runtime.resolveToolApproval(request?.id ?? "", { approved });
      await runtime.call(pay, asked, { runId, callKey: "one" });
      await runtime.call(pay, asked, { runId, callKey: "one" });
    }
    expect(paid).toHaveLength(1);
  });

  test("outside any run is refused", async () => {
    const { pay, paid } = createPayment(options);
    await expect(fromTool(pay).execute(asked)).rejects.toMatchObject({ code: "TOOL_APPROVAL_REQUIRED" });
    expect(paid).toEqual([]);
  });

  test("converted there and back pauses its loop, and its state alone approves nothing", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const { pay, paid } = createPayment(options);
    const { agent } = script(
      [toOpenAIAgentTool(fromTool(pay, { group: "bank" }))],
      calls(["pay", asked as Record<string, unknown>, "id-1"]),
      calls(["pay", asked as Record<string, unknown>, "id-2"]),
      say("waiting"),
    );
    const paused = await runtime.run(task, () => runner.run(agent, "Pay."));
    expect(paused.interruptions).toHaveLength(1);
    expect(await runtime.approvals({ status: "pending" })).toHaveLength(1);
    for (const interruption of paused.interruptions) {
      paused.state.approve(interruption, { alwaysApprove: true });
    }
    await runtime.run(task, () => runner.run(agent, paused.state));
    expect(paid).toEqual([]);
    // The second call is the first one: it is equal, and the first still waits.
    expect(await runtime.approvals({ status: "pending" })).toHaveLength(1);
  });
});

test("one of our tools that needs approval, converted there and back, is the same tool", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const order = defineTool({
    name: "shop.order",
    schema: z.object({ sku: z.string() }),
    sideEffect: true,
    needsApproval: true,
    redact: { input: ["sku"] },
    execute: ({ sku }, ctx) => `${sku} ${ctx.idempotencyKey}`,
  });
  const theirs = toOpenAIAgentTool(order);
  expect(theirs.name).toBe("shop_order");
  expect(fromTool(theirs)).toBe(order);
  expect(toOpenAIAgentTools([order, theirs]).map(({ name }) => name)).toEqual(["shop_order"]);
  expect(await runtime.call(theirs, { sku: "a" }, task)).toMatchObject({ status: "pending" });
  const limited = fromTool(theirs, { maxExecutionsPerRun: 1 });
  expect(await runtime.call(limited, { sku: "b" }, task)).toMatchObject({ status: "pending" });
});

test("an SDK tool without approval works through our tool in the SDK's loop, with its own run context", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const greet = tool({
    name: "greet",
    description: "Greets",
    parameters: z.object({ greeting: z.string() }),
    execute: async ({ greeting }, context?: RunContext) =>
      `${greeting} ${(context?.context as { user: string } | undefined)?.user}`,
  });
  const { agent, model } = script(
    [toOpenAIAgentTool(fromTool(greet))],
    calls(["greet", { greeting: "Hello" }, "id-1"]),
    say("done"),
  );
  await runtime.run(task, () => runner.run(agent, "Greet.", { context: { user: "Ada" } }));
  expect(answersIn(model.lastCall?.request)).toEqual([["id-1", "Hello Ada"]]);
  expect(await runtime.calls(task)).toMatchObject([{ toolName: "greet", toolCallId: "id-1" }]);
});

const allow = { behavior: { type: "allow" as const } };
const noShell = { run: async () => ({ output: [] }) };
const noEditor = {
  createFile: async () => undefined,
  updateFile: async () => undefined,
  deleteFile: async () => undefined,
};

describe("tools that cannot be converted are refused with an explanation", () => {
  const agent = new Agent({ name: "Bank" });
  test.each<[string, object, string]>([
    ["a hosted tool", webSearchTool(), "runs at OpenAI"],
    ["a hosted MCP tool", hostedMcpTool({ serverLabel: "bank", serverUrl: "http://bank" }), "runs at OpenAI"],
    [
      "a computer",
      computerTool({ computer: {} as never, needsApproval: true }),
      "computer tool cannot be called",
    ],
    ["a shell", shellTool({ shell: noShell, needsApproval: true }), "Use Toolwright's bash"],
    ["a patch tool", applyPatchTool({ editor: noEditor, needsApproval: true }), "Use Toolwright's edit"],
    ["a handoff", handoff(agent), 'Tool "transfer_to_Bank": it is a handoff'],
    ["an agent", agent, "it is an agent, not a tool"],
    [
      "an agent as a tool",
      agent.asTool({ toolName: "bank", toolDescription: "A bank", needsApproval: true }),
      "requests for approval would be lost",
    ],
    ["an MCP server", new MCPServerStdio({ command: "true" }), "connection to an MCP server"],
    [
      "a tool with guardrails",
      tool({
        name: "guarded",
        description: "",
        parameters: z.object({}),
        inputGuardrails: [{ name: "check", run: async () => allow }],
        execute: async () => "ok",
      }),
      'Tool "guarded": it has inputGuardrails',
    ],
  ])("%s", (_what, value, words) => {
    expect(() => fromTool(value)).toThrow(words);
    expect(() => toOpenAIAgentTools([value])).toThrow(words);
    expect(() => fromTool(value)).toThrow(expect.objectContaining({ code: "TOOL_DEFINITION_INVALID" }));
  });
});
