/** Rule 24: limits of the run and of the tool. */
import { defineTool } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createClock, createWorld, never, sorted, times, until } from "./harness.ts";
import { createCharge } from "./tools.ts";

const task = { runId: "r1" };
const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function codes(outcomes: readonly { status: string; error?: { code: string } }[]): string[] {
  return outcomes.map((outcome) => outcome.error?.code ?? outcome.status);
}

describe("counts", () => {
  it("rule 24: of five parallel calls under a limit of two, two run", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ maxExecutionsPerRun: 2 }, () => later(5));
    const runtime = await world.runtime();
    const outcomes = await Promise.all(
      [1, 2, 3, 4, 5].map((amount) => runtime.call(charge, { amount }, task)),
    );
    expect(codes(outcomes).sort()).toEqual([...times(3, "TOOL_LIMIT_EXCEEDED"), "success", "success"]);
    expect(effects).toHaveLength(2);
    expect(sorted((await world.log("r1")).map((row) => row["status"]))).toEqual([
      ...times(3, "error"),
      "success",
      "success",
    ]);
  });

  it("rule 24: two runtimes on one store share the limit", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({}, () => later(5));
    const runtimes = [
      await world.runtime({ limits: { maxToolCalls: 3 } }),
      await world.runtime({ limits: { maxToolCalls: 3 } }),
    ];
    const outcomes = await Promise.all(
      [1, 2, 3, 4].flatMap((n) => runtimes.map((one, of) => one.call(charge, { amount: n * 10 + of }, task))),
    );
    expect(codes(outcomes).filter((code) => code === "success")).toHaveLength(3);
    expect(effects).toHaveLength(3);
  });

  it("rule 24: counts survive a new runtime, failures count, other runs have their own", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ maxExecutionsPerRun: 2 }, (count) => {
      if (count === 1) throw new Error("failed");
    });
    await (await world.runtime()).call(charge, { amount: 1 }, task);
    await (await world.runtime()).call(charge, { amount: 2 }, task);
    const third = await (await world.runtime()).call(charge, { amount: 3 }, task);
    expect(third).toMatchObject({ error: { code: "TOOL_LIMIT_EXCEEDED", details: { max: 2 } } });
    expect(await (await world.runtime()).call(charge, { amount: 4 }, { runId: "r2" })).toMatchObject({
      status: "success",
    });
    expect(effects).toHaveLength(3);
  });

  it("rule 24: replayed, cached, pending, denied and invalid calls touch no limit", async () => {
    const world = await createWorld();
    const limits = { maxToolCalls: 2 };
    const { charge } = createCharge();
    const waiting = createCharge({ needsApproval: true }).charge;
    const cached = defineTool({ name: "cached", schema: z.object({}), cache: true, execute: () => "value" });
    await (await world.runtime({ limits })).call(charge, { amount: 1 }, task);
    const runtime = await world.runtime({ limits });
    const outcomes = [
      await runtime.call(charge, { amount: 1 }, task),
      await runtime.call(charge, { amount: "x" as unknown as number }, task),
      await runtime.call(waiting, { amount: 2 }, task),
      await runtime.call(cached, {}, task),
      await runtime.call(cached, {}, task),
      await runtime.call(cached, {}, task),
    ];
    expect(codes(outcomes)).toEqual([
      "success",
      "TOOL_INPUT_INVALID",
      "pending",
      "success",
      "success",
      "success",
    ]);
    expect(await world.rows("SELECT used FROM toolwright_usage WHERE name = 'calls'")).toEqual([{ used: 2 }]);
  });

  it("rule 24: the stricter of the runtime's and the run's limits counts", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge();
    const runtime = await world.runtime({ limits: { maxToolCalls: 5 } });
    const run = runtime.run({ ...task, limits: { maxToolCalls: 1 } }, async () => {
      await charge.execute({ amount: 1 });
      await charge.execute({ amount: 2 });
    });
    await expect(run).rejects.toMatchObject({ code: "TOOL_LIMIT_EXCEEDED" });
    expect(effects).toHaveLength(1);
  });
});

describe("maxParallelTools", () => {
  it("rule 24: queues: six calls, at most two at a time, all run", async () => {
    const world = await createWorld();
    let running = 0;
    let most = 0;
    // The first call lasts until another one runs alongside it, however long that takes to start.
    const together = Promise.withResolvers<void>();
    const { charge, effects } = createCharge({}, async () => {
      running += 1;
      most = Math.max(most, running);
      if (running === 2) together.resolve();
      await together.promise;
      await later(5);
      running -= 1;
    });
    const runtime = await world.runtime({ limits: { maxParallelTools: 2 } });
    const outcomes = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((amount) => runtime.call(charge, { amount }, task)),
    );
    expect(codes(outcomes)).toEqual(times(6, "success"));
    expect([effects.length, most]).toEqual([6, 2]);
  });

  it("rule 24: holds across two runtimes", async () => {
    const world = await createWorld();
    let running = 0;
    let most = 0;
    const { charge } = createCharge({}, async () => {
      running += 1;
      most = Math.max(most, running);
      await later(20);
      running -= 1;
    });
    const runtimes = [
      await world.runtime({ limits: { maxParallelTools: 1 } }),
      await world.runtime({ limits: { maxParallelTools: 1 } }),
    ];
    await Promise.all(runtimes.map((one, amount) => one.call(charge, { amount }, task)));
    expect(most).toBe(1);
  });

  it("rule 24: a slot that a dead process holds is released", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({}, (count) => (count === 1 ? never() : undefined));
    const limits = { maxParallelTools: 1 };
    void (await world.runtime({ limits })).call(charge, { amount: 1 }, task).catch(() => undefined);
    await until(() => effects.length === 1);
    await world.killAll();
    expect(await (await world.runtime({ limits })).call(charge, { amount: 2 }, task)).toMatchObject({
      status: "success",
    });
  });

  it.each([
    { maxParallelTools: 1 },
    { maxCostUsd: 1 },
    { maxTotalOutputBytes: 10_000 },
    { maxWallClockMs: 60_000 },
  ])(
    "rule 24: an inner call uses the slot of the enclosing call and does not wait for one (%o)",
    async (limits) => {
      const world = await createWorld();
      const { charge } = createCharge();
      const outer = defineTool({
        name: "outer",
        schema: z.object({}),
        execute: async () => (await charge.execute({ amount: 1 })).id,
      });
      const stop = AbortSignal.timeout(20_000);
      const outcome = await (await world.runtime({ limits })).call(outer, {}, { ...task, signal: stop });
      expect(outcome).toMatchObject({ status: "success", output: "ch_1" });
    },
  );

  it("rule 24: a limit of zero parallel calls is refused, and no call waits forever", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge();
    const stop = AbortSignal.timeout(20_000);
    const attempt = async () =>
      (await world.runtime({ limits: { maxParallelTools: 0 } })).call(
        charge,
        { amount: 1 },
        { ...task, signal: stop },
      );
    const refused = await attempt().then(
      (outcome) => outcome.status === "error" && outcome.error.code,
      (error: { code: string }) => error.code,
    );
    expect(["TOOL_OPTION_INVALID", "TOOL_LIMIT_EXCEEDED"]).toContain(refused);
    expect(effects).toHaveLength(0);
  });
});

describe("amounts", () => {
  it("rule 24: maxCostUsd counts the costs from ctx.reportCost, and survives a new runtime", async () => {
    const world = await createWorld();
    let runs = 0;
    const search = defineTool({
      name: "search",
      schema: z.object({ n: z.number() }),
      execute(_args, ctx) {
        ctx.reportCost(0.4);
        ctx.reportCost(0.2);
        return (runs += 1);
      },
    });
    const limits = { maxCostUsd: 1 };
    const outcomes = [];
    for (const n of [1, 2, 3])
      outcomes.push(await (await world.runtime({ limits })).call(search, { n }, task));
    expect(codes(outcomes)).toEqual(["success", "success", "TOOL_LIMIT_EXCEEDED"]);
    expect(runs).toBe(2);
    const [usage] = await world.rows("SELECT used FROM toolwright_usage WHERE name = 'maxCostUsd'");
    expect(usage?.["used"]).toBeCloseTo(1.2, 9);
  });

  it("rule 24: a failed call's cost counts, and parallel calls cannot overshoot", async () => {
    const world = await createWorld();
    let runs = 0;
    const search = defineTool({
      name: "search",
      schema: z.object({ n: z.number() }),
      async execute(_args, ctx) {
        runs += 1;
        await later(2);
        ctx.reportCost(0.6);
        throw new Error("failed");
      },
    });
    const runtime = await world.runtime({ limits: { maxCostUsd: 1 } });
    const outcomes = await Promise.all([1, 2, 3, 4].map((n) => runtime.call(search, { n }, task)));
    expect(codes(outcomes).sort()).toEqual([
      "TOOL_EXECUTION_FAILED",
      "TOOL_EXECUTION_FAILED",
      "TOOL_LIMIT_EXCEEDED",
      "TOOL_LIMIT_EXCEEDED",
    ]);
    expect(runs).toBe(2);
  });

  it("rule 24: maxTotalOutputBytes counts the stored outputs", async () => {
    const world = await createWorld();
    let runs = 0;
    const read = defineTool({
      name: "read_it",
      schema: z.object({ n: z.number() }),
      execute: () => ((runs += 1), "x".repeat(98)),
    });
    const runtime = await world.runtime({ limits: { maxTotalOutputBytes: 150 } });
    const outcomes = [];
    for (const n of [1, 2, 3]) outcomes.push(await runtime.call(read, { n }, task));
    expect(codes(outcomes)).toEqual(["success", "success", "TOOL_LIMIT_EXCEEDED"]);
    expect(runs).toBe(2);
  });
});

describe("maxWallClockMs", () => {
  it("rule 24: counts the time in which the run is active, not downtime or the wait for approval", async () => {
    const world = await createWorld();
    const clock = createClock();
    const limits = { maxWallClockMs: 1_000 };
    const { charge } = createCharge({ needsApproval: true });
    let entered = 0;
    const slow = defineTool({
      name: "slow",
      schema: z.object({ n: z.number() }),
      execute: () => ((entered += 1), clock.sleep(400)),
    });
    const run = async (n: number, ms = 400) => {
      const runtime = await world.runtime({ clock, limits });
      const call = runtime.call(slow, { n }, task);
      await until(() => entered === n);
      await clock.advance(ms);
      return { runtime, outcome: await call };
    };
    expect((await run(1)).outcome).toMatchObject({ status: "success" });
    await (await world.runtime({ clock, limits })).call(charge, { amount: 1 }, task);
    await clock.advance(86_400_000);
    expect((await run(2)).outcome).toMatchObject({ status: "success" });
    const third = await run(3, 200);
    expect(third.outcome).toMatchObject({ status: "error", error: { code: "TOOL_LIMIT_EXCEEDED" } });
    expect(await third.runtime.call(slow, { n: 4 }, task)).toMatchObject({
      error: { code: "TOOL_LIMIT_EXCEEDED" },
    });
  });

  it("rule 24: bounds a call with all its tries, not each try", async () => {
    const world = await createWorld();
    const clock = createClock();
    const { charge, effects } = createCharge({ timeoutMs: 60, retry: { maxRetries: 5, backoffMs: 0 } }, () =>
      never(),
    );
    const runtime = await world.runtime({ clock, limits: { maxWallClockMs: 100 } });
    const call = runtime.call(charge, { amount: 1 }, task);
    await until(() => effects.length === 1);
    for (let times = 0; times < 10; times += 1) await clock.advance(60);
    expect(await call).toMatchObject({ status: "error", error: { code: "TOOL_LIMIT_EXCEEDED" } });
    expect(effects).toHaveLength(2);
  });
});
