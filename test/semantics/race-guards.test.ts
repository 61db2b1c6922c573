/** Guards against rare interleavings: each of these tests fails when its guard is removed. */
import { defineTool } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { change } from "../../src/store/statement.ts";
import { createClock, createWorld, never, until, type World } from "./harness.ts";
import { createBlindCharge, createCharge, harmless } from "./tools.ts";

const task = { runId: "r1" };
const args = { amount: 1 };

/** A blind charge whose validation can be paused, after the store was read and before the call starts. */
function createHeldCharge(behave: () => unknown = () => undefined) {
  const effects: string[] = [];
  const make = (version: string, hold: () => Promise<unknown> | undefined, extra: z.ZodRawShape = {}) =>
    defineTool({
      name: "held_charge",
      schema: z.object({ ...extra, amount: z.number().refine(async () => (await hold(), true)) }),
      sideEffect: true,
      idempotent: false,
      acceptsIdempotencyKey: false,
      needsApproval: version !== "replay",
      async execute() {
        effects.push(version);
        return (await behave()) ?? "done";
      },
    });
  return { make, effects };
}

/** Acts as a process that finds the owner of a running call dead, and then dies itself. */
async function markStartedAsUnknown(world: World): Promise<void> {
  const store = await world.open();
  await store.transaction(
    () => change("UPDATE toolwright_calls SET status = 'unknown' WHERE status = 'started'"),
    "normal",
  );
}

describe("an approval", () => {
  it("rule 8: that another process has voided meanwhile, because the tool has changed, lets nothing run", async () => {
    const world = await createWorld();
    const { make, effects } = createHeldCharge();
    const gate = Promise.withResolvers<undefined>();
    let held = 0;
    let isHolding = false;
    const old = make("old", () => {
      if (!isHolding) return undefined;
      held += 1;
      return gate.promise;
    });
    const [one, other] = [await world.runtime(), await world.runtime()];
    const pending = await one.call(old, args, { ...task, callKey: "k" });
    if (pending.status !== "pending") throw new Error(pending.status);
    await one.resolveToolApproval(pending.approval.id, { approved: true });

    isHolding = true;
    const late = one.call(old, args, { ...task, callKey: "k" });
    await until(() => held > 0);
    const renewed = make("new", () => undefined, { currency: z.string().optional() });
    expect(await other.call(renewed, args, { ...task, callKey: "k" })).toMatchObject({ status: "pending" });
    isHolding = false;
    gate.resolve(undefined);
    expect(await late).toMatchObject({ status: "pending" });
    expect(effects).toEqual([]);
  });

  it("rule 17: to run again works once, even if the rerun was interrupted before another process read it", async () => {
    const world = await createWorld();
    const { make, effects } = createHeldCharge(() => never());
    const gate = Promise.withResolvers<undefined>();
    let held = 0;
    let isHolding = false;
    const slow = make("replay", () => {
      if (!isHolding) return undefined;
      held += 1;
      return gate.promise;
    });
    const quick = make("replay", () => undefined);
    void (await world.runtime()).call(quick, args, { ...task, callKey: "k" });
    await until(() => effects.length === 1);
    await world.killAll();

    const one = await world.runtime();
    const asked = await one.call(quick, args, { ...task, callKey: "k" });
    if (asked.status !== "pending") throw new Error(asked.status);
    await one.resolveToolApproval(asked.approval.id, { resolution: "run-again" });
    isHolding = true;
    const late = one.call(slow, args, { ...task, callKey: "k" });
    await until(() => held > 0);

    void (await world.runtime()).call(quick, args, { ...task, callKey: "k" });
    await until(() => effects.length === 2);
    await markStartedAsUnknown(world);
    isHolding = false;
    gate.resolve(undefined);
    expect(await late).toMatchObject({ status: "pending" });
    expect(effects).toHaveLength(2);
  });

  it.each<[string, object, object]>([
    ["becomes a side effect", { sideEffect: false }, { sideEffect: true, idempotent: true }],
    [
      "stops being idempotent",
      { sideEffect: true, idempotent: true },
      { sideEffect: true, idempotent: false },
    ],
  ])("rule 20: of a tool that %s is requested again", async (_how, before, after) => {
    const world = await createWorld();
    const runs: unknown[] = [];
    const make = (policies: object) =>
      defineTool({
        name: "changing",
        schema: z.object({}),
        needsApproval: true,
        ...policies,
        execute: (_args, ctx) => void runs.push(ctx.idempotencyKey),
      });
    const runtime = await world.runtime();
    const pending = await runtime.call(make(before), {}, task);
    if (pending.status !== "pending") throw new Error(pending.status);
    await runtime.resolveToolApproval(pending.approval.id, { approved: true });
    expect(await (await world.runtime()).call(make(after), {}, task)).toMatchObject({ status: "pending" });
    expect(runs).toEqual([]);
  });
});

describe("what has not happened", () => {
  it("rule 13: a call that timed out before execute started runs in the next attempt", async () => {
    const world = await createWorld();
    const clock = createClock();
    const { charge, effects } = createBlindCharge({ timeoutMs: 100 });
    let asked = 0;
    const runtime = await world.runtime({
      clock,
      capabilities: () => {
        asked += 1;
        return asked === 1 ? never<Record<string, unknown>>() : {};
      },
    });
    const call = runtime.call(charge, args, task);
    await until(() => asked === 1);
    await clock.advance(100);
    expect(await call).toMatchObject({ status: "error", error: { code: "TOOL_TIMEOUT" } });
    expect(await world.log("r1")).toMatchObject([{ status: "error", effect: "none", tries: 0 }]);
    expect(await runtime.call(charge, args, { ...task, attempt: 2 })).toMatchObject({ status: "success" });
    expect(effects).toEqual([1]);
  });

  it("rule 14: a call cut off after a try that reported no effect runs again without approval", async () => {
    const world = await createWorld();
    const clock = createClock();
    const controller = new AbortController();
    const { charge, effects } = createBlindCharge({ retry: { maxRetries: 1, backoffMs: 1_000 } }, (count) => {
      if (count === 1) throw harmless("refused");
    });
    const runtime = await world.runtime({ clock });
    const call = runtime.call(charge, args, { ...task, signal: controller.signal });
    await until(() => clock.sleeps.length === 1);
    controller.abort();
    expect(await call).toMatchObject({ status: "error", error: { code: "TOOL_ABORTED" } });
    expect(await (await world.runtime()).call(charge, args, task)).toMatchObject({ status: "success" });
    expect(effects).toHaveLength(2);
  });
});

describe("a late result", () => {
  it("rule 13: the success of a first try is not lost if the second fails after it", async () => {
    const world = await createWorld();
    const clock = createClock();
    const answers = [Promise.withResolvers<{ id: string }>(), Promise.withResolvers<{ id: string }>()];
    const { charge, effects } = createCharge(
      { timeoutMs: 100, retry: { maxRetries: 1, backoffMs: 0 }, onUnknown: "fail" },
      (count) => answers[count - 1]?.promise,
    );
    const runtime = await world.runtime({ clock });
    const call = runtime.call(charge, args, task);
    await until(() => effects.length === 1);
    await clock.advance(100);
    await until(() => effects.length === 2);
    answers[0]?.resolve({ id: "first" });
    await clock.advance(0);
    answers[1]?.reject(new Error("socket closed"));
    expect(await call).toMatchObject({ status: "error", error: { message: "socket closed" } });
    await until(
      async () => (await world.rows("SELECT late_json FROM toolwright_calls"))[0]?.["late_json"] !== null,
    );
    expect(await runtime.call(charge, args, { ...task, attempt: 2 })).toMatchObject({
      status: "success",
      output: { id: "first" },
      replayed: true,
    });
    expect(effects).toHaveLength(2);
  });

  it("rule 13: a last try without an effect does not settle the try before it", async () => {
    const world = await createWorld();
    const clock = createClock();
    const answer = Promise.withResolvers<{ id: string }>();
    const { charge, effects } = createCharge(
      { timeoutMs: 100, retry: { maxRetries: 1, backoffMs: 0 }, onUnknown: "fail" },
      (count) => {
        if (count === 1) throw new Error("socket closed");
        return answer.promise;
      },
    );
    const runtime = await world.runtime({ clock });
    const call = runtime.call(charge, args, task);
    await until(() => effects.length === 2);
    await clock.advance(100);
    expect(await call).toMatchObject({ error: { code: "TOOL_TIMEOUT" } });
    answer.reject(harmless("refused"));
    await until(
      async () => (await world.rows("SELECT late_json FROM toolwright_calls"))[0]?.["late_json"] !== null,
    );
    expect(await runtime.call(charge, args, { ...task, attempt: 2 })).toMatchObject({
      error: { code: "TOOL_OUTCOME_UNKNOWN" },
    });
    expect(effects).toHaveLength(2);
  });
});

describe("budgets", () => {
  it("rule 24: a call that was interrupted and runs again is counted each time", async () => {
    const world = await createWorld();
    const { charge, effects } = createBlindCharge({ idempotent: true, maxExecutionsPerRun: 2 }, (count) =>
      count === 1 ? never() : undefined,
    );
    void (await world.runtime()).call(charge, args, task);
    await until(() => effects.length === 1);
    await world.killAll();
    const runtime = await world.runtime();
    expect(await runtime.call(charge, args, task)).toMatchObject({ status: "success" });
    expect(await runtime.call(charge, args, task)).toMatchObject({ error: { code: "TOOL_LIMIT_EXCEEDED" } });
  });

  it("rule 24: a wait that would outlast the time budget is not started", async () => {
    const world = await createWorld();
    const clock = createClock();
    const tool = defineTool({
      name: "down",
      schema: z.object({}),
      retry: { maxRetries: 3, backoffMs: 60_000 },
      execute(): string {
        throw new Error("down");
      },
    });
    const runtime = await world.runtime({ clock, limits: { maxWallClockMs: 1_000 } });
    expect(await runtime.call(tool, {}, task)).toMatchObject({ status: "error", error: { message: "down" } });
    expect(Math.max(...clock.sleeps)).toBeLessThanOrEqual(1_000);
    expect(await world.log("r1")).toMatchObject([{ tries: 1 }]);
  });
});

it("rule 20: an approval that a refusal left unused does not count for another version of the tool", async () => {
  const world = await createWorld();
  const runs: unknown[] = [];
  const make = (extra: z.ZodRawShape, maxExecutionsPerRun: number) =>
    defineTool({
      name: "changing",
      schema: z.object({ ...extra, amount: z.number() }),
      sideEffect: true,
      idempotent: false,
      needsApproval: true,
      maxExecutionsPerRun,
      execute: (_args, ctx) => void runs.push(ctx.idempotencyKey),
    });
  const runtime = await world.runtime();
  // Another process has spent the budget while the request was open.
  const pending = await runtime.call(make({}, 1), args, { ...task, callKey: "k" });
  if (pending.status !== "pending") throw new Error(pending.status);
  await runtime.resolveToolApproval(pending.approval.id, { approved: true });
  expect(await runtime.call(make({}, 0), args, { ...task, callKey: "k" })).toMatchObject({
    error: { code: "TOOL_LIMIT_EXCEEDED" },
  });
  const changed = make({ currency: z.string().optional() }, 5);
  expect(await runtime.call(changed, args, { ...task, callKey: "k", attempt: 2 })).toMatchObject({
    status: "pending",
  });
  expect(runs).toEqual([]);
});

it("rule 13: a retry of the enclosing call does not repeat an inner one that may have happened", async () => {
  const world = await createWorld();
  const { charge, effects } = createBlindCharge({}, () => {
    throw new Error("socket closed");
  });
  const outer = defineTool({
    name: "outer",
    schema: z.object({}),
    retry: { maxRetries: 1, backoffMs: 0 },
    execute: () => charge.execute(args),
  });
  expect(await (await world.runtime()).call(outer, {}, task)).toMatchObject({
    status: "pending",
    approval: { kind: "replay", toolName: "blind_charge" },
  });
  expect(effects).toEqual([1]);
});
