/** Third-party tools. */
import { tool as sdkTool } from "ai";
import { defineTool, fromTool, getDefinedToolMetadata, toTools } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createWorld, never, until } from "./harness.ts";

const task = { runId: "r1" };
const schema = z.object({ q: z.string() });

/** Like a LangChain tool: a class with state, called through `invoke`. */
class LangChainLike {
  readonly name = "lc_search";
  readonly description = "Searches";
  readonly schema = schema;
  readonly prefix = "found";
  async invoke({ q }: { q: string }): Promise<string> {
    return `${this.prefix} ${q}`;
  }
}

describe("fromTool", () => {
  it("takes a LangChain-like object, with its this", async () => {
    const world = await createWorld();
    const tool = fromTool(new LangChainLike());
    expect(tool).toMatchObject({ name: "lc_search", description: "Searches" });
    expect(await (await world.runtime()).call(tool, { q: "a" }, task)).toMatchObject({ output: "found a" });
    expect(await world.log("r1")).toMatchObject([{ tool_name: "lc_search", input_json: '{"q":"a"}' }]);
  });

  it.each(["execute", "invoke", "call", "func", "run"])("takes an object with %s", async (method) => {
    const tool = fromTool({ name: "any", schema, [method]: ({ q }: { q: string }) => `${method} ${q}` });
    expect(await tool.execute({ q: "a" })).toBe(`${method} a`);
  });

  it("takes an MCP-like object and validates its JSON Schema", async () => {
    const world = await createWorld();
    const calls: unknown[] = [];
    const tool = fromTool({
      name: "mcp.echo",
      description: "Echo",
      inputSchema: {
        type: "object",
        properties: { text: { type: "string", minLength: 2 }, count: { type: "integer", default: 1 } },
        required: ["text"],
        additionalProperties: false,
      },
      call: async (args: unknown) => {
        calls.push(args);
        return { content: [{ type: "text", text: "ok" }] };
      },
    });
    expect(tool.inputSchema.jsonSchema).toMatchObject({ required: ["text"] });
    const runtime = await world.runtime();
    for (const bad of [
      {},
      { text: 5 },
      { text: "a" },
      { text: "ab", other: 1 },
      { text: "ab", count: 1.5 },
    ]) {
      expect(await runtime.call(tool, bad, task)).toMatchObject({ error: { code: "TOOL_INPUT_INVALID" } });
    }
    expect(calls).toEqual([]);
    expect(await runtime.call(tool, { text: "ab" }, task)).toMatchObject({ status: "success" });
    expect(calls).toHaveLength(1);
  });

  it("assumes the worst of a tool without a policy: it is not repeated after a crash", async () => {
    const world = await createWorld();
    let runs = 0;
    const foreign = {
      name: "mystery",
      schema,
      invoke: () => {
        runs += 1;
        return never<string>();
      },
    };
    expect(getDefinedToolMetadata(fromTool(foreign))).toEqual({
      name: "mystery",
      sideEffect: true,
      idempotent: false,
    });
    void (await world.runtime()).call(foreign, { q: "a" }, task);
    await until(() => runs === 1);
    await world.killAll();
    const after = await (await world.runtime()).call(foreign, { q: "a" }, task);
    expect(after).toMatchObject({ status: "pending", approval: { kind: "replay" } });
    expect(runs).toBe(1);
  });

  it("keeps policies that are set on the object, and the argument overrides them", async () => {
    const world = await createWorld();
    const foreign = {
      name: "f",
      schema,
      sideEffect: false,
      maxExecutionsPerRun: 1,
      cache: true,
      func: () => "x",
    };
    const runtime = await world.runtime();
    expect(getDefinedToolMetadata(fromTool(foreign))).toMatchObject({ sideEffect: false });
    await runtime.call(foreign, { q: "a" }, task);
    expect(await runtime.call(foreign, { q: "a" }, task)).toMatchObject({ fromCache: true });
    expect(await runtime.call(foreign, { q: "b" }, task)).toMatchObject({
      error: { code: "TOOL_LIMIT_EXCEEDED" },
    });
    const wider = fromTool(foreign, { maxExecutionsPerRun: 5, name: "g", description: "wider" });
    expect(wider).toMatchObject({ name: "g", description: "wider" });
    expect(await runtime.call(wider, { q: "b" }, task)).toMatchObject({ status: "success" });
    expect(await runtime.call(wider, { q: "c" }, task)).toMatchObject({ status: "success" });
  });

  it("receives a signal and a tool call id, as with the AI SDK", async () => {
    const seen: Record<string, unknown>[] = [];
    const execute = (_args: unknown, options: Record<string, unknown>): void => void seen.push(options);
    const tool = fromTool({ schema, execute }, { name: "f" });
    await tool.execute({ q: "a" }, { toolCallId: "t1" });
    expect(seen[0]).toMatchObject({ toolCallId: "t1", messages: [] });
    expect(seen[0]?.["abortSignal"]).toBeInstanceOf(AbortSignal);
    expect(seen[0]?.["signal"]).toBeInstanceOf(AbortSignal);
  });

  it("makes one tool of one object, and returns a Toolwright tool unchanged", () => {
    const foreign = { name: "f", schema, invoke: () => 1 };
    expect(fromTool(foreign)).toBe(fromTool(foreign));
    const own = defineTool({ name: "own", schema, execute: () => 1 });
    expect(fromTool(own)).toBe(own);
  });

  it.each<[string, object, RegExp]>([
    ["has nothing to call", { name: "f", schema }, /Tool "f": .*execute, invoke, call, func, run/],
    ["has no name", { schema, invoke: () => 1 }, /name must be a non-empty string/],
    [
      "has an unsupported schema",
      { name: "f", schema: "text", invoke: () => 1 },
      /Tool "f".*neither Zod 4 nor JSON Schema/,
    ],
    [
      "has a policy that contradicts itself",
      { name: "f", schema, cache: true, invoke: () => 1 },
      /Tool "f": cache/,
    ],
  ])("refuses an object that %s", (_what, foreign, message) => {
    expect(() => fromTool(foreign)).toThrow(message);
  });
});

describe("a Toolwright tool with a further policy", () => {
  const secretive = () =>
    defineTool({
      name: "login",
      schema: z.object({ user: z.string(), password: z.string() }),
      sideEffect: true,
      idempotent: false,
      redact: { input: ["password"] },
      timeoutMs: 5_000,
      execute: ({ user }, ctx) => `${user} ${ctx.idempotencyKey === null ? "no key" : "key"}`,
    });

  it("keeps its own redaction, key and kind", async () => {
    const world = await createWorld();
    const tool = fromTool(secretive(), { maxExecutionsPerRun: 1 });
    expect(getDefinedToolMetadata(tool)).toEqual({ name: "login", sideEffect: true, idempotent: false });
    const outcome = await (await world.runtime()).call(tool, { user: "a", password: "hunter2" }, task);
    expect(outcome).toMatchObject({ status: "success", output: "a key" });
    expect(await world.dump()).not.toContain("hunter2");
  });

  it("is one call with one row, in a run too", async () => {
    const world = await createWorld();
    const tool = fromTool(secretive(), { maxExecutionsPerRun: 1 });
    const runtime = await world.runtime();
    await runtime.run(task, () => tool.execute({ user: "a", password: "hunter2" }, { toolCallId: "t1" }));
    expect(await world.log("r1")).toHaveLength(1);
  });

  it("can be made to need approval", async () => {
    const world = await createWorld();
    const tool = fromTool(secretive(), { needsApproval: true });
    const runtime = await world.runtime();
    const args = { user: "a", password: "hunter2" };
    const pending = await runtime.call(tool, args, task);
    if (pending.status !== "pending") throw new Error(pending.status);
    await runtime.resolveToolApproval(pending.approval.id, { approved: true });
    expect(await (await world.runtime()).call(tool, args, task)).toMatchObject({ output: "a key" });
    expect(await world.log("r1")).toHaveLength(1);
    expect(await world.dump()).not.toContain("hunter2");
  });
});

describe("toTools", () => {
  it("takes AI SDK tools in a record, named by their keys", async () => {
    const world = await createWorld();
    const [add] = toTools({
      add: sdkTool({
        description: "Adds",
        inputSchema: z.object({ a: z.number(), b: z.number() }),
        execute: async ({ a, b }) => a + b,
      }),
    });
    if (add === undefined) throw new Error("no tool");
    expect(add).toMatchObject({ name: "add", description: "Adds" });
    const runtime = await world.runtime();
    expect(await runtime.call(add, { a: 1, b: 2 }, task)).toMatchObject({ output: 3 });
    expect(await runtime.call(add, { a: 1 }, task)).toMatchObject({ error: { code: "TOOL_INPUT_INVALID" } });
  });

  it("keeps needsApproval of an AI SDK tool", async () => {
    const world = await createWorld();
    const [remove] = toTools({
      remove: sdkTool({
        inputSchema: z.object({ path: z.string() }),
        needsApproval: ({ path }) => path.startsWith("/"),
        execute: async ({ path }) => path,
      }),
    });
    if (remove === undefined) throw new Error("no tool");
    const runtime = await world.runtime();
    expect(await runtime.call(remove, { path: "a" }, task)).toMatchObject({ status: "success" });
    expect(await runtime.call(remove, { path: "/a" }, task)).toMatchObject({ status: "pending" });
  });

  it("takes a list of every kind, in order, and one tool of a record is one tool wherever it is used", () => {
    const own = defineTool({ name: "own", schema, execute: () => 1 });
    const plain = { name: "plain", inputSchema: schema, execute: () => 1 };
    expect(toTools([own, new LangChainLike(), plain]).map(({ name }) => name)).toEqual([
      "own",
      "lc_search",
      "plain",
    ]);
    expect(toTools({ other: own }).map(({ name }) => name)).toEqual(["own"]);
  });
});
