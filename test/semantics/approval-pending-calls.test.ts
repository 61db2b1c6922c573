/** Rule 20: a pending call stays the same call, however often and wherever it is made, until it ends. */
import { defineTool } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createWorld, until, type World } from "./harness.ts";
import { createBlindCharge, createCharge } from "./tools.ts";

const task = { runId: "r1" };
const args = { amount: 7 };

async function approveAll(runtime: Awaited<ReturnType<World["runtime"]>>): Promise<number> {
  const requests = await runtime.approvals({ status: "pending" });
  for (const { id } of requests) await runtime.resolveToolApproval(id, { approved: true });
  return requests.length;
}

describe("in the process that requested approval", () => {
  it("runs once it is approved, and the next equal call needs a new approval", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ needsApproval: true });
    const runtime = await world.runtime();
    expect(await runtime.call(charge, args, task)).toMatchObject({ status: "pending" });
    expect(await runtime.call(charge, args, task)).toMatchObject({ status: "pending" });
    expect(await approveAll(runtime)).toBe(1);
    expect(await runtime.call(charge, args, task)).toMatchObject({ status: "success", replayed: false });
    expect(effects).toHaveLength(1);
    expect(await runtime.call(charge, args, task)).toMatchObject({ status: "pending" });
    expect(await approveAll(runtime)).toBe(1);
    expect(effects).toHaveLength(1);
  });

  it("runs once it is approved inside one runtime.run", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ needsApproval: true });
    const runtime = await world.runtime();
    const outcomes = await runtime.run(task, async () => {
      const first = await runtime.call(charge, args);
      await approveAll(runtime);
      return [first, await runtime.call(charge, args), await runtime.call(charge, args)];
    });
    expect(outcomes.map(({ status }) => status)).toEqual(["pending", "success", "pending"]);
    expect(effects).toHaveLength(1);
  });

  it("runs once it is approved, without a named run", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ needsApproval: true });
    const runtime = await world.runtime();
    const two = () => Promise.all([runtime.call(charge, args), runtime.call(charge, args)]);
    expect(await two()).toMatchObject([{ status: "pending" }, { status: "pending" }]);
    expect(await runtime.call(charge, { amount: 8 })).toMatchObject({ status: "pending" });
    expect(await two()).toMatchObject([{ status: "pending" }, { status: "pending" }]);
    expect(await approveAll(runtime)).toBe(3);
    expect(await two()).toMatchObject([{ status: "success" }, { status: "success" }]);
    expect(effects).toHaveLength(2);
    expect(await runtime.call(charge, args)).toMatchObject({ status: "pending" });
  });

  it("is two calls if two are made concurrently, in every round", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ needsApproval: true });
    const runtime = await world.runtime();
    const two = () => Promise.all([runtime.call(charge, args, task), runtime.call(charge, args, task)]);
    expect(await two()).toMatchObject([{ status: "pending" }, { status: "pending" }]);
    expect(await two()).toMatchObject([{ status: "pending" }, { status: "pending" }]);
    expect(await approveAll(runtime)).toBe(2);
    expect(await two()).toMatchObject([{ status: "success" }, { status: "success" }]);
    expect(effects).toHaveLength(2);
    expect(new Set(effects.map(({ key }) => key)).size).toBe(2);
  });

  it("is denied once, and so is every equal call after it", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ needsApproval: true });
    const runtime = await world.runtime();
    await runtime.call(charge, args, task);
    const [request] = await runtime.approvals({ status: "pending" });
    await runtime.resolveToolApproval(request?.id ?? "", { approved: false });
    expect(await runtime.call(charge, args, task)).toMatchObject({ status: "denied" });
    expect(await runtime.call(charge, args, task)).toMatchObject({ status: "denied" });
    expect(effects).toEqual([]);
  });
});

describe("an interrupted call that the approver has settled", () => {
  async function interrupted(world: World) {
    const { charge, effects } = createBlindCharge({}, (count) =>
      count === 1 ? new Promise(() => undefined) : undefined,
    );
    void (await world.runtime()).call(charge, args, task).catch(() => undefined);
    await until(() => effects.length === 1);
    await world.killAll();
    return { charge, effects };
  }

  it("binds the process that requested approval: happened, and the call is not repeated", async () => {
    const world = await createWorld();
    const { charge, effects } = await interrupted(world);
    const runtime = await world.runtime();
    const pending = await runtime.call(charge, args, task);
    if (pending.status !== "pending") throw new Error(pending.status);
    await runtime.resolveToolApproval(pending.approval.id, {
      approved: true,
      happened: { output: { id: "ch_1" } },
    });
    expect(await runtime.call(charge, args, task)).toMatchObject({
      status: "success",
      replayed: true,
      output: { id: "ch_1" },
    });
    expect(effects).toHaveLength(1);
  });

  it("binds the process that requested approval inside one runtime.run: give-up", async () => {
    const world = await createWorld();
    const { charge, effects } = await interrupted(world);
    const runtime = await world.runtime();
    await runtime.run(task, async () => {
      const pending = await runtime.call(charge, args);
      if (pending.status !== "pending") throw new Error(pending.status);
      await runtime.resolveToolApproval(pending.approval.id, { resolution: "give-up" });
      expect(await runtime.call(charge, args)).toMatchObject({ status: "denied" });
    });
    expect(effects).toHaveLength(1);
  });
});

it("rule 14: a call that was cut off is not silently repeated in the same process", async () => {
  const world = await createWorld();
  const { charge, effects } = createBlindCharge({}, () => new Promise(() => undefined));
  const runtime = await world.runtime();
  const abort = new AbortController();
  const cut = runtime.call(charge, args, { ...task, signal: abort.signal });
  await until(() => effects.length === 1);
  abort.abort();
  expect(await cut).toMatchObject({ status: "error", error: { code: "TOOL_ABORTED" } });
  expect(await runtime.call(charge, args, task)).toMatchObject({ status: "pending" });
  expect(effects).toHaveLength(1);
});

it("rule 23: inner calls alongside one that waits end before the enclosing call waits, and the next pass finds them", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge({ needsApproval: true });
  const release = Promise.withResolvers<void>();
  let slowRuns = 0;
  const slow = defineTool({
    name: "slow",
    schema: z.object({}),
    sideEffect: true,
    idempotent: false,
    acceptsIdempotencyKey: true,
    execute: async () => {
      slowRuns += 1;
      await release.promise;
    },
  });
  const outer = defineTool({
    name: "outer",
    schema: z.object({}),
    sideEffect: true,
    idempotent: true,
    execute: () => Promise.all([charge.call(args), slow.call({})]).then(([charged]) => charged),
  });
  const runtime = await world.runtime();
  const first = runtime.call(outer, {}, task);
  await until(() => slowRuns === 1);
  await until(async () => (await runtime.approvals({ status: "pending" })).length === 1);
  release.resolve();
  expect(await first).toMatchObject({ status: "pending" });
  await approveAll(runtime);
  expect(await runtime.call(outer, {}, task)).toMatchObject({ status: "success" });
  expect([effects.length, slowRuns]).toEqual([1, 1]);
});
