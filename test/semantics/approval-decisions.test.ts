/** Rules 19 to 21: the approver's decision about a call that has not run. */
import { createRuntime, defineTool, type Outcome, type Runtime } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createClock, createWorld, times } from "./harness.ts";
import { createCharge } from "./tools.ts";

const task = { runId: "r1" };
const args = { amount: 7 };

function approvalIdOf(outcome: Outcome): string {
  if (outcome.status !== "pending") throw new Error(`expected a pending call, got ${outcome.status}`);
  return outcome.approval.id;
}

async function ask(runtime: Runtime, tool: object, options: object = {}): Promise<string> {
  return approvalIdOf(await runtime.call(tool, args, { ...task, ...options }));
}

describe("a request", () => {
  it("rule 20: shows tool, arguments, prompt, defaults and expiry, and nothing has run", async () => {
    const world = await createWorld();
    const clock = createClock(5_000);
    const { charge, effects } = createCharge({
      needsApproval: true,
      approvalPrompt: ({ amount }) => `Charge ${amount}?`,
      approvalDefaults: { amount: 1 },
      approvalTtlMs: 60_000,
    });
    const runtime = await world.runtime({ clock });
    const id = await ask(runtime, charge, { toolCallId: "call_1" });
    expect(await runtime.approvals({ status: "pending", runId: "r1" })).toMatchObject([
      {
        id,
        kind: "call",
        toolName: "charge",
        args,
        prompt: "Charge 7?",
        defaults: { amount: 1 },
        requestedAtMs: 5_000,
        expiresAtMs: 65_000,
        runId: "r1",
        nodeId: "main",
        iteration: 0,
      },
    ]);
    expect(effects).toHaveLength(0);
    expect(await world.log("r1")).toMatchObject([
      { status: "pending", approval_id: id, approval: "pending", tool_call_id: "call_1" },
    ]);
  });

  it("rule 20: survives a restart and is the same request, however often the call is made", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ needsApproval: true });
    const id = await ask(await world.runtime(), charge);
    await world.killAll();
    expect(await ask(await world.runtime(), charge)).toBe(id);
    const runtime = await world.runtime();
    await runtime.resolveToolApproval(id, { approved: true, decidedBy: "ann", comment: "fine" });
    expect(await runtime.call(charge, args, task)).toMatchObject({
      status: "success",
      output: { id: "ch_1" },
    });
    expect(effects).toHaveLength(1);
    expect(await world.rows("SELECT status, decided_by, comment FROM toolwright_approvals")).toEqual([
      { status: "approved", decided_by: "ann", comment: "fine" },
    ]);
    expect(await world.log("r1")).toMatchObject([{ seq: 1, status: "success", approval: "approved" }]);
  });

  it("rule 20: once a row exists, needsApproval is not asked again for that call", async () => {
    const world = await createWorld();
    let asked = 0;
    const { charge } = createCharge({ needsApproval: () => (asked += 1) === 1 });
    const runtime = await world.runtime();
    const id = await ask(runtime, charge, { callKey: "once" });
    expect(await ask(runtime, charge, { callKey: "once" })).toBe(id);
    expect(await ask(await world.runtime(), charge, { callKey: "once" })).toBe(id);
    expect(asked).toBe(1);
  });

  it("rule 20: a needsApproval that throws requires approval; false lets the call run", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    const careful = createCharge({
      needsApproval: () => {
        throw new Error("rule broken");
      },
    });
    expect(await runtime.call(careful.charge, args, task)).toMatchObject({ status: "pending" });
    const large = createCharge({ needsApproval: async ({ amount }) => amount > 100 });
    expect(await runtime.call(large.charge, { amount: 100 }, task)).toMatchObject({ status: "success" });
    expect(await runtime.call(large.charge, { amount: 101 }, task)).toMatchObject({ status: "pending" });
    expect(large.effects.map(({ amount }) => amount)).toEqual([100]);
  });

  it("rule 21: outside any run a tool that needs approval throws and never runs", async () => {
    const { charge, effects } = createCharge({ needsApproval: true });
    await expect(charge.execute(args)).rejects.toMatchObject({ code: "TOOL_APPROVAL_REQUIRED" });
    expect(effects).toHaveLength(0);
  });

  it("rule 20: the next attempt of the task waits for the same request", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ needsApproval: true });
    const runtime = await world.runtime();
    const id = await ask(runtime, charge);
    expect(await ask(runtime, charge, { attempt: 2 })).toBe(id);
    await runtime.resolveToolApproval(id, { approved: true });
    const outcome = await (await world.runtime()).call(charge, args, { ...task, attempt: 2 });
    expect(outcome).toMatchObject({ status: "success" });
    expect(effects).toHaveLength(1);
    expect(await world.log("r1")).toMatchObject([{ attempt: 2, status: "success" }]);
  });

  it("rule 20: a tool whose contract has changed since needs a new approval", async () => {
    const world = await createWorld();
    const { charge } = createCharge({ needsApproval: true });
    const changed = defineTool({
      name: "charge",
      schema: z.object({ amount: z.number(), currency: z.string().default("EUR") }),
      sideEffect: true,
      idempotent: false,
      needsApproval: true,
      execute: (_args, ctx) => ctx.idempotencyKey,
    });
    const id = await ask(await world.runtime(), charge);
    const runtime = await world.runtime();
    await runtime.resolveToolApproval(id, { approved: true });
    const second = await ask(runtime, changed);
    expect(second).not.toBe(id);
    await runtime.resolveToolApproval(second, { approved: true });
    expect(await (await world.runtime()).call(changed, args, task)).toMatchObject({ status: "success" });
  });
});

describe("a decision", () => {
  it("rule 20: a denial settles the call and every equal call of the task iteration", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ needsApproval: true });
    const runtime = await world.runtime();
    const [first, second] = await Promise.all([ask(runtime, charge), ask(runtime, charge)]);
    expect(first).not.toBe(second);
    await runtime.resolveToolApproval(first, { approved: false, comment: "too much" });
    const later = await world.runtime();
    const outcomes = [];
    for (let times = 0; times < 3; times += 1) outcomes.push(await later.call(charge, args, task));
    outcomes.push(await later.call(charge, args, { ...task, attempt: 2 }));
    const denied = { status: "denied", error: { code: "TOOL_APPROVAL_DENIED" } };
    expect(outcomes).toMatchObject([denied, denied, denied, denied]);
    expect(outcomes[0]).toMatchObject({ error: { message: expect.stringContaining("too much") } });
    expect(effects).toHaveLength(0);
    expect(await later.approvals({ status: "pending" })).toEqual([]);
    expect((await world.log("r1")).map((row) => row["status"])).toEqual(times(4, "denied"));
  });

  it("rule 20: a denial does not apply to other arguments, another iteration or another run", async () => {
    const world = await createWorld();
    const { charge } = createCharge({ needsApproval: true });
    const runtime = await world.runtime();
    await runtime.resolveToolApproval(await ask(runtime, charge), { approved: false });
    for (const [amount, options] of [
      [8, task],
      [7, { ...task, iteration: 1 }],
      [7, { runId: "r2" }],
    ] as const) {
      expect(await runtime.call(charge, { amount }, options)).toMatchObject({ status: "pending" });
    }
  });

  it("rule 20: a denial settles an equal call that would no longer need approval", async () => {
    const world = await createWorld();
    let asked = 0;
    const { charge, effects } = createCharge({ needsApproval: () => (asked += 1) === 1 });
    const runtime = await world.runtime();
    await runtime.resolveToolApproval(await ask(runtime, charge), { approved: false });
    expect(await runtime.call(charge, args, task)).toMatchObject({ status: "denied" });
    expect(effects).toHaveLength(0);
  });

  it("rule 20: works once: two runtimes that redeem it concurrently have one effect", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge(
      { needsApproval: true },
      () => new Promise((resolve) => setTimeout(resolve, 20)),
    );
    const runtime = await world.runtime();
    const id = await ask(runtime, charge);
    await runtime.resolveToolApproval(id, { approved: true });
    const runtimes = [await world.runtime(), await world.runtime(), await world.runtime()];
    const outcomes = await Promise.all(runtimes.map((one) => one.call(charge, args, task)));
    expect(outcomes).toMatchObject(times(3, { status: "success", output: { id: "ch_1" } }));
    expect(effects).toHaveLength(1);
    expect(await world.log("r1")).toHaveLength(1);
  });

  it("rule 20: an approval is for one call: the second equal call needs its own", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ needsApproval: true });
    const runtime = await world.runtime();
    await runtime.resolveToolApproval(await ask(runtime, charge), { approved: true });
    const later = await world.runtime();
    expect(await later.call(charge, args, task)).toMatchObject({ status: "success" });
    expect(await later.call(charge, args, task)).toMatchObject({ status: "pending" });
    expect(effects).toHaveLength(1);
  });

  it("rule 20: a reused call id with different arguments is another call, with its own request", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ needsApproval: true });
    const runtime = await world.runtime();
    await runtime.resolveToolApproval(await ask(runtime, charge, { toolCallId: "call_1" }), {
      approved: true,
    });
    const other = await (
      await world.runtime()
    ).call(charge, { amount: 9_999 }, { ...task, toolCallId: "call_1" });
    expect(other).toMatchObject({ status: "pending", approval: { args: { amount: 9_999 } } });
    expect(effects).toHaveLength(0);
  });

  it("rule 20: expires by the clock: the call fails, and a decision comes too late", async () => {
    const world = await createWorld();
    const clock = createClock();
    const { charge, effects } = createCharge({ needsApproval: true });
    const runtime = await world.runtime({ clock, approvalTtlMs: 1_000 });
    const id = await ask(runtime, charge);
    await clock.advance(999);
    expect(await runtime.approvals({ status: "pending" })).toHaveLength(1);
    await clock.advance(1);
    expect(await runtime.approvals({ status: "pending" })).toEqual([]);
    expect(await runtime.approvals({ status: "expired" })).toMatchObject([{ id }]);
    await expect(runtime.resolveToolApproval(id, { approved: true })).rejects.toMatchObject({
      code: "TOOL_APPROVAL_EXPIRED",
    });
    const outcome = await (await world.runtime({ clock })).call(charge, args, task);
    expect(outcome).toMatchObject({ status: "error", error: { code: "TOOL_APPROVAL_EXPIRED" } });
    expect(effects).toHaveLength(0);
    expect(await world.log("r1")).toMatchObject([{ status: "error", effect: "none" }]);
  });

  it("rule 20: unknown, settled and mismatched decisions are refused with a message", async () => {
    const world = await createWorld();
    const { charge } = createCharge({ needsApproval: true });
    const runtime = await world.runtime();
    const id = await ask(runtime, charge);
    const decide = (of: string, decision: object) =>
      runtime.resolveToolApproval(of, { approved: true, ...decision });
    await expect(decide("apr_none", {})).rejects.toMatchObject({ code: "TOOL_APPROVAL_NOT_FOUND" });
    await expect(decide(id, { argsHash: "other" })).rejects.toMatchObject({ code: "TOOL_APPROVAL_MISMATCH" });
    await expect(decide(id, { approved: "yes" })).rejects.toMatchObject({ code: "TOOL_OPTION_INVALID" });
    await expect(decide(id, { happened: { output: 1 } })).rejects.toMatchObject({
      code: "TOOL_OPTION_INVALID",
    });
    const [row] = await runtime.approvals();
    await decide(id, { argsHash: row?.argsHash });
    await expect(decide(id, { approved: false })).rejects.toMatchObject({ code: "TOOL_APPROVAL_SETTLED" });
    expect(await runtime.approvals()).toMatchObject([{ status: "approved" }]);
  });

  it("rule 8: a refusal after the approval consumes nothing: the next attempt runs on the same approval", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ needsApproval: true });
    const asking = await world.runtime();
    const id = await ask(asking, charge);
    await asking.resolveToolApproval(id, { approved: true });
    const strict = await world.runtime({ limits: { maxToolCalls: 0 } });
    expect(await strict.call(charge, args, task)).toMatchObject({ error: { code: "TOOL_LIMIT_EXCEEDED" } });
    expect(await world.rows("SELECT redeemed_at_ms FROM toolwright_approvals")).toEqual([
      { redeemed_at_ms: null },
    ]);
    const outcome = await (await world.runtime()).call(charge, args, { ...task, attempt: 2 });
    expect(outcome).toMatchObject({ status: "success" });
    expect(effects).toHaveLength(1);
    expect(await world.rows("SELECT id, status FROM toolwright_approvals")).toEqual([
      { id, status: "approved" },
    ]);
  });
});

it("rule 20: approvals work in a memory-only runtime too", async () => {
  const { charge } = createCharge({ needsApproval: true });
  await using runtime = createRuntime({ store: ":memory:" });
  const id = await ask(runtime, charge, { callKey: "one" });
  await runtime.resolveToolApproval(id, { approved: true });
  expect(await runtime.call(charge, args, { ...task, callKey: "one" })).toMatchObject({ status: "success" });
});
