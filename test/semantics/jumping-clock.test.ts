/** A clock that is set back or jumps ahead: durations are monotonic, and stored times in the future are bounded. */
import { defineTool } from "toolwright";
import { createFakeClock } from "toolwright/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { change } from "../../src/store/statement.ts";
import { createWorld, never, until, type World } from "./harness.ts";
import { createBlindCharge, createCharge } from "./tools.ts";

const task = { runId: "r1" };
const HOUR = 3_600_000;

async function update(world: World, sql: string): Promise<void> {
  const store = await world.open();
  await store.transaction(() => change(sql), "normal");
}

describe("maxWallClockMs", () => {
  it.each([HOUR, -HOUR])("rule 24: a jump of %i ms does not count as time", async (jump) => {
    const world = await createWorld();
    const clock = createFakeClock();
    const { charge, effects } = createCharge({}, (count) => (count === 1 ? clock.sleep(100) : undefined));
    const runtime = await world.runtime({ clock, limits: { maxWallClockMs: 1_000 } });
    const first = runtime.call(charge, { amount: 1 }, task);
    await until(() => effects.length === 1);
    clock.jump(jump);
    await clock.advance(100);
    expect(await first).toMatchObject({ status: "success" });
    expect(await runtime.call(charge, { amount: 2 }, task)).toMatchObject({ status: "success" });
    expect(await world.rows("SELECT used FROM toolwright_usage WHERE name = 'maxWallClockMs'")).toEqual([
      { used: 100 },
    ]);
  });

  it("rule 24: a budget still ends when a clock without monotonic() is set back", async () => {
    const world = await createWorld();
    let now = HOUR;
    const clock = { now: () => now, sleep: () => never<void>() };
    const { charge, effects } = createCharge({}, (count) => {
      // Back by an hour, and then one second passes.
      now = count === 1 ? 0 : now;
    });
    const runtime = await world.runtime({ clock, limits: { maxWallClockMs: 500 } });
    await runtime.run(task, async () => {
      await charge.execute({ amount: 1 });
      now += 1_000;
      await expect(charge.execute({ amount: 2 })).rejects.toMatchObject({ code: "TOOL_LIMIT_EXCEEDED" });
    });
    expect(effects).toHaveLength(1);
  });
});

describe("settleMs", () => {
  it.each([-HOUR, HOUR])("rule 16: after a jump of %i ms reconcile runs within settleMs", async (jump) => {
    const world = await createWorld();
    const clock = createFakeClock();
    const asked: number[] = [];
    const tools = createBlindCharge(
      {
        settleMs: 1_000,
        reconcile: ({ amount }) => {
          asked.push(amount);
          return { happened: true, output: { id: "found" } };
        },
      },
      () => never(),
    );
    void (await world.runtime({ clock })).call(tools.charge, { amount: 1 }, task).catch(() => undefined);
    await until(() => tools.effects.length === 1);
    await world.killAll();
    clock.jump(jump);
    const resumed = (await world.runtime({ clock })).call(tools.charge, { amount: 1 }, task);
    await until(() => asked.length === 1 || clock.pendingSleeps.length === 1);
    expect(clock.pendingSleeps.map(({ ms }) => ms)).toEqual(jump < 0 ? [1_000] : []);
    await clock.advance(1_000);
    expect(await resumed).toMatchObject({ status: "success", output: { id: "found" } });
  });
});

it("rule 16: reconcile waits for settleMs although the clock of this machine is an hour ahead of the dead owner's", async () => {
  const world = await createWorld();
  const asked: number[] = [];
  const tools = createBlindCharge(
    {
      settleMs: 300,
      reconcile: () => {
        asked.push(performance.now());
        return { happened: true, output: { id: "found" } };
      },
    },
    () => never(),
  );
  void (await world.runtime()).call(tools.charge, { amount: 1 }, task).catch(() => undefined);
  await until(() => tools.effects.length === 1);
  await world.killAll();
  await update(world, `UPDATE toolwright_calls SET started_at_ms = started_at_ms - ${HOUR}`);
  const resumed = performance.now();
  expect(await (await world.runtime()).call(tools.charge, { amount: 1 }, task)).toMatchObject({
    output: { id: "found" },
  });
  expect((asked[0] ?? 0) - resumed).toBeGreaterThanOrEqual(299);
});

it("rule 16: reconcile does not wait for an owner that was silent for longer than its lease and settleMs", async () => {
  const world = await createWorld();
  const tools = createBlindCharge(
    { settleMs: HOUR, reconcile: () => ({ happened: true, output: { id: "found" } }) },
    () => never(),
  );
  void (await world.runtime()).call(tools.charge, { amount: 1 }, task).catch(() => undefined);
  await until(() => tools.effects.length === 1);
  await world.killAll();
  await update(world, `UPDATE toolwright_owners SET lease_until_ms = lease_until_ms - ${2 * HOUR}`);
  expect(await (await world.runtime()).call(tools.charge, { amount: 1 }, task)).toMatchObject({
    output: { id: "found" },
  });
});

describe("a shared breaker", () => {
  const createFlaky = () => {
    const runs: number[] = [];
    const flaky = defineTool({
      name: "flaky",
      schema: z.object({ n: z.number() }),
      retry: { circuitBreakerThreshold: 1, breaker: { scope: "shared", resetMs: 5_000 } },
      execute: ({ n }) => {
        runs.push(n);
        if (n < 10) throw new Error("down");
        return "up";
      },
    });
    return { flaky, runs };
  };

  it("rule 24: that opened before the clock was set back lets a call probe, and does not stay open for the jump", async () => {
    const world = await createWorld();
    const clock = createFakeClock();
    const { flaky, runs } = createFlaky();
    const runtime = await world.runtime({ clock });
    await runtime.call(flaky, { n: 1 }, task);
    expect(await runtime.call(flaky, { n: 2 }, task)).toMatchObject({ error: { code: "TOOL_CIRCUIT_OPEN" } });
    clock.jump(-HOUR);
    expect(await runtime.call(flaky, { n: 10 }, task)).toMatchObject({ status: "success" });
    expect(await runtime.call(flaky, { n: 11 }, task)).toMatchObject({ status: "success" });
    expect(runs).toEqual([1, 10, 11]);
  });

  it("rule 24: whose probe died before the clock was set back lets another call probe", async () => {
    const world = await createWorld();
    const clock = createFakeClock();
    const { flaky } = createFlaky();
    await (await world.runtime({ clock })).call(flaky, { n: 1 }, task);
    await clock.advance(5_000);
    const now = clock.now();
    const store = await world.open();
    const { takeProbe } = await import("../../src/store/tables/breakers.ts");
    await store.transaction(() => takeProbe("", "flaky", now, now + 5_000), "normal");
    const runtime = await world.runtime({ clock });
    expect(await runtime.call(flaky, { n: 2 }, task)).toMatchObject({ error: { code: "TOOL_CIRCUIT_OPEN" } });
    clock.jump(-HOUR);
    expect(await runtime.call(flaky, { n: 10 }, task)).toMatchObject({ status: "success" });
  });

  it("stays open for clocks that differ by less than a second", async () => {
    const world = await createWorld();
    const clock = createFakeClock();
    const { flaky } = createFlaky();
    const runtime = await world.runtime({ clock });
    await runtime.call(flaky, { n: 1 }, task);
    clock.jump(-500);
    expect(await runtime.call(flaky, { n: 10 }, task)).toMatchObject({
      error: { code: "TOOL_CIRCUIT_OPEN" },
    });
  });
});

describe("a cached result", () => {
  it.each([
    [0, 1],
    [-500, 1],
    [-HOUR, 2],
    [HOUR, 2],
  ])("after a jump of %i ms took %i executions: it never outlives its ttlMs", async (jump, executions) => {
    const world = await createWorld();
    const clock = createFakeClock();
    let runs = 0;
    const look = defineTool({
      name: "look",
      schema: z.object({}),
      cache: { ttlMs: 10_000 },
      execute: () => (runs += 1),
    });
    const runtime = await world.runtime({ clock });
    await runtime.call(look, {}, task);
    clock.jump(jump);
    await runtime.call(look, {}, task);
    expect(runs).toBe(executions);
  });
});

describe("waits", () => {
  it("a timeout and a retry do not notice a jump", async () => {
    const world = await createWorld();
    const clock = createFakeClock();
    const retry = { maxRetries: 1, backoffMs: 100, maxBackoffMs: 100 };
    const { charge, effects } = createCharge({ timeoutMs: 1_000, idempotent: true, retry }, (count) =>
      count === 1 ? never() : undefined,
    );
    const call = (await world.runtime({ clock })).call(charge, { amount: 1 }, task);
    await until(() => effects.length === 1);
    clock.jump(HOUR);
    await clock.advance(999);
    expect(effects).toHaveLength(1);
    await clock.advance(1);
    await until(() => clock.pendingSleeps.some(({ ms }) => ms === 100));
    clock.jump(-2 * HOUR);
    await clock.advance(100);
    expect(await call).toMatchObject({ status: "success" });
    expect(effects).toHaveLength(2);
  });

  it("Retry-After as a date counts from the response's own Date", async () => {
    const world = await createWorld();
    const clock = createFakeClock();
    const sent = clock.now();
    const headers = {
      date: new Date(sent).toUTCString(),
      "retry-after": new Date(sent + 2_000).toUTCString(),
    };
    const { charge, effects } = createCharge({ idempotent: true, retry: { maxRetries: 1 } }, (count) => {
      if (count === 1) throw Object.assign(new Error("busy"), { headers });
    });
    clock.jump(-HOUR / 2);
    const call = (await world.runtime({ clock })).call(charge, { amount: 1 }, task);
    await until(() => clock.pendingSleeps.length === 1);
    expect(clock.pendingSleeps.map(({ ms }) => ms)).toEqual([2_000]);
    await clock.advance(2_000);
    expect(await call).toMatchObject({ status: "success" });
    expect(effects).toHaveLength(2);
  });
});

describe("an approval", () => {
  it("expires by the wall clock, and is open again when a wrong clock is corrected", async () => {
    const world = await createWorld();
    const clock = createFakeClock();
    const { charge } = createCharge({ needsApproval: true, approvalTtlMs: 60_000 });
    const runtime = await world.runtime({ clock });
    await runtime.call(charge, { amount: 1 }, task);
    const statuses = async () => (await runtime.approvals({})).map(({ status }) => status);
    expect(await statuses()).toEqual(["pending"]);
    clock.jump(HOUR);
    expect(await statuses()).toEqual(["expired"]);
    clock.jump(-HOUR);
    expect(await statuses()).toEqual(["pending"]);
  });
});
