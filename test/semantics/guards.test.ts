/** Guards that only a rare interleaving needs: each of these tests fails when its guard is taken out. */
import { defineTool } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { change } from "../../src/store/statement.ts";
import { createClock, createWorld, never, until, type World } from "./harness.ts";
import { createBlindCharge, harmless } from "./tools.ts";

const task = { runId: "r1" };
const args = { amount: 1 };

/** A blind charge whose validation can be held up: between the look at the record and the beginning. */
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

/** What a process does that finds the owner of a running call dead, and then dies itself. */
async function markStartedAsUnknown(world: World): Promise<void> {
  const store = await world.open();
  await store.transaction(
    () => change("UPDATE toolwright_calls SET status = 'unknown' WHERE status = 'started'"),
    "normal",
  );
}

describe("an approval", () => {
  it("rule 8: that another process has voided in the meantime, since the tool has changed, lets nothing run", async () => {
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

  it("rule 17: to run again works once, also if that run was interrupted in its turn before another looked", async () => {
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
    await one.resolveToolApproval(asked.approval.id, { approved: true });
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
  ])("rule 20: of a tool that %s is asked for again", async (_how, before, after) => {
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
  it("rule 13: a call that was timed out before execute was entered has not, and runs in the next attempt", async () => {
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

  it("rule 14: a call that was cut off between two tries that said so has not, and nobody is asked", async () => {
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
