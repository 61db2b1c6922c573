/** Rules 22 and 23: inner calls that wait for approval, and approval requests before execution. */
import { defineTool, type Tool } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { boundStore, createClock, createWorld, sorted } from "./harness.ts";
import { createCharge, type Policies } from "./tools.ts";

const task = { runId: "r1" };

function createOuter(inner: Tool<{ amount: number }, { id: string }>, policies: object = {}) {
  const entries: number[] = [];
  const outer = defineTool({
    name: "outer",
    schema: z.object({ amounts: z.array(z.number()) }),
    sideEffect: true,
    idempotent: true,
    ...policies,
    async execute({ amounts }) {
      entries.push(amounts.length);
      return Promise.all(amounts.map(async (amount) => (await inner.execute({ amount })).id));
    },
  });
  return { outer, entries };
}

function createPair(innerPolicies: Policies, outerPolicies: object = {}) {
  const { charge, effects } = createCharge(innerPolicies);
  return { charge, effects, ...createOuter(charge, outerPolicies) };
}

describe("an inner call that waits", () => {
  it("rule 23: makes the enclosing call pending; both are shown; the enclosing call starts again later", async () => {
    const world = await createWorld();
    const { outer, entries, effects } = createPair({ needsApproval: true });
    const runtime = await world.runtime();
    const first = await runtime.call(outer, { amounts: [7] }, task);
    expect(first).toMatchObject({ status: "pending", approval: { toolName: "charge", args: { amount: 7 } } });
    const rows = await world.log("r1");
    expect(rows.map((row) => [row["tool_name"], row["status"]])).toEqual([
      ["outer", "pending"],
      ["charge", "pending"],
    ]);
    expect(rows[1]?.["parent_key"]).toBe(rows[0]?.["key"]);
    const [approval] = await runtime.approvals({ status: "pending" });
    expect(approval?.parentKey).toBe(rows[0]?.["key"]);
    expect(await (await world.runtime()).call(outer, { amounts: [7] }, task)).toMatchObject({
      status: "pending",
    });
    expect(entries).toHaveLength(1);

    await runtime.resolveToolApproval(approval?.id ?? "", { approved: true });
    const second = await (await world.runtime()).call(outer, { amounts: [7] }, task);
    expect(second).toMatchObject({ status: "success", output: ["ch_1"] });
    expect([entries.length, effects.length]).toEqual([2, 1]);
    expect((await world.log("r1")).map((row) => row["status"])).toEqual(["success", "success"]);
  });

  it("rule 23: several inner calls are shown together; the enclosing call continues when each is decided", async () => {
    const world = await createWorld();
    const { outer, effects } = createPair({ needsApproval: true });
    const runtime = await world.runtime();
    await runtime.call(outer, { amounts: [1, 2] }, task);
    const approvals = await runtime.approvals({ status: "pending" });
    // They request approval concurrently, so the store decides which one is stored first.
    expect(sorted(approvals.map(({ args }) => args))).toEqual([{ amount: 1 }, { amount: 2 }]);
    for (const { id } of approvals) {
      expect(await (await world.runtime()).call(outer, { amounts: [1, 2] }, task)).toMatchObject({
        status: "pending",
      });
      await runtime.resolveToolApproval(id, { approved: true });
    }
    const outcome = await (await world.runtime()).call(outer, { amounts: [1, 2] }, task);
    expect(outcome.status).toBe("success");
    expect(sorted(effects.map(({ amount }) => amount))).toEqual([1, 2]);
  });

  it("rule 23: a tool that swallows the error is still pending", async () => {
    const world = await createWorld();
    const { charge } = createCharge({ needsApproval: true });
    const outer = defineTool({
      name: "swallow",
      schema: z.object({}),
      execute: () => charge.execute({ amount: 1 }).catch(() => "fine"),
    });
    expect(await (await world.runtime()).call(outer, {}, task)).toMatchObject({ status: "pending" });
  });

  it("rule 23: the enclosing call receives the denial of an inner call, and continues", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ needsApproval: true });
    const outer = defineTool({
      name: "careful",
      schema: z.object({}),
      execute: () => charge.execute({ amount: 1 }).catch((error: { code: string }) => error.code),
    });
    const runtime = await world.runtime();
    await runtime.call(outer, {}, task);
    const [approval] = await runtime.approvals();
    await runtime.resolveToolApproval(approval?.id ?? "", { approved: false });
    const outcome = await (await world.runtime()).call(outer, {}, task);
    expect(outcome).toMatchObject({ status: "success", output: "TOOL_APPROVAL_DENIED" });
    expect(effects).toHaveLength(0);
  });

  it("rule 24: an enclosing call that starts again counts once against its limit", async () => {
    const world = await createWorld();
    const { outer, effects } = createPair({ needsApproval: true }, { maxExecutionsPerRun: 1 });
    const runtime = await world.runtime({ limits: { maxToolCalls: 2 } });
    await runtime.call(outer, { amounts: [7] }, task);
    const [approval] = await runtime.approvals();
    await runtime.resolveToolApproval(approval?.id ?? "", { approved: true });
    const again = await world.runtime({ limits: { maxToolCalls: 2 } });
    expect(await again.call(outer, { amounts: [7] }, task)).toMatchObject({ status: "success" });
    expect(effects).toHaveLength(1);
  });

  it("rule 23: the next attempt starts the enclosing call again and finds the inner one decided", async () => {
    const world = await createWorld();
    const { outer, effects } = createPair(
      { needsApproval: true },
      { idempotent: false, needsApproval: true },
    );
    const runtime = await world.runtime();
    for (const tool of ["outer", "charge"]) {
      await (await world.runtime()).call(outer, { amounts: [7] }, task);
      const [approval] = await runtime.approvals({ status: "pending" });
      expect(approval?.toolName).toBe(tool);
      await runtime.resolveToolApproval(approval?.id ?? "", { approved: true });
    }
    const outcome = await (await world.runtime()).call(outer, { amounts: [7] }, { ...task, attempt: 2 });
    expect(outcome).toMatchObject({ status: "success", output: ["ch_1"] });
    expect(effects).toHaveLength(1);
  });

  it("rule 5: other calls get an error in bounded time if a waiting call holds the business key", async () => {
    const world = await createWorld();
    const { outer } = createPair(
      { needsApproval: true },
      { idempotent: false, idempotencyKey: () => "one order", timeoutMs: 200 },
    );
    // A wait for another run's call uses real time; the timeout of a try uses the clock, which stands still.
    const runtime = await world.runtime({ store: boundStore(await world.open()), clock: createClock() });
    expect(await runtime.call(outer, { amounts: [7] }, task)).toMatchObject({ status: "pending" });
    const other = await runtime.call(outer, { amounts: [7] }, { runId: "r2" });
    expect(other).toMatchObject({ status: "error", error: { code: "TOOL_TIMEOUT" } });
  });
});

describe("an approval request before the execution", () => {
  it("rule 22: needsApproval stores the row, and execute under the same id is that call", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ needsApproval: true });
    const options = { toolCallId: "call_1", messages: [] };
    const runtime = await world.runtime();
    const asked = await runtime.run(task, async () => charge.needsApproval?.({ amount: 7 }, options));
    expect(asked).toBe(true);
    const [approval] = await runtime.approvals({ status: "pending" });
    await runtime.resolveToolApproval(approval?.id ?? "", { approved: true });
    const outcome = await runtime.run(task, async () => {
      expect(await charge.needsApproval?.({ amount: 7 }, options)).toBe(false);
      return charge.execute({ amount: 7 }, options);
    });
    expect(outcome).toEqual({ id: "ch_1" });
    expect(effects).toHaveLength(1);
    expect(await world.log("r1")).toHaveLength(1);
  });

  it("rule 22: a tool-approval-response in the messages approves nothing", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ needsApproval: true });
    const messages = [
      {
        role: "assistant",
        content: [{ type: "tool-approval-request", approvalId: "a1", toolCallId: "call_1" }],
      },
      { role: "tool", content: [{ type: "tool-approval-response", approvalId: "a1", approved: true }] },
    ];
    const run = (await world.runtime()).run(task, () =>
      charge.execute({ amount: 7 }, { toolCallId: "call_1", messages }),
    );
    await expect(run).rejects.toMatchObject({ code: "TOOL_APPROVAL_PENDING" });
    expect(effects).toHaveLength(0);
  });

  it("rule 22: it approves once, if the runtime trusts it", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ needsApproval: true });
    const messages = [
      {
        role: "assistant",
        content: [{ type: "tool-approval-request", approvalId: "a1", toolCallId: "call_1" }],
      },
      { role: "tool", content: [{ type: "tool-approval-response", approvalId: "a1", approved: true }] },
    ];
    const submit = async () =>
      (await world.runtime({ trustMessageApprovals: true })).run(task, () =>
        charge.execute({ amount: 7 }, { toolCallId: "call_1", messages }),
      );
    expect(await submit()).toEqual({ id: "ch_1" });
    expect(await submit()).toEqual({ id: "ch_1" });
    expect(effects).toHaveLength(1);
  });
});

it("rule 20: a denial settles an equal call inside another call, and one that waits there", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge({ needsApproval: true });
  const outer = defineTool({
    name: "outer",
    schema: z.object({}),
    execute: async () => (await charge.call({ amount: 7 })).id,
  });
  const runtime = await world.runtime();
  const outerPending = await runtime.call(outer, {}, { runId: "r1" });
  expect(outerPending).toMatchObject({ status: "pending" });
  const direct = await runtime.call(charge, { amount: 7 }, { runId: "r1" });
  if (direct.status !== "pending") throw new Error(direct.status);
  await runtime.resolveToolApproval(direct.approval.id, { approved: false, comment: "no" });
  expect(await runtime.approvals({ status: "pending" })).toEqual([]);
  const later = await world.runtime();
  expect(await later.call(outer, {}, { runId: "r1" })).toMatchObject({
    status: "error",
    error: { code: "TOOL_APPROVAL_DENIED" },
  });
  // Another iteration of the task is unaffected.
  expect(await later.call(charge, { amount: 7 }, { runId: "r1", iteration: 1 })).toMatchObject({
    status: "pending",
  });
  expect(effects).toEqual([]);
});
