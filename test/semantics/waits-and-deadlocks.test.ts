/** Rule 24: calls wait for slots, budgets, results and keys that others hold, and never for themselves. */
import { defineTool, type Runtime, type ToolLike } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createWorld, isFinish, times, until, watchStore } from "./harness.ts";
import { createBlindCharge, createCharge } from "./tools.ts";

const task = { runId: "r1" };
const n = z.object({ n: z.number() });

/** A signal that ends a call which would otherwise wait forever. */
function patience(): AbortSignal {
  return AbortSignal.timeout(15_000);
}

function call(runtime: Runtime, tool: ToolLike, args: unknown, options: object = {}) {
  return runtime.call(tool, args, { ...task, signal: patience(), ...options });
}

describe("a slot", () => {
  it("is released when another call takes the business key first", async () => {
    const world = await createWorld();
    const gate = Promise.withResolvers<void>();
    const { charge, effects } = createBlindCharge(
      { idempotencyKey: () => "order-1", onUnknown: "run" },
      async (count) => {
        if (count > 1) return;
        await gate.promise;
        throw new Error("connection lost");
      },
    );
    const runtime = await world.runtime({ limits: { maxParallelTools: 1 } });
    const both = [
      call(runtime, charge, { amount: 1 }),
      call(runtime, charge, { amount: 1 }, { nodeId: "b" }),
    ];
    await until(() => effects.length === 1);
    gate.resolve();
    const statuses = (await Promise.all(both)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual(["error", "success"]);
    // The slot is free again.
    expect(await call(runtime, charge, { amount: 1 }, { nodeId: "c" })).toMatchObject({ status: "success" });
  });

  it("is not needed by calls that are cached, pending, denied or replayed", async () => {
    const world = await createWorld();
    const gate = Promise.withResolvers<void>();
    const entered: string[] = [];
    const slow = defineTool({
      name: "slow",
      schema: z.object({}),
      execute: () => (entered.push("slow"), gate.promise),
    });
    const cached = defineTool({ name: "cached", schema: n, cache: true, execute: () => "value" });
    const { charge: asks } = createCharge({ needsApproval: true });
    const limits = { maxParallelTools: 1 };
    const earlier = await world.runtime({ limits });
    await call(earlier, cached, { n: 1 });
    const { approval } = (await call(earlier, asks, { amount: 1 })) as unknown as {
      approval: { id: string };
    };
    await earlier.resolveToolApproval(approval.id, { approved: false });
    const runtime = await world.runtime({ limits });
    // Without a signal: only the end of the call may free the slot.
    const running = runtime.call(slow, {}, task);
    await until(() => entered.length === 1);
    const outcomes = [
      await call(runtime, cached, { n: 1 }),
      await call(runtime, cached, { n: 1 }, { nodeId: "other" }),
      await call(runtime, asks, { amount: 1 }),
      await call(runtime, asks, { amount: 2 }),
    ];
    expect(outcomes.map(({ status }) => status)).toEqual(["success", "success", "denied", "pending"]);
    gate.resolve();
    await running;
  });

  it("is shared by a call in another task of the same run that a tool makes", async () => {
    const world = await createWorld();
    const { charge } = createCharge();
    const runtime = await world.runtime({ limits: { maxParallelTools: 1, maxCostUsd: 1 } });
    const outer = defineTool({
      name: "outer",
      schema: n,
      execute: async ({ n: how }) => {
        if (how === 1) return (await call(runtime, charge, { amount: 1 }, { nodeId: "inner" })).status;
        return runtime.run(
          { ...task, nodeId: "inner-run" },
          async () => (await charge.execute({ amount: 2 })).id,
        );
      },
    });
    expect(await call(runtime, outer, { n: 1 })).toMatchObject({ output: "success" });
    expect(await call(runtime, outer, { n: 2 })).toMatchObject({ output: "ch_2" });
  });

  it("goes to the next call when a call is aborted in the queue", async () => {
    const world = await createWorld();
    const gate = Promise.withResolvers<void>();
    const { charge, effects } = createCharge({}, (count) => (count === 1 ? gate.promise : undefined));
    const runtime = await world.runtime({ limits: { maxParallelTools: 1 } });
    const first = call(runtime, charge, { amount: 1 });
    await until(() => effects.length === 1);
    const controller = new AbortController();
    const second = call(runtime, charge, { amount: 2 }, { signal: controller.signal });
    const third = call(runtime, charge, { amount: 3 });
    controller.abort(new Error("enough"));
    expect(await second).toMatchObject({ status: "error", error: { code: "TOOL_ABORTED" } });
    gate.resolve();
    expect((await Promise.all([first, third])).map(({ status }) => status)).toEqual(times(2, "success"));
    expect(effects.map(({ amount }) => amount)).toEqual([1, 3]);
  });
});

describe("cycles", () => {
  it("a tool calls a cached tool while an equal call waits for the tool's budget", async () => {
    const world = await createWorld();
    const gate = Promise.withResolvers<void>();
    const entered: string[] = [];
    const lookup = defineTool({ name: "lookup", schema: n, cache: true, execute: () => "found" });
    const outer = defineTool({
      name: "outer",
      schema: z.object({}),
      execute: async () => {
        entered.push("outer");
        await gate.promise;
        return lookup.execute({ n: 1 });
      },
    });
    const runtime = await world.runtime({ limits: { maxCostUsd: 1 } });
    const first = call(runtime, outer, {});
    await until(() => entered.length === 1);
    // It waits: the enclosing call may use the whole budget.
    const second = call(runtime, lookup, { n: 1 }, { nodeId: "b" });
    await new Promise((resolve) => setTimeout(resolve, 60));
    gate.resolve();
    expect(await first).toMatchObject({ status: "success", output: "found" });
    expect(await second).toMatchObject({ status: "success", output: "found" });
  });

  it("two tools that hold budgets call tools that would wait for each other's", async () => {
    const world = await createWorld();
    const together = Promise.withResolvers<void>();
    let running = 0;
    const inner = defineTool({ name: "inner", schema: n, execute: ({ n: of }) => of });
    const outer = defineTool({
      name: "outer",
      schema: n,
      execute: async ({ n: of }, ctx) => {
        ctx.reportCost(0.1);
        if (of === 0) return 0;
        running += 1;
        if (running === 2) together.resolve();
        await together.promise;
        return inner.execute({ n: of });
      },
    });
    const runtime = await world.runtime({ limits: { maxCostUsd: 1 } });
    // From here on the tool is known to cost little, so two calls fit into the budget.
    await call(runtime, outer, { n: 0 });
    const outcomes = await Promise.all([call(runtime, outer, { n: 1 }), call(runtime, outer, { n: 2 })]);
    expect(outcomes).toMatchObject([{ output: 1 }, { output: 2 }]);
  });

  it("two cached tools call each other", async () => {
    const world = await createWorld();
    const together = Promise.withResolvers<void>();
    let running = 0;
    const tools: { execute(args: object): Promise<unknown> }[] = [];
    const make = (name: string, other: number) =>
      defineTool({
        name,
        schema: z.object({}),
        cache: true,
        execute: async (): Promise<unknown> => {
          running += 1;
          if (running > 2) return name;
          if (running === 2) together.resolve();
          await together.promise;
          return `${name} of ${String(await tools[other]?.execute({}))}`;
        },
      });
    const [one, two] = [make("one", 1), make("two", 0)];
    tools.push(one, two);
    const runtime = await world.runtime();
    const outcomes = await Promise.all([call(runtime, one, {}), call(runtime, two, {})]);
    expect(outcomes.map(({ status }) => status)).toEqual(times(2, "success"));
  });

  it("two tools call each other's business keys: the call that would wait for itself is refused immediately", async () => {
    const world = await createWorld();
    const together = Promise.withResolvers<void>();
    let running = 0;
    const pay = defineTool({
      name: "pay",
      schema: z.object({ order: z.enum(["a", "b"]) }),
      sideEffect: true,
      idempotent: false,
      idempotencyKey: ({ order }) => order,
      execute: async ({ order }, ctx): Promise<string> => {
        running += 1;
        if (running === 2) together.resolve();
        await together.promise;
        await pay.execute({ order: order === "a" ? "b" : "a" });
        return ctx.idempotencyKey ?? "";
      },
    });
    const runtime = await world.runtime();
    const outcomes = await Promise.all([
      call(runtime, pay, { order: "a" }),
      call(runtime, pay, { order: "b" }, { nodeId: "b" }),
    ]);
    const codes = outcomes.map((outcome) =>
      outcome.status === "error" ? outcome.error.code : outcome.status,
    );
    expect(codes).toContain("TOOL_CALL_CYCLE");
    expect(codes).not.toContain("TOOL_ABORTED");
  });

  it("a call inside itself under its own callKey is refused, and does not wait for itself", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    const twice = defineTool({
      name: "twice",
      schema: z.object({}),
      execute: async (): Promise<unknown> => {
        const hop = await call(runtime, hopper, {}, { nodeId: "b", callKey: "hop" });
        return hop.status === "success" ? hop.output : hop.status;
      },
    });
    const hopper = defineTool({
      name: "hopper",
      schema: z.object({}),
      execute: async (): Promise<string> => {
        const inner = await call(runtime, twice, {}, { nodeId: "a", callKey: "k" });
        return inner.status === "error" ? inner.error.code : inner.status;
      },
    });
    expect(await call(runtime, twice, {}, { nodeId: "a", callKey: "k" })).toMatchObject({
      output: "TOOL_CALL_CYCLE",
    });
  });

  it("a call with a callKey that waits for an equal one can be aborted", async () => {
    const world = await createWorld();
    const gate = Promise.withResolvers<void>();
    const { charge, effects } = createCharge({}, () => gate.promise);
    const runtime = await world.runtime();
    const first = call(runtime, charge, { amount: 1 }, { callKey: "k" });
    await until(() => effects.length === 1);
    const controller = new AbortController();
    const second = call(runtime, charge, { amount: 1 }, { callKey: "k", signal: controller.signal });
    controller.abort();
    expect(await second).toMatchObject({ status: "error", error: { code: "TOOL_ABORTED" } });
    gate.resolve();
    expect(await first).toMatchObject({ status: "success" });
  });

  it("of several equal calls with a callKey that wait for one that leaves no outcome, one runs", async () => {
    const world = await createWorld();
    const gate = Promise.withResolvers<void>();
    const { charge, effects } = createCharge({}, (count) => (count === 1 ? gate.promise : undefined));
    const runtime = await world.runtime({ limits: { maxParallelTools: 1 } });
    const running = call(runtime, charge, { amount: 1 });
    await until(() => effects.length === 1);
    const controller = new AbortController();
    const queued = call(runtime, charge, { amount: 2 }, { callKey: "k", signal: controller.signal });
    const equal = [1, 2, 3].map(() => call(runtime, charge, { amount: 2 }, { callKey: "k" }));
    await new Promise((resolve) => setTimeout(resolve, 20));
    controller.abort();
    expect(await queued).toMatchObject({ status: "error", error: { code: "TOOL_ABORTED" } });
    gate.resolve();
    expect(await Promise.all([running, ...equal])).toMatchObject(times(4, { status: "success" }));
    expect(effects.map(({ amount }) => amount)).toEqual([1, 2]);
  });

  it("a queued call that a running tool waits for uses that tool's slot", async () => {
    const world = await createWorld();
    const queued = Promise.withResolvers<void>();
    const entered: string[] = [];
    const work = defineTool({ name: "work", schema: z.object({}), execute: () => "worked" });
    const runtime = await world.runtime({ limits: { maxParallelTools: 1 } });
    const same = { nodeId: "b", callKey: "b" };
    const outer = defineTool({
      name: "outer",
      schema: z.object({}),
      execute: async () => {
        entered.push("outer");
        await queued.promise;
        const inner = await call(runtime, work, {}, same);
        return inner.status === "success" ? inner.output : inner.status;
      },
    });
    const first = call(runtime, outer, {});
    await until(() => entered.length === 1);
    const second = call(runtime, work, {}, same);
    await new Promise((resolve) => setTimeout(resolve, 60));
    queued.resolve();
    expect(await first).toMatchObject({ output: "worked" });
    expect(await second).toMatchObject({ output: "worked" });
  });
});

describe("a reservation", () => {
  it.each([{ maxParallelTools: 1 }, { maxCostUsd: 1 }, { maxTotalOutputBytes: 10_000 }])(
    "of a call whose outcome could not be stored is dropped by its own process (%o)",
    async (limits) => {
      const world = await createWorld();
      let fails = true;
      const store = watchStore(await world.open(), {
        onStatement(sql) {
          if (fails && isFinish(sql)) throw new Error("the disk is full");
        },
      });
      const { charge } = createCharge();
      const runtime = await world.runtime({ limits, store });
      await expect(call(runtime, charge, { amount: 1 })).rejects.toMatchObject({ code: "TOOL_STORE_FAILED" });
      fails = false;
      expect(await call(runtime, charge, { amount: 2 }, { nodeId: "b" })).toMatchObject({
        status: "success",
      });
    },
  );
});
