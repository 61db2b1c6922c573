/** Tools outside any run, and the ambient context. */
import {
  defineTool,
  fromTool,
  getToolContext,
  getToolIdempotencyKey,
  nextToolSeq,
  type PartialToolContext,
  runWithToolContext,
} from "toolwright";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { createWorld } from "./harness.ts";
import { createCharge } from "./tools.ts";

const FIELDS = [
  "idempotencyKey",
  "toolName",
  "sideEffect",
  "idempotent",
  "runId",
  "nodeId",
  "iteration",
  "attempt",
  "seq",
  "rootDir",
  "allowNetwork",
  "maxOutputBytes",
  "timeoutMs",
  "isolation",
  "toolCallId",
] as const;

const look = defineTool({
  name: "look",
  schema: z.object({}),
  execute: (_args, ctx) => Object.fromEntries(FIELDS.map((name) => [name, ctx[name]])),
});

describe("outside any run", () => {
  it("a tool works with the documented defaults: no run, a fresh key", async () => {
    expect(await look.execute({})).toEqual({
      idempotencyKey: expect.stringMatching(/^[\w-]{20,64}$/),
      toolName: "look",
      sideEffect: false,
      idempotent: true,
      runId: "",
      nodeId: "main",
      iteration: 0,
      attempt: 1,
      seq: 1,
      rootDir: process.cwd(),
      allowNetwork: false,
      maxOutputBytes: 200_000,
      timeoutMs: 60_000,
      isolation: "auto",
      toolCallId: undefined,
    });
  });

  it("every form of the call is the same call", async () => {
    const { charge, effects } = createCharge();
    for (const method of ["execute", "invoke", "call", "run", "func"] as const)
      await charge[method]({ amount: 1 });
    expect(effects).toHaveLength(5);
    expect(new Set(effects.map(({ key }) => key)).size).toBe(5);
  });

  it("nothing is logged, even while a runtime is open", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    await runtime.ready();
    await createCharge().charge.execute({ amount: 1 });
    expect(await runtime.calls()).toEqual([]);
  });

  it("a tool that needs approval is refused and never runs, even if the messages contain an approval", async () => {
    const { charge, effects } = createCharge({ needsApproval: true });
    const messages = [
      { role: "assistant", content: [{ type: "tool-approval-request", toolCallId: "t1", approvalId: "a1" }] },
      { role: "tool", content: [{ type: "tool-approval-response", approvalId: "a1", approved: true }] },
    ];
    await expect(charge.execute({ amount: 1 })).rejects.toMatchObject({ code: "TOOL_APPROVAL_REQUIRED" });
    await expect(charge.execute({ amount: 1 }, { toolCallId: "t1", messages })).rejects.toMatchObject({
      code: "TOOL_APPROVAL_REQUIRED",
    });
    expect(effects).toEqual([]);
  });

  it("other fields that a caller passes are in ctx, for tests that give a tool its capabilities", async () => {
    const tool = defineTool({
      name: "asks",
      schema: z.object({}),
      execute: (_args, ctx) => (ctx as unknown as { conn: { ask(): string } }).conn.ask(),
    });
    expect(await tool.execute({}, { conn: { ask: () => "answer" } })).toBe("answer");
  });

  it("a test may pass an idempotency key to any kind of tool", async () => {
    const { charge, effects } = createCharge();
    await charge.execute({ amount: 1 }, { idempotencyKey: "given" });
    expect(effects).toEqual([{ amount: 1, key: "given" }]);
  });

  it("inside a run a caller cannot override the key of a tool", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge();
    const runtime = await world.runtime();
    await runtime.run({ runId: "r1" }, () => charge.execute({ amount: 1 }, { idempotencyKey: "forged" }));
    const [row] = await runtime.calls();
    expect(effects).toEqual([{ amount: 1, key: row?.key }]);
  });

  it("every try of a call has the same key, and each call inside it has its own key", async () => {
    const keys: string[] = [];
    const inner = defineTool({
      name: "inner",
      schema: z.object({ n: z.number() }),
      execute: (_args, ctx) => ctx.idempotencyKey,
    });
    const outer = defineTool({
      name: "outer",
      schema: z.object({}),
      retry: { maxRetries: 1, backoffMs: 0 },
      execute: async (_args, ctx) => {
        keys.push(ctx.idempotencyKey, await inner.execute({ n: 1 }), await inner.execute({ n: 1 }));
        if (keys.length < 6) throw new Error("down");
      },
    });
    await outer.execute({});
    expect(keys.slice(3)).toEqual(keys.slice(0, 3));
    expect(new Set(keys).size).toBe(3);
  });

  it("a context that names a run gives its calls stable keys, and two calls never share one", async () => {
    const context = { runId: "theirs", nodeId: "n", iteration: 2 };
    const keysOf = (ids: PartialToolContext) =>
      runWithToolContext({ ...ids }, async () => [
        (await look.execute({}))["idempotencyKey"],
        (await look.execute({}))["idempotencyKey"],
      ]);
    const keys = await keysOf(context);
    expect(await keysOf(context)).toEqual(keys);
    expect(new Set([...keys, ...(await keysOf({ ...context, iteration: 3 }))]).size).toBe(4);
  });

  it("a business key is passed on", async () => {
    const tool = defineTool({
      name: "pays",
      schema: z.object({ order: z.string() }),
      idempotencyKey: ({ order }) => order,
      execute: (_args, ctx) => ctx.idempotencyKey,
    });
    const key = await tool.execute({ order: "a" });
    expect(await tool.execute({ order: "a" })).toBe(key);
    expect(await tool.execute({ order: "b" })).not.toBe(key);
    const world = await createWorld();
    expect(await (await world.runtime()).call(tool, { order: "a" }, { runId: "r1" })).toMatchObject({
      output: key,
    });
  });

  it("a non-idempotent side effect warns once that nothing is logged", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    onTestFinished(() => warn.mockRestore());
    const charge = fromTool(createCharge().charge, { name: "charge_outside" });
    await charge.execute({ amount: 1 });
    await charge.execute({ amount: 2 });
    expect(warn.mock.calls.flat()).toEqual([
      expect.stringMatching(/"charge_outside".* outside any run.*runtime\.run\(\{ runId \}, work\)/),
    ]);
  });

  it("a breaker, a cache and a limit are harmless there", async () => {
    let runs = 0;
    const tool = defineTool({
      name: "flaky",
      schema: z.object({}),
      cache: true,
      maxExecutionsPerRun: 1,
      retry: { maxRetries: 1, backoffMs: 0, circuitBreakerThreshold: 1 },
      execute() {
        runs += 1;
        if (runs % 2 === 1) throw new Error("down");
        return runs;
      },
    });
    expect(await tool.execute({})).toBe(2);
    expect(await tool.execute({})).toBe(4);
    // The same with the fields of a run that another program owns.
    expect(await runWithToolContext({ runId: "theirs" }, () => tool.execute({}))).toBe(6);
  });
});

describe("runWithToolContext", () => {
  it("passes its fields to the tools called inside", async () => {
    const context = {
      runId: "theirs",
      nodeId: "n",
      iteration: 3,
      attempt: 2,
      idempotencyKey: "k",
      rootDir: "elsewhere",
      allowNetwork: true,
      maxOutputBytes: 5,
      timeoutMs: 6,
      isolation: "off",
    } satisfies PartialToolContext;
    expect(await runWithToolContext(context, () => look.execute({}))).toMatchObject(context);
    expect(getToolContext()).toBeUndefined();
  });

  it("counts the calls of one context from 1", async () => {
    const context = { runId: "theirs" };
    const seqs = await runWithToolContext(context, async () => [
      (await look.execute({}))["seq"],
      (await look.execute({}))["seq"],
    ]);
    expect(seqs).toEqual([1, 2]);
    expect(await runWithToolContext({ runId: "theirs" }, () => look.execute({}))).toMatchObject({ seq: 1 });
  });

  it("runs the caller's snapshot hook after a side effect, and ignores a failure of the hook", async () => {
    const snapshots: [string, string][] = [];
    const { charge } = createCharge();
    const durabilitySnapshot = async (name: string, toolUseId: string): Promise<never> => {
      snapshots.push([name, toolUseId]);
      throw new Error("no space");
    };
    const output = await runWithToolContext({ durabilitySnapshot }, async () => {
      await look.execute({}, { toolCallId: "t0" });
      return charge.execute({ amount: 1 }, { toolCallId: "t1" });
    });
    expect(output).toEqual({ id: "ch_1" });
    expect(snapshots).toEqual([["charge", "t1"]]);
  });

  it("its signal reaches the tools called inside", async () => {
    const controller = new AbortController();
    const tool = defineTool({
      name: "stops",
      schema: z.object({}),
      execute: (_args, ctx) => {
        controller.abort();
        return ctx.signal.aborted;
      },
    });
    expect(await runWithToolContext({ signal: controller.signal }, () => tool.execute({}))).toBe(true);
  });

  it("settings that it narrows apply to calls inside a run too", async () => {
    const world = await createWorld();
    const runtime = await world.runtime({ rootDir: "project" });
    const seen = await runtime.run({ runId: "r1" }, () =>
      runWithToolContext({ maxOutputBytes: 7 }, () => look.execute({})),
    );
    expect(seen).toMatchObject({
      runId: "r1",
      maxOutputBytes: 7,
      rootDir: expect.stringMatching(/project$/),
    });
  });
});

describe("inside a tool", () => {
  it("getToolContext and getToolIdempotencyKey find the running call, across awaits and per call", async () => {
    const world = await createWorld();
    const deep = async (): Promise<unknown> => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      const context = getToolContext();
      return [
        context?.toolName,
        context?.runId,
        context?.seq,
        getToolIdempotencyKey(),
        getToolIdempotencyKey(context),
      ];
    };
    const make = (name: string) => defineTool({ name, schema: z.object({}), execute: () => deep() });
    const runtime = await world.runtime();
    const [one, two] = await Promise.all([
      runtime.call(make("one"), {}, { runId: "r1" }),
      runtime.call(make("two"), {}, { runId: "r2" }),
    ]);
    expect(one).toMatchObject({ output: ["one", "r1", 1, one.key, one.key] });
    expect(two).toMatchObject({ output: ["two", "r2", 1, two.key, two.key] });
    expect(getToolContext()).toBeUndefined();
    expect(getToolIdempotencyKey()).toBeNull();
    expect(getToolIdempotencyKey({ seq: 5 })).toBeNull();
    expect(getToolIdempotencyKey({ runId: "" })).toBeNull();
  });

  it("getToolIdempotencyKey builds a key from the ids of a task, the same in every process", () => {
    const ids = { runId: "r", nodeId: "n", iteration: 2 };
    const key = getToolIdempotencyKey(ids);
    expect(key).toBe("veULLAFImHGG078WhaImMg75Vi3g3A57LUEpv0ad9z4");
    expect(runWithToolContext(ids, () => getToolIdempotencyKey())).toBe(key);
    expect(getToolIdempotencyKey({ ...ids, attempt: 3, seq: 9 })).toBe(key);
    const others = [
      { ...ids, iteration: 3 },
      { ...ids, nodeId: "m" },
      { runId: "r:n", nodeId: "2", iteration: 0 },
      { runId: "r", nodeId: "n:2", iteration: 0 },
      { runId: "r" },
    ].map((other) => getToolIdempotencyKey(other));
    expect(new Set([key, ...others]).size).toBe(6);
  });

  it("reading the key that way counts as reading it", async () => {
    const world = await createWorld();
    const tool = defineTool({
      name: "reads",
      schema: z.object({}),
      sideEffect: true,
      idempotent: false,
      execute: (_args, _ctx) => getToolIdempotencyKey(),
    });
    await (await world.runtime()).call(tool, {}, { runId: "r1" });
    expect(await world.rows("SELECT key_read FROM toolwright_calls")).toEqual([{ key_read: 1 }]);
  });

  it("nextToolSeq counts separately for each context object", () => {
    const [one, other] = [{}, {}];
    expect([nextToolSeq(one), nextToolSeq(one), nextToolSeq(other), nextToolSeq(one)]).toEqual([1, 2, 1, 3]);
  });

  it("nextToolSeq continues from ctx.seq", () => {
    const context = { seq: 5 };
    expect([nextToolSeq(context), nextToolSeq(context)]).toEqual([6, 7]);
    context.seq = 20;
    expect(nextToolSeq(context)).toBe(21);
    expect(nextToolSeq({ seq: undefined })).toBe(1);
  });
});
