/** LangChain tools converted to ours. */
import { ToolMessage } from "@langchain/core/messages";
import { RunnableLambda } from "@langchain/core/runnables";
import { DynamicStructuredTool, DynamicTool, tool, type ToolRunnableConfig } from "@langchain/core/tools";
import {
  createRegistry,
  createRuntime,
  defineTool,
  fromTool,
  getDefinedToolMetadata,
  toTools,
} from "toolwright";
import { toLangChainTool } from "toolwright/langchain";
import { toOpenAIAgentTool } from "toolwright/openai-agents";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { z as zod3 } from "zod/v3";
import { answersIn, loop } from "./harness.ts";

const task = { runId: "run-1" };
const schema = z.object({ amount: z.number(), note: z.string().default("none") });
const jsonSchema = {
  type: "object",
  properties: { amount: { type: "number" } },
  required: ["amount"],
} as const;

/** A function that records its arguments. */
function remember<Answer>(seen: unknown[], answer: Answer): (input: unknown) => Promise<Answer> {
  return async (input) => {
    seen.push(input);
    return answer;
  };
}

describe.each<[string, (seen: unknown[]) => object]>([
  [
    "tool() with Zod",
    (seen) => tool(remember(seen, { ok: true }), { name: "pay", description: "Pays", schema }),
  ],
  [
    "tool() with JSON Schema",
    (seen) => tool(remember(seen, { ok: true }), { name: "pay", description: "Pays", schema: jsonSchema }),
  ],
  [
    "a DynamicStructuredTool",
    (seen) =>
      new DynamicStructuredTool({
        name: "pay",
        description: "Pays",
        schema,
        func: remember(seen, { ok: true }),
      }),
  ],
  [
    "a runnable as a tool",
    (seen) =>
      RunnableLambda.from(remember(seen, { ok: true })).asTool({ name: "pay", description: "Pays", schema }),
  ],
])("%s", (_kind, create) => {
  test("is validated, run with its plain output, and logged", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const seen: unknown[] = [];
    const foreign = create(seen);
    expect(fromTool(foreign)).toMatchObject({ name: "pay", description: "Pays" });
    expect(getDefinedToolMetadata(fromTool(foreign))).toMatchObject({ sideEffect: true, idempotent: false });
    expect(await runtime.call(foreign, { amount: 5 }, task)).toMatchObject({
      status: "success",
      output: { ok: true },
    });
    expect(seen).toMatchObject([{ amount: 5 }]);
    expect(await runtime.call(foreign, { amount: "much" }, task)).toMatchObject({
      error: { code: "TOOL_INPUT_INVALID" },
    });
    expect(seen).toHaveLength(1);
    expect((await runtime.calls(task)).map(({ status }) => status)).toEqual(["success", "error"]);
  });

  test("keeps its policies, approval included", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const seen: unknown[] = [];
    const gated = fromTool(create(seen), {
      needsApproval: (args: { amount: number }) => args.amount > 100,
    });
    const risky = { ...task, callKey: "risky" };
    expect(await runtime.call(gated, { amount: 500 }, risky)).toMatchObject({ status: "pending" });
    expect(seen).toEqual([]);
    expect(await runtime.call(gated, { amount: 5 }, task)).toMatchObject({ status: "success" });
    const [request] = await runtime.approvals({ status: "pending" });
    await runtime.resolveToolApproval(request?.id ?? "", { approved: true, approvedArgs: { amount: 400 } });
    await runtime.call(gated, { amount: 500 }, risky);
    await runtime.call(gated, { amount: 500 }, risky);
    expect(seen).toMatchObject([{ amount: 5 }, { amount: 400 }]);
  });

  test("there, through ours and back still needs approval", async () => {
    await using runtime = createRuntime({ store: ":memory:" });
    const seen: unknown[] = [];
    const gated = fromTool(create(seen), { needsApproval: true });
    expect(fromTool(toLangChainTool(gated))).toBe(gated);
    expect(fromTool(toOpenAIAgentTool(toLangChainTool(gated)))).toBe(gated);
    const messages = await runtime.run(task, () =>
      loop([toLangChainTool(gated)], [[["pay", { amount: 5 }, "id-1"]], "I wait."]),
    );
    expect(answersIn(messages)).toMatchObject([
      ["id-1", "error", expect.stringContaining("approval_pending")],
    ]);
    expect(seen).toEqual([]);
  });
});

test("an input is parsed once: a transform is not applied twice", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const seen: unknown[] = [];
  const pay = tool(remember(seen, "ok"), {
    name: "pay",
    schema: z.object({ amount: z.number().transform((euros) => euros * 100) }),
  });
  // The policies of the program receive the same input as the tool.
  const asked: unknown[] = [];
  const gated = fromTool(pay, { needsApproval: remember(asked, false) });
  await runtime.call(gated, { amount: 5 }, task);
  expect(seen).toEqual([{ amount: 500 }]);
  expect(asked).toEqual([{ amount: 500 }]);
});

test("a call inside the arguments is refused: it is neither validated nor approved", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const removed: unknown[] = [];
  const remove = tool(remember(removed, "ok"), {
    name: "remove",
    schema: {
      type: "object",
      properties: { path: { type: "string" } },
      required: ["path"],
    },
  });
  const gated = fromTool(remove, {
    needsApproval: (args: { path: string }) => args.path.startsWith("/"),
  });
  const hidden = { path: "a", type: "tool_call", id: "x", name: "remove", args: { path: "/etc" } };
  expect(await runtime.call(gated, hidden, task)).toMatchObject({ error: { code: "TOOL_INPUT_INVALID" } });
  expect(removed).toEqual([]);
});

test.each<[string, object]>([
  ["tool() without a schema", tool(async (text) => text.toUpperCase(), { name: "shout" })],
  [
    "a DynamicTool",
    new DynamicTool({ name: "shout", description: "", func: async (text) => text.toUpperCase() }),
  ],
])("%s takes a text, in a field", async (_kind, foreign) => {
  await using runtime = createRuntime({ store: ":memory:" });
  expect(fromTool(foreign).inputSchema.jsonSchema).toMatchObject({
    properties: { input: { type: "string" } },
  });
  expect(await runtime.call(foreign, { input: "hey" }, task)).toMatchObject({ output: "HEY" });
});

test("a signal, the call's id and the configuration of the loop reach the tool", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const seen: unknown[] = [];
  const look = tool(
    async (_input, config: ToolRunnableConfig & { toolCallId?: string }) => {
      seen.push(config.signal instanceof AbortSignal, config.toolCallId, config.configurable?.["user"]);
      return "ok";
    },
    { name: "look", schema: z.object({}) },
  );
  await runtime.run(task, () =>
    loop([toLangChainTool(fromTool(look))], [[["look", {}, "id-1"]], "done"], {
      configurable: { user: "Ada" },
    }),
  );
  expect(seen).toEqual([true, "id-1", "Ada"]);
});

test("a message that a tool returns is its content, or an error", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const answer = (status: "success" | "error") =>
    tool(async () => new ToolMessage({ content: "as said", tool_call_id: "x", status }), {
      name: `answer_${status}`,
      schema: z.object({}),
    });
  expect(await runtime.call(answer("success"), {}, task)).toMatchObject({ output: "as said" });
  expect(await runtime.call(answer("error"), {}, task)).toMatchObject({
    error: { code: "TOOL_EXECUTION_FAILED", message: expect.stringContaining("as said") },
  });
});

test("a tool that returns directly is terminal, in a list and in a registry", () => {
  const end = new DynamicStructuredTool({
    name: "end",
    description: "Ends",
    schema,
    returnDirect: true,
    func: async () => "over",
  });
  expect(toTools([end])[0]?.terminal).toEqual({ status: "complete" });
  expect(createRegistry([end]).get("end")?.terminal).toEqual({ status: "complete" });
});

test("a Zod 3 schema is refused with an explanation", () => {
  const schema = zod3.object({ q: zod3.string() }) as never;
  const old = new DynamicStructuredTool({ name: "old", description: "Old", schema, func: async () => "x" });
  expect(() => fromTool(old)).toThrow('Tool "old": its schema is Zod 3. Give it a Zod 4 schema');
});

test("one of our tools, converted there and back, is the same tool", () => {
  const own = defineTool({ name: "shop.order", schema, needsApproval: true, execute: () => 1 });
  expect(fromTool(toLangChainTool(own))).toBe(own);
});
