/** `defineTool`, `createTool` and a plain definition are equivalent: the same tests run for all three. */
import {
  createRegistry,
  createTool,
  defineTool,
  fromTool,
  getDefinedToolMetadata,
  getTool,
  registerTool,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type ToolPolicies,
} from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createClock, createWorld, never, until } from "./harness.ts";

const task = { runId: "r1" };
const input = z.object({ amount: z.number(), note: z.string().default("none") });
const output = z.object({ id: z.string(), count: z.number().default(7) });

interface Parts extends ToolPolicies<
  { amount: number; note: string },
  { id: string; count: number },
  object
> {
  readonly name?: string;
  readonly description?: string;
  readonly execute?: (args: { amount: number; note: string }, ctx: ToolContext) => unknown;
}

type Spell = (parts: Parts) => Tool;

const answer = (args: { amount: number; note: string }, ctx: ToolContext): { id: string } => ({
  id: `${args.amount} ${args.note} ${ctx.toolName}`,
});

const spellings: Record<string, Spell> = {
  defineTool: ({ execute = answer, name = "pay", ...parts }) =>
    defineTool({
      name,
      schema: input,
      outputSchema: output,
      execute: execute as typeof answer,
      ...parts,
    }),
  createTool: ({ execute = answer, name = "pay", ...parts }) =>
    createTool({
      name,
      schema: input,
      outputSchema: output,
      func: execute as typeof answer,
      ...parts,
    }),
  ToolDefinition: ({ execute = answer, name = "pay", ...parts }) =>
    fromTool({
      name,
      inputSchema: input,
      outputSchema: output,
      execute: execute as typeof answer,
      ...parts,
    } satisfies ToolDefinition<typeof input, typeof output, object>),
};

describe.each(Object.entries(spellings))("%s", (_name, spell) => {
  it("has name, description, group, terminal, schemas and metadata", () => {
    const tool = spell({
      description: "Pays",
      group: "money",
      terminal: true,
      sideEffect: true,
      idempotent: true,
    });
    expect(tool).toMatchObject({
      name: "pay",
      description: "Pays",
      group: "money",
      terminal: { status: "complete" },
    });
    expect(getDefinedToolMetadata(tool)).toEqual({ name: "pay", sideEffect: true, idempotent: true });
    expect(tool.inputSchema.jsonSchema).toMatchObject({ required: ["amount"] });
    expect(tool.outputSchema?.jsonSchema).toMatchObject({ type: "object" });
    expect(spell({}).description).toBe("pay");
    expect(spell({ terminal: { status: "waiting" } }).terminal).toEqual({ status: "waiting" });
    expect(spell({ terminal: false }).terminal).toBe(false);
    expect(getDefinedToolMetadata(spell({ sideEffect: true }))).toMatchObject({ idempotent: false });
    expect(getDefinedToolMetadata(spell({}))).toMatchObject({ sideEffect: false, idempotent: true });
  });

  it("parses input and output, in a run and outside", async () => {
    const world = await createWorld();
    const tool = spell({});
    const expected = { id: "1 none pay", count: 7 };
    expect(await tool.execute({ amount: 1 })).toEqual(expected);
    expect(await (await world.runtime()).call(tool, { amount: 1 }, task)).toMatchObject({ output: expected });
    await expect(tool.execute({ amount: "1" })).rejects.toMatchObject({ code: "TOOL_INPUT_INVALID" });
    await expect(spell({ execute: () => ({ id: 5 }) }).execute({ amount: 1 })).rejects.toMatchObject({
      code: "TOOL_OUTPUT_INVALID",
    });
  });

  it("needsApproval, approvalPrompt, approvalDefaults, approvalTtlMs", async () => {
    const world = await createWorld();
    const clock = createClock();
    const tool = spell({
      needsApproval: ({ amount }) => amount > 1,
      approvalPrompt: ({ amount }) => `Pay ${amount}?`,
      approvalDefaults: { amount: 1 },
      approvalTtlMs: 1_000,
    });
    const runtime = await world.runtime({ clock });
    expect(await runtime.call(tool, { amount: 1 }, task)).toMatchObject({ status: "success" });
    expect(await runtime.call(tool, { amount: 2 }, task)).toMatchObject({
      status: "pending",
      approval: { prompt: "Pay 2?", defaults: { amount: 1 }, expiresAtMs: clock.now() + 1_000 },
    });
  });

  it("maxExecutionsPerRun, cache, retry, timeoutMs", async () => {
    const world = await createWorld();
    let runs = 0;
    const tool = spell({
      maxExecutionsPerRun: 2,
      cache: { keyFn: ({ amount }) => amount },
      retry: { maxRetries: 1, backoffMs: 0 },
      timeoutMs: 5_000,
      execute: (args, ctx) => {
        runs += 1;
        if (runs === 1) throw new Error("down");
        return answer(args, ctx);
      },
    });
    const runtime = await world.runtime();
    expect(await runtime.call(tool, { amount: 1 }, task)).toMatchObject({ status: "success" });
    expect(await runtime.call(tool, { amount: 1, note: "x" }, task)).toMatchObject({ fromCache: true });
    expect(await runtime.call(tool, { amount: 2 }, task)).toMatchObject({ status: "success" });
    expect(await runtime.call(tool, { amount: 3 }, task)).toMatchObject({
      error: { code: "TOOL_LIMIT_EXCEEDED" },
    });
    await expect(
      spell({ timeoutMs: 5, execute: () => never() }).execute({ amount: 1 }),
    ).rejects.toMatchObject({
      code: "TOOL_TIMEOUT",
    });
  });

  it("idempotencyKey, replay, redact", async () => {
    const world = await createWorld();
    let runs = 0;
    const tool = spell({
      sideEffect: true,
      idempotencyKey: ({ amount }) => `order-${amount}`,
      redact: { input: ["note"], output: ["id"] },
      execute: (args, ctx) => {
        runs += 1;
        return { id: `${args.note} ${ctx.idempotencyKey}` };
      },
    });
    const args = { amount: 1, note: "very secret" };
    const runtime = await world.runtime();
    await runtime.call(tool, args, task);
    expect(await runtime.call(tool, args, { runId: "r2" })).toMatchObject({ replayed: true });
    expect(runs).toBe(1);
    expect(await world.dump()).not.toContain("very secret");
    const again = spell({
      name: "again",
      sideEffect: true,
      replay: "run",
      execute: () => ({ id: String((runs += 1)) }),
      acceptsIdempotencyKey: true,
    });
    await runtime.call(again, { amount: 1 }, task);
    await runtime.call(again, { amount: 1 }, { ...task, attempt: 2 });
    expect(runs).toBe(3);
  });

  it.each<[string, Parts, object]>([
    [
      "reconcile",
      { reconcile: () => ({ happened: true, output: { id: "seen", count: 1 } }), settleMs: 0 },
      { output: { id: "seen", count: 1 } },
    ],
    ["onUnknown: fail", { onUnknown: "fail" }, { error: { code: "TOOL_OUTCOME_UNKNOWN" } }],
    ["onUnknown: tell", { onUnknown: "tell" }, { status: "pending", approval: { kind: "replay" } }],
    ["onUnknown: run", { onUnknown: "run" }, { output: { id: "second" } }],
    [
      "acceptsIdempotencyKey: false",
      { acceptsIdempotencyKey: false },
      { status: "pending", approval: { kind: "replay" } },
    ],
    ["acceptsIdempotencyKey: true", { acceptsIdempotencyKey: true }, { output: { id: "second" } }],
  ])("%s", async (_what, parts, expected) => {
    const world = await createWorld();
    let runs = 0;
    const tool = spell({
      sideEffect: true,
      idempotent: false,
      execute: (_args, ctx) => {
        runs += 1;
        return runs === 1 ? never() : { id: ctx.idempotencyKey === null ? "no key" : "second" };
      },
      ...parts,
    });
    void (await world.runtime()).call(tool, { amount: 1 }, task);
    await until(() => runs === 1);
    await world.killAll();
    expect(await (await world.runtime()).call(tool, { amount: 1 }, task)).toMatchObject(expected);
  });

  it("is registered once under its name", () => {
    const registry = createRegistry();
    const tool = registry.register(spell({ group: "money" }));
    expect(registry.get("pay")).toBe(tool);
    expect(() => registry.register(spell({}))).toThrow(/"pay" is already registered/);
    expect(registry.byGroup("money")).toEqual([tool]);
  });
});

describe("registries", () => {
  it("keep order, support groups, and refuse a second tool with the same name", () => {
    const make = (name: string, group?: string) => spellings["defineTool"]?.({ name, group }) ?? name;
    const registry = createRegistry([make("a", "x") as Tool, make("b") as Tool]);
    registry.register(make("c", "x") as Tool);
    expect(registry.all().map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(registry.byGroup("x").map(({ name }) => name)).toEqual(["a", "c"]);
    expect(registry.byGroup("none")).toEqual([]);
    expect(registry.get("none")).toBeUndefined();
    expect(() => registry.register(make("a") as Tool)).toThrow(
      expect.objectContaining({ code: "TOOL_ALREADY_REGISTERED" }),
    );
    expect(registry.all()).toHaveLength(3);
  });

  it("registerTool takes a plain definition, whose tool works in a runtime", async () => {
    const world = await createWorld();
    const definition = {
      name: "plain_echo",
      inputSchema: z.object({ text: z.string() }),
      execute: ({ text }: { text: string }) => text,
    };
    registerTool(definition);
    const tool = getTool("plain_echo");
    expect(tool).toBe(fromTool(definition));
    if (tool === undefined) throw new Error("not there");
    expect(await (await world.runtime()).call(tool, { text: "hi" }, task)).toMatchObject({ output: "hi" });
  });
});
