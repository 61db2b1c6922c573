/** Rule 24: budgets include what tries of killed processes spent. */
import { createRuntime, defineTool } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { recordActiveTime } from "../../src/invoke/run-budgets.ts";
import type { Host } from "../../src/invoke/host.ts";
import { RunBudgets } from "../../src/invoke/run-budgets.ts";
import { createClock, createWorld, isIntent, never, until, watchStore, type World } from "./harness.ts";
import { createBlindCharge, createCharge } from "./tools.ts";

const task = { runId: "r1" };

async function used(world: World, name: string): Promise<unknown> {
  const [row] = await world.rows("SELECT used FROM toolwright_usage WHERE run_id = 'r1' AND name = ?1", name);
  return row?.["used"];
}

describe("executions", () => {
  it.each([
    ["maxExecutionsPerRun", { maxExecutionsPerRun: 2 }, {}],
    ["maxToolCalls", {}, { maxToolCalls: 2 }],
  ])(
    "rule 24: a call that is killed and runs again is counted each time (%s)",
    async (_name, policies, limits) => {
      const world = await createWorld();
      const { charge, effects } = createCharge(policies, () => never());
      for (const count of [1, 2]) {
        const runtime = await world.runtime({ limits });
        void runtime.call(charge, { amount: 1 }, task).catch(() => undefined);
        await until(() => effects.length === count);
        await world.killAll();
      }
      for (let times = 0; times < 2; times += 1) {
        const outcome = await (await world.runtime({ limits })).call(charge, { amount: 1 }, task);
        expect(outcome).toMatchObject({ status: "error", error: { code: "TOOL_LIMIT_EXCEEDED" } });
      }
      expect(effects).toHaveLength(2);
      // The refusal says nothing about what the killed tries did.
      expect(await world.log("r1")).toMatchObject([{ status: "unknown", effect: null }]);
    },
  );

  it("rule 24: an interrupted call that the approver lets run again is counted again", async () => {
    const world = await createWorld();
    const policies = { maxExecutionsPerRun: 2, onUnknown: "ask" } as const;
    const { charge, effects } = createBlindCharge(policies, (count) => (count === 1 ? never() : undefined));
    void (await world.runtime()).call(charge, { amount: 1 }, task).catch(() => undefined);
    await until(() => effects.length === 1);
    await world.killAll();
    const runtime = await world.runtime();
    const pending = await runtime.call(charge, { amount: 1 }, task);
    if (pending.status !== "pending") throw new Error(`not pending: ${JSON.stringify(pending)}`);
    await runtime.resolveToolApproval(pending.approval.id, { resolution: "run-again" });
    expect(await (await world.runtime()).call(charge, { amount: 1 }, task)).toMatchObject({
      status: "success",
    });
    expect(await used(world, "tool:blind_charge")).toBe(2);
  });

  it("rule 24: a limit that refuses to run an interrupted call again claims nothing about its effect", async () => {
    const world = await createWorld();
    const policies = { maxExecutionsPerRun: 1, onUnknown: "ask" } as const;
    const { charge, effects } = createBlindCharge(policies, () => never());
    void (await world.runtime()).call(charge, { amount: 1 }, task).catch(() => undefined);
    await until(() => effects.length === 1);
    await world.killAll();
    const runtime = await world.runtime();
    const pending = await runtime.call(charge, { amount: 1 }, task);
    if (pending.status !== "pending") throw new Error(`not pending: ${JSON.stringify(pending)}`);
    expect(pending.approval.prompt).toContain("It can run again only under a higher limit");
    await runtime.resolveToolApproval(pending.approval.id, { resolution: "run-again" });
    const refused = await runtime.call(charge, { amount: 1 }, task);
    if (refused.status !== "error") throw new Error(`not refused: ${JSON.stringify(refused)}`);
    expect(refused.error).toMatchObject({ code: "TOOL_LIMIT_EXCEEDED", effect: undefined });
    expect(refused.error.hint).toContain(
      "It is not known whether it had its effect, and it was not run again.",
    );
    expect(refused.error.hint).not.toContain("twice");
    expect(await world.log("r1")).toMatchObject([{ status: "pending", effect: null, tries: 1 }]);
    // The decision still counts once the limit allows the call.
    const generous = createBlindCharge({ maxExecutionsPerRun: 2, onUnknown: "ask" });
    expect(await (await world.runtime()).call(generous.charge, { amount: 1 }, task)).toMatchObject({
      status: "success",
    });
    expect(generous.effects).toHaveLength(1);
  });

  it("rule 24: the retries of one call are one execution", async () => {
    const world = await createWorld();
    const retry = { maxRetries: 2, backoffMs: 0 };
    const { charge, effects } = createCharge({ maxExecutionsPerRun: 1, idempotent: true, retry }, (count) => {
      if (count < 3) throw new Error("down");
    });
    expect(await (await world.runtime()).call(charge, { amount: 1 }, task)).toMatchObject({
      status: "success",
    });
    expect(effects).toHaveLength(3);
  });

  it("rule 5: a rerun that is cut off before execute starts does not free the business key either", async () => {
    const world = await createWorld();
    const policies = { onUnknown: "run", idempotencyKey: () => "order-1" } as const;
    const { charge, effects } = createBlindCharge(policies, () => never());
    void (await world.runtime()).call(charge, { amount: 1 }, task).catch(() => undefined);
    await until(() => effects.length === 1);
    await world.killAll();
    const controller = new AbortController();
    const store = watchStore(await world.open(), {
      // The intent of the rerun is committed; nothing is run.
      onCommit: (statements) => {
        if (statements.some(isIntent)) controller.abort();
      },
    });
    const rerun = await (
      await world.runtime({ store })
    ).call(charge, { amount: 1 }, { runId: "r2", signal: controller.signal });
    expect(rerun).toMatchObject({ error: { code: "TOOL_ABORTED" } });
    expect(effects).toHaveLength(1);
    const told = createBlindCharge({ idempotencyKey: () => "order-1", onUnknown: "fail" });
    expect(await (await world.runtime()).call(told.charge, { amount: 1 }, { runId: "r3" })).toMatchObject({
      error: { code: "TOOL_OUTCOME_UNKNOWN" },
    });
  });

  it("rule 5: a refused rerun does not free the business key of an effect that may have happened", async () => {
    const world = await createWorld();
    const policies = { maxExecutionsPerRun: 1, onUnknown: "run", idempotencyKey: () => "order-1" } as const;
    const { charge, effects } = createBlindCharge(policies, () => never());
    void (await world.runtime()).call(charge, { amount: 1 }, task).catch(() => undefined);
    await until(() => effects.length === 1);
    await world.killAll();
    expect(await (await world.runtime()).call(charge, { amount: 1 }, task)).toMatchObject({
      error: { code: "TOOL_LIMIT_EXCEEDED" },
    });
    const told = createBlindCharge({ idempotencyKey: () => "order-1", onUnknown: "fail" });
    expect(await (await world.runtime()).call(told.charge, { amount: 1 }, { runId: "r2" })).toMatchObject({
      error: { code: "TOOL_OUTCOME_UNKNOWN" },
    });
    expect(told.effects).toEqual([]);
  });
});

describe("costs", () => {
  const spend = (behave: () => unknown, policies = {}) =>
    defineTool({
      name: "spend",
      schema: z.object({ n: z.number() }),
      ...policies,
      execute: async (_args, ctx) => {
        ctx.reportCost(0.25);
        ctx.reportCost(0.5);
        return behave();
      },
    });

  it("rule 24: the cost that a killed call reported is counted, and limits later calls", async () => {
    const world = await createWorld();
    const limits = { maxCostUsd: 0.7 };
    const tool = spend(() => never());
    void (await world.runtime({ limits })).call(tool, { n: 1 }, task).catch(() => undefined);
    await until(async () => (await used(world, "maxCostUsd")) === 0.75);
    await world.killAll();
    expect(await (await world.runtime({ limits })).call(tool, { n: 2 }, task)).toMatchObject({
      error: { code: "TOOL_LIMIT_EXCEEDED", details: { limit: "maxCostUsd" } },
    });
  });

  it("rule 24: a cost is counted once, whether it was stored while the call ran or with its outcome", async () => {
    const world = await createWorld();
    const runtime = await world.runtime({ limits: { maxCostUsd: 10 } });
    const tool = spend(() => "done");
    for (const n of [1, 2, 3]) await runtime.call(tool, { n }, task);
    expect(await used(world, "maxCostUsd")).toBe(2.25);
    expect(await world.rows("SELECT * FROM toolwright_reservations")).toEqual([]);
  });

  it("rule 24: a cost that a tool reports after its call has ended is counted too", async () => {
    const world = await createWorld();
    const gate = Promise.withResolvers<void>();
    const tool = defineTool({
      name: "late",
      schema: z.object({}),
      timeoutMs: 20,
      execute: async (_args, ctx) => {
        await gate.promise;
        ctx.reportCost(0.5);
      },
    });
    const runtime = await world.runtime({ limits: { maxCostUsd: 10 } });
    expect(await runtime.call(tool, {}, task)).toMatchObject({ error: { code: "TOOL_TIMEOUT" } });
    gate.resolve();
    await until(async () => (await used(world, "maxCostUsd")) === 0.5);
  });
});

describe("wall clock", () => {
  it("rule 24: the time until the start of the last call is stored, and survives a kill", async () => {
    const world = await createWorld();
    const clock = createClock();
    const limits = { maxWallClockMs: 1_000 };
    let entered = 0;
    const hang = defineTool({
      name: "hang",
      schema: z.object({ n: z.number() }),
      execute: () => ((entered += 1), never()),
    });
    const runtime = await world.runtime({ clock, limits });
    void runtime.call(hang, { n: 1 }, task).catch(() => undefined);
    await until(() => entered === 1);
    await clock.advance(600);
    void runtime.call(hang, { n: 2 }, task).catch(() => undefined);
    await until(() => entered === 2);
    expect(await used(world, "maxWallClockMs")).toBe(600);
    await world.killAll();
    const resumed = await world.runtime({ clock, limits });
    const third = resumed.call(hang, { n: 3 }, task);
    await until(() => entered === 3);
    await clock.advance(400);
    expect(await third).toMatchObject({ error: { code: "TOOL_LIMIT_EXCEEDED" } });
  });

  it("rule 24: a heartbeat stores the time of runs with a time budget; the next one retries after a failure", async () => {
    const world = await createWorld();
    const store = await world.open();
    let now = 0;
    const budgets = new RunBudgets(() => now);
    for (const runId of ["r1", "r2"]) budgets.enter(runId);
    budgets.markTimed("r1");
    now = 300;
    const failing = { ...store, transaction: () => Promise.reject(new Error("the store is down")) };
    await recordActiveTime({ budgets, store: failing } as unknown as Host);
    now = 500;
    await recordActiveTime({ budgets, store } as unknown as Host);
    expect(await world.rows("SELECT run_id, used FROM toolwright_usage")).toEqual([
      { run_id: "r1", used: 500 },
    ]);
    expect([budgets.unrecordedMs("r1"), budgets.unrecordedMs("r2")]).toEqual([0, 500]);
  });

  it("rule 24: a call that is refused stores no time", async () => {
    const world = await createWorld();
    const clock = createClock();
    const runtime = createRuntime({
      store: await world.open(),
      clock,
      limits: { maxWallClockMs: 1_000, maxToolCalls: 0 },
    });
    const { charge } = createCharge();
    expect(await runtime.call(charge, { amount: 1 }, task)).toMatchObject({
      error: { code: "TOOL_LIMIT_EXCEEDED" },
    });
    expect(await used(world, "maxWallClockMs")).toBeUndefined();
  });
});
