/** The log: every exit has one row, with the right status, under both sets of column names. */
import { defineTool, type Runtime } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createClock, createWorld, never, sorted, until, type World } from "./harness.ts";
import { createBlindCharge, createCharge } from "./tools.ts";

const task = { runId: "r1" };
const args = { amount: 1 };

describe("every exit has exactly one row", () => {
  const exits: Record<
    string,
    { status: string; make: (runtime: Runtime, world: World) => Promise<unknown> }
  > = {
    success: { status: "success", make: (runtime) => runtime.call(createCharge().charge, args, task) },
    "an error of the tool": {
      status: "error",
      make: (runtime) =>
        runtime.call(
          createCharge({}, () => {
            throw new Error("down");
          }).charge,
          args,
          task,
        ),
    },
    "bad input": {
      status: "error",
      make: (runtime) => runtime.call(createCharge().charge, { amount: "1" } as never, task),
    },
    "bad output": {
      status: "error",
      make: (runtime) =>
        runtime.call(
          defineTool({ name: "bad", schema: z.object({}), execute: () => ({ f: () => 1 }) }),
          {},
          task,
        ),
    },
    "a spent limit": {
      status: "error",
      make: (runtime) => runtime.call(createCharge({ maxExecutionsPerRun: 0 }).charge, args, task),
    },
    "a timeout": {
      status: "error",
      make: (runtime) => runtime.call(createCharge({ timeoutMs: 5 }, () => never()).charge, args, task),
    },
    "a request for approval": {
      status: "pending",
      make: (runtime) => runtime.call(createCharge({ needsApproval: true }).charge, args, task),
    },
    "a denial": {
      status: "denied",
      async make(runtime, world) {
        const { charge } = createCharge({ needsApproval: true });
        const outcome = await runtime.call(charge, args, task);
        if (outcome.status !== "pending") throw new Error(outcome.status);
        await runtime.resolveToolApproval(outcome.approval.id, { approved: false });
        await (await world.runtime()).call(charge, args, task);
      },
    },
    "an abort while it runs": {
      status: "unknown",
      async make(runtime) {
        const controller = new AbortController();
        const { charge, effects } = createCharge({}, () => never());
        const call = runtime.call(charge, args, { ...task, signal: controller.signal });
        await until(() => effects.length === 1);
        controller.abort();
        await call;
      },
    },
  };

  it.each(Object.entries(exits))("%s", async (_name, { status, make }) => {
    const world = await createWorld();
    await make(await world.runtime(), world);
    const log = await world.log("r1");
    expect(log.map((row) => row["status"])).toEqual([status]);
    expect(log[0]).toMatchObject({ run_id: "r1", node_id: "main", iteration: 0, attempt: 1, seq: 1 });
    expect(log[0]?.["finished_at_ms"] === null).toBe(status === "pending");
    expect(log[0]?.["error_json"] === null).toBe(!["error", "unknown"].includes(status));
  });

  it("an open breaker", async () => {
    const world = await createWorld();
    const { charge } = createCharge({ retry: { circuitBreakerThreshold: 1 } }, () => {
      throw new Error("down");
    });
    const runtime = await world.runtime();
    await runtime.call(charge, { amount: 1 }, task);
    await runtime.call(charge, { amount: 2 }, task);
    const log = await world.log("r1");
    expect(log.map((row) => [row["status"], row["effect"], row["tries"]])).toEqual([
      ["error", null, 1],
      ["error", "none", 0],
    ]);
  });

  it("a running call has a row too, as started", async () => {
    const world = await createWorld();
    const gate = Promise.withResolvers<undefined>();
    const { charge, effects } = createCharge({}, () => gate.promise);
    const call = (await world.runtime()).call(charge, args, task);
    await until(() => effects.length === 1);
    expect(await world.log("r1")).toMatchObject([
      { status: "started", finished_at_ms: null, output_json: null },
    ]);
    gate.resolve(undefined);
    await call;
    expect(await world.log("r1")).toMatchObject([{ status: "success" }]);
  });
});

describe("the columns", () => {
  it("have both sets of names and the documented values", async () => {
    const world = await createWorld();
    const clock = createClock();
    const { charge } = createCharge({ idempotencyKey: ({ amount }) => `order-${amount}` });
    const runtime = await world.runtime({ clock });
    const outcome = await runtime.call(charge, args, {
      ...task,
      nodeId: "pay",
      iteration: 2,
      toolCallId: "call_1",
    });
    const [row] = await world.rows("SELECT * FROM _smithers_tool_calls");
    const expected = {
      runId: "r1",
      nodeId: "pay",
      iteration: 2,
      attempt: 1,
      seq: 1,
      toolName: "charge",
      inputJson: '{"amount":1}',
      outputJson: '{"id":"ch_1"}',
      startedAtMs: 1_000_000,
      finishedAtMs: 1_000_000,
      status: "success",
      errorJson: null,
      key: outcome.key,
      toolCallId: "call_1",
      replayed: 0,
      replayedFrom: null,
      fromCache: 0,
      tries: 1,
      effect: "happened",
      isolation: null,
      approvalId: null,
      approval: null,
      parentKey: "",
    };
    expect(row).toMatchObject(expected);
    for (const [name, value] of Object.entries(expected)) {
      const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      expect([snake, row?.[snake]]).toEqual([snake, value]);
    }
    expect(row?.["idempotencyKey"]).not.toBe(outcome.key);
    expect(row?.["idempotencyKey"]).toBe(row?.["idempotency_key"]);
  });

  it("show the approval that allowed a call", async () => {
    const world = await createWorld();
    const { charge } = createCharge({ needsApproval: true });
    const runtime = await world.runtime();
    const pending = await runtime.call(charge, args, task);
    if (pending.status !== "pending") throw new Error(pending.status);
    expect(await world.log("r1")).toMatchObject([{ approval: "pending", approval_id: pending.approval.id }]);
    await runtime.resolveToolApproval(pending.approval.id, { approved: true });
    await (await world.runtime()).call(charge, args, task);
    expect(await world.log("r1")).toMatchObject([
      { status: "success", approval: "approved", approval_id: pending.approval.id },
    ]);
  });

  it("ctx.seq equals seq, call after call, task after task, and nested", async () => {
    const world = await createWorld();
    const seen: [string, number][] = [];
    const inner = defineTool({
      name: "inner",
      schema: z.object({}),
      execute: (_args, ctx) => void seen.push(["inner", ctx.seq]),
    });
    const outer = defineTool({
      name: "outer",
      schema: z.object({}),
      sideEffect: true,
      async execute(_args, ctx) {
        seen.push(["outer", ctx.seq]);
        await inner.execute({});
      },
    });
    const runtime = await world.runtime();
    await runtime.call(inner, {}, task);
    await runtime.call(outer, {}, task);
    await runtime.call(outer, {}, { ...task, nodeId: "other" });
    const rows = await world.rows(
      "SELECT tool_name, seq FROM _smithers_tool_calls ORDER BY node_id DESC, seq",
    );
    expect(seen).toEqual([
      ["inner", 1],
      ["outer", 2],
      ["inner", 3],
      ["outer", 1],
      ["inner", 2],
    ]);
    expect(sorted(rows.map((row) => [row["tool_name"], row["seq"]]))).toEqual(sorted(seen));
  });

  it("an inner call names its parent", async () => {
    const world = await createWorld();
    const inner = defineTool({ name: "inner", schema: z.object({}), execute: () => 1 });
    const outer = defineTool({ name: "outer", schema: z.object({}), execute: () => inner.execute({}) });
    const outcome = await (await world.runtime()).call(outer, {}, task);
    const [row] = await world.rows(
      "SELECT \"parentKey\" FROM _smithers_tool_calls WHERE tool_name = 'inner'",
    );
    expect(row?.["parentKey"]).toBe(outcome.key);
  });
});

describe("replays", () => {
  it("add no row in the same attempt, and one marked row in a later one", async () => {
    const world = await createWorld();
    const { charge } = createCharge();
    await (await world.runtime()).call(charge, args, task);
    await (await world.runtime()).call(charge, args, task);
    expect(await world.log("r1")).toHaveLength(1);
    await (await world.runtime()).call(charge, args, { ...task, attempt: 2 });
    await (await world.runtime()).call(charge, args, { ...task, attempt: 2 });
    await (await world.runtime()).call(charge, args, { ...task, attempt: 3 });
    const log = await world.log("r1");
    expect(log.map((row) => [row["attempt"], row["replayed"], row["replayed_from"], row["tries"]])).toEqual([
      [1, 0, null, 1],
      [2, 1, 1, 0],
      [3, 1, 1, 0],
    ]);
    expect(new Set(log.map((row) => row["output_json"]))).toEqual(new Set(['{"id":"ch_1"}']));
  });
});

describe("large values", () => {
  const big = "ü".repeat(3_000);
  const echo = defineTool({
    name: "echo",
    schema: z.object({ text: z.string() }),
    sideEffect: true,
    idempotent: false,
    execute: ({ text }, ctx) => ({ text, key: ctx.idempotencyKey }),
  });

  it("are previewed with their size, and are complete live, in full, on resume and on replay", async () => {
    const world = await createWorld();
    const runtime = await world.runtime({ maxOutputBytes: 1_000 });
    const live = await runtime.call(echo, { text: big }, task);
    const expected = { text: big, key: live.key };
    expect(live).toMatchObject({ output: expected });
    const [row] = await world.log("r1");
    for (const [column, whole] of [
      ["input_json", JSON.stringify({ text: big })],
      ["output_json", JSON.stringify(expected)],
    ] as const) {
      const short: unknown = JSON.parse(String(row?.[column]));
      expect(short).toEqual({
        truncated: true,
        bytes: Buffer.byteLength(whole),
        preview: expect.stringMatching(/^\{"text":"ü+$/),
      });
    }
    expect(await runtime.fullOutput(live.key ?? "")).toEqual(expected);
    expect(await (await world.runtime()).call(echo, { text: big }, task)).toMatchObject({ output: expected });
    const later = await world.runtime({ maxOutputBytes: 1_000 });
    expect(await later.call(echo, { text: big }, { ...task, attempt: 2 })).toMatchObject({
      output: expected,
      replayed: true,
    });
    expect(await later.call(echo, { text: big }, { ...task, attempt: 3 })).toMatchObject({
      output: expected,
    });
    expect(await later.fullOutput(live.key ?? "")).toEqual(expected);
  });

  it("of exactly maxOutputBytes are shown complete, and of one byte more are not", async () => {
    const world = await createWorld();
    const tool = defineTool({
      name: "sized",
      schema: z.object({ n: z.number() }),
      execute: ({ n }) => "x".repeat(n),
    });
    const runtime = await world.runtime({ maxOutputBytes: 100 });
    await runtime.call(tool, { n: 100 }, task);
    await runtime.call(tool, { n: 101 }, task);
    const outputs = (await world.log("r1")).map((row) => String(row["output_json"]));
    expect(outputs[0]).toBe(`"${"x".repeat(100)}"`);
    expect(JSON.parse(outputs[1] ?? "")).toMatchObject({ truncated: true, bytes: 103 });
  });

  it("of exactly maxOutputBytes are shown complete even if JSON needs more for their line breaks", async () => {
    const world = await createWorld();
    const text = '"\n'.repeat(50);
    const tool = defineTool({ name: "lines", schema: z.object({}), execute: () => text });
    const runtime = await world.runtime({ maxOutputBytes: 100 });
    await runtime.call(tool, {}, task);
    const [row] = await world.log("r1");
    expect(JSON.parse(String(row?.["output_json"]))).toBe(text);
  });

  it("are complete from the cache too", async () => {
    const world = await createWorld();
    const tool = defineTool({ name: "page", schema: z.object({}), cache: true, execute: () => big });
    const runtime = await world.runtime({ maxOutputBytes: 100 });
    await runtime.call(tool, {}, task);
    const hit = await runtime.call(tool, {}, task);
    expect(hit).toMatchObject({ output: big, fromCache: true });
    expect(await runtime.fullOutput(hit.key ?? "")).toBe(big);
    expect(JSON.parse(String((await world.log("r1"))[1]?.["output_json"]))).toMatchObject({
      truncated: true,
    });
  });

  it("a run's own maxOutputBytes counts for its log", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    await runtime.run({ ...task, settings: { maxOutputBytes: 50 } }, () => echo.execute({ text: big }));
    expect(JSON.parse(String((await world.log("r1"))[0]?.["output_json"]))).toMatchObject({
      truncated: true,
    });
  });

  it("of an unknown key are an error", async () => {
    const world = await createWorld();
    await expect((await world.runtime()).fullOutput("nope")).rejects.toMatchObject({
      code: "TOOL_NOT_FOUND",
    });
  });
});

describe("runtime.calls", () => {
  it("filters by run, task, tool and status, in the order in which calls were made", async () => {
    const world = await createWorld();
    const clock = createClock();
    const runtime = await world.runtime({ clock });
    const { charge } = createCharge();
    const { charge: blind } = createBlindCharge({}, (count) => {
      if (count === 2) throw new Error("down");
    });
    for (const [tool, amount, ids] of [
      [charge, 1, { runId: "a" }],
      [blind, 2, { runId: "a", nodeId: "n2" }],
      [blind, 3, { runId: "b" }],
      [charge, 4, { runId: "a", nodeId: "n2" }],
    ] as const) {
      await runtime.call(tool, { amount }, ids);
      await clock.advance(1);
    }
    const amounts = async (filter: Parameters<typeof runtime.calls>[0]) =>
      (await runtime.calls(filter)).map(
        ({ inputJson }) => (JSON.parse(inputJson ?? "") as typeof args).amount,
      );
    expect(await amounts({})).toEqual([1, 2, 3, 4]);
    expect(await amounts({ runId: "a" })).toEqual([1, 2, 4]);
    expect(await amounts({ runId: "a", nodeId: "n2" })).toEqual([2, 4]);
    expect(await amounts({ toolName: "blind_charge" })).toEqual([2, 3]);
    expect(await amounts({ status: "error" })).toEqual([3]);
    expect(await amounts({ runId: "a", limit: 2 })).toEqual([1, 2]);
    expect(await amounts({ runId: "none" })).toEqual([]);
  });

  it("has the documented fields, with booleans instead of numbers", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    const outcome = await runtime.call(createCharge().charge, args, task);
    const [row] = await runtime.calls(task);
    expect(row).toMatchObject({
      ...task,
      nodeId: "main",
      iteration: 0,
      attempt: 1,
      seq: 1,
      toolName: "charge",
      inputJson: '{"amount":1}',
      status: "success",
      errorJson: null,
      key: outcome.key,
      idempotencyKey: outcome.key,
      replayed: false,
      fromCache: false,
      tries: 1,
    });
  });
});
