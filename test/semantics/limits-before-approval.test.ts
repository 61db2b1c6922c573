/** Rule 24: a call that a limit or an open breaker refuses is refused before an approval is requested. */
import { defineTool, type Limits, type Runtime, type ToolPolicies } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createClock, createWorld } from "./harness.ts";

const task = { runId: "r1" };

function createPay(policies: ToolPolicies<{ amount: number }, string, object> = {}) {
  const paid: number[] = [];
  let asked = 0;
  const pay = defineTool({
    name: "pay",
    schema: z.object({ amount: z.number() }),
    sideEffect: true,
    idempotent: false,
    needsApproval: ({ amount }) => {
      asked += 1;
      return amount > 10;
    },
    ...policies,
    execute: ({ amount }, ctx) => {
      ctx.reportCost(1);
      if (amount === 13) throw Object.assign(new Error("down"), { effect: "none" });
      paid.push(amount);
      return ctx.idempotencyKey === "" ? "" : `paid ${amount}`;
    },
  });
  return { pay, paid, asked: () => asked };
}

async function expectRefused(runtime: Runtime, tool: object, code: string): Promise<void> {
  const before = await runtime.approvals();
  const outcome = await runtime.call(tool, { amount: 50 }, task);
  expect(outcome).toMatchObject({ status: "error", error: { code } });
  expect(await runtime.approvals()).toEqual(before);
}

it("rule 24: an exceeded maxExecutionsPerRun", async () => {
  const { pay, paid } = createPay({ maxExecutionsPerRun: 1 });
  const runtime = await (await createWorld()).runtime();
  await runtime.call(pay, { amount: 1 }, task);
  await expectRefused(runtime, pay, "TOOL_LIMIT_EXCEEDED");
  expect(paid).toEqual([1]);
});

it("rule 24: a limit of zero, which can never allow it", async () => {
  const { pay } = createPay({ maxExecutionsPerRun: 0 });
  await expectRefused(await (await createWorld()).runtime(), pay, "TOOL_LIMIT_EXCEEDED");
});

it.each<[string, Limits]>([
  ["maxToolCalls", { maxToolCalls: 1 }],
  ["maxCostUsd", { maxCostUsd: 1 }],
  ["maxTotalOutputBytes", { maxTotalOutputBytes: 3 }],
])("rule 24: an exceeded %s of the run", async (_name, limits) => {
  const { pay, paid } = createPay();
  const world = await createWorld();
  await (await world.runtime({ limits })).call(pay, { amount: 1 }, task);
  // The amount spent is in the store: another process refuses the call too.
  await expectRefused(await world.runtime({ limits }), pay, "TOOL_LIMIT_EXCEEDED");
  expect(paid).toEqual([1]);
});

it("rule 24: an exceeded maxWallClockMs of the run", async () => {
  const clock = createClock();
  const runtime = await (await createWorld()).runtime({ clock, limits: { maxWallClockMs: 100 } });
  const { pay } = createPay();
  await runtime.run(task, async () => {
    await runtime.call(pay, { amount: 1 });
    await clock.advance(200);
    expect(await runtime.call(pay, { amount: 50 })).toMatchObject({
      error: { code: "TOOL_LIMIT_EXCEEDED", details: { limit: "maxWallClockMs" } },
    });
  });
  expect(await runtime.approvals()).toEqual([]);
});

describe("an open breaker", () => {
  it.each(["run", "shared"] as const)("rule 24: of the %s", async (scope) => {
    const retry = { circuitBreakerThreshold: 1, breaker: { scope } };
    const runtime = await (await createWorld()).runtime();
    // For the breaker it is the same tool. It needs no approval, so it can fail.
    await runtime.call(createPay({ needsApproval: false, retry }).pay, { amount: 13 }, task);
    const { pay } = createPay({ retry });
    await expectRefused(runtime, pay, "TOOL_CIRCUIT_OPEN");
  });
});

it("rule 24: while a decision is pending nothing is spent, and the approved call still counts", async () => {
  const { pay, paid } = createPay({ maxExecutionsPerRun: 1 });
  const world = await createWorld();
  const runtime = await world.runtime({ limits: { maxToolCalls: 1 } });
  const pending = await runtime.call(pay, { amount: 50 }, task);
  if (pending.status !== "pending") throw new Error(pending.status);
  expect(await world.rows("SELECT * FROM toolwright_usage WHERE used > 0")).toEqual([]);
  expect(await world.rows("SELECT * FROM toolwright_reservations")).toEqual([]);
  await runtime.resolveToolApproval(pending.approval.id, { approved: true });
  const later = await world.runtime({ limits: { maxToolCalls: 1 } });
  expect(await later.call(pay, { amount: 50 }, task)).toMatchObject({ output: "paid 50" });
  await expectRefused(later, pay, "TOOL_LIMIT_EXCEEDED");
  expect(paid).toEqual([50]);
});

it("rule 24: the AI SDK's needsApproval requests no approval either, and the call is then refused", async () => {
  const { pay, paid } = createPay({ maxExecutionsPerRun: 1 });
  const runtime = await (await createWorld()).runtime();
  await runtime.run(task, async () => {
    const options = { toolCallId: "c1", messages: [] };
    await pay.execute({ amount: 1 }, options);
    const second = { ...options, toolCallId: "c2" };
    expect(await pay.needsApproval?.({ amount: 50 }, second)).toBe(false);
    await expect(pay.execute({ amount: 50 }, second)).rejects.toMatchObject({ code: "TOOL_LIMIT_EXCEEDED" });
  });
  expect(await runtime.approvals()).toEqual([]);
  expect(paid).toEqual([1]);
});

it("rule 20: once a request exists, needsApproval is not asked again for that call", async () => {
  const { pay, asked } = createPay();
  const world = await createWorld();
  const pending = await (await world.runtime()).call(pay, { amount: 50 }, task);
  if (pending.status !== "pending") throw new Error(pending.status);
  await (await world.runtime()).call(pay, { amount: 50 }, task);
  await (await world.runtime()).resolveToolApproval(pending.approval.id, { approved: true });
  expect(await (await world.runtime()).call(pay, { amount: 50 }, task)).toMatchObject({ status: "success" });
  expect(asked()).toBe(1);
});
