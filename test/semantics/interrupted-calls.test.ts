/** Rule 16: how an interrupted call is resolved, depending on the definition of its tool. */
import { defineTool, type Reconciled } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createClock, createWorld, never, until, type World } from "./harness.ts";
import { createBlindCharge, createCharge, type Policies } from "./tools.ts";

const task = { runId: "r1" };
const args = { amount: 7 };

/** Starts a call whose process dies while it runs. */
async function interrupt(world: World, tool: object, options: object = task, clock = createClock()) {
  const runtime = await world.runtime({ clock });
  // Emitted after the intent is stored, right before execute starts.
  const started = new Promise<void>((resolve) => {
    runtime.subscribe(({ type }) => {
      if (type === "call-started") resolve();
    });
  });
  void runtime.call(tool, args, { ...task, ...options }).catch(() => undefined);
  await started;
  await world.killAll();
}

/** Hangs the first time, until the process dies. */
const dieFirst = (count: number): unknown => (count === 1 ? never() : undefined);

describe("a call that died between intent and outcome", () => {
  it("rule 16: runs again with the same key if the tool passes its key on, and the agent is warned", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({}, dieFirst);
    await interrupt(world, charge);
    const outcome = await (await world.runtime()).call(charge, args, task);
    expect(outcome).toMatchObject({ status: "success", output: { id: "ch_2" }, replayed: false });
    expect(outcome).toMatchObject({ note: expect.stringContaining("same idempotency key") });
    expect(effects[1]?.key).toBe(effects[0]?.key);
    expect(effects[0]?.key).toMatch(/^[\w-]{1,64}$/);
    expect(await world.log("r1")).toMatchObject([{ seq: 1, status: "success" }]);
  });

  it("rule 16: runs again for a pure and for an idempotent tool, with no note", async () => {
    const world = await createWorld();
    let runs = 0;
    const upsert = defineTool({
      name: "upsert",
      schema: z.object({ amount: z.number() }),
      sideEffect: true,
      idempotent: true,
      execute: () => ((runs += 1) === 1 ? never<number>() : runs),
    });
    await interrupt(world, upsert);
    const outcome = await (await world.runtime()).call(upsert, args, task);
    expect(outcome).toMatchObject({ status: "success", output: 2 });
    expect(outcome).not.toHaveProperty("note");
  });

  it("rule 16: requests approval if the tool declares that it passes no key on, and runs nothing meanwhile", async () => {
    const world = await createWorld();
    const { charge, effects } = createBlindCharge({}, dieFirst);
    await interrupt(world, charge);
    const runtime = await world.runtime();
    const outcome = await runtime.call(charge, args, task);
    expect(outcome).toMatchObject({ status: "pending", approval: { kind: "replay", args } });
    expect(await (await world.runtime()).call(charge, args, task)).toMatchObject({ status: "pending" });
    expect(await runtime.approvals({ status: "pending" })).toHaveLength(1);
    expect(effects).toHaveLength(1);
    expect(await world.log("r1")).toMatchObject([{ status: "pending" }]);
  });

  it("rule 16: requests approval once a call of the tool has ended without reading its key", async () => {
    const world = await createWorld();
    let runs = 0;
    // It takes ctx and never reads the key: the check at definition cannot detect that.
    const charge = defineTool({
      name: "forgetful",
      schema: z.object({ amount: z.number() }),
      sideEffect: true,
      idempotent: false,
      execute: ({ amount }, ctx) => ((runs += 1) === 2 ? never<string>() : `${ctx.toolName} ${amount}`),
    });
    await (await world.runtime()).call(charge, { amount: 1 }, task);
    await interrupt(world, charge);
    expect(await (await world.runtime()).call(charge, args, task)).toMatchObject({
      status: "pending",
      approval: { kind: "replay" },
    });
    expect(runs).toBe(2);
  });

  it("rule 16: a key that only needsApproval or the prompt read was not read by execute", async () => {
    const world = await createWorld();
    const curious = createBlindCharge({
      acceptsIdempotencyKey: true,
      needsApproval: (_args, ctx) => ctx.idempotencyKey === null,
    });
    await (await world.runtime()).call(curious.charge, args, task);
    expect(await world.rows("SELECT key_read FROM toolwright_calls")).toEqual([{ key_read: 0 }]);
  });

  it.each([
    ["tell", { toolCallId: "c1" }],
    ["fail", { toolCallId: "c1" }],
    ["fail", {}],
  ] as const)(
    "rule 16: onUnknown %s returns outcome_unknown (%j), and the call stays unknown",
    async (onUnknown, options) => {
      const world = await createWorld();
      const { charge, effects } = createCharge({ onUnknown }, dieFirst);
      await interrupt(world, charge);
      const outcome = await (await world.runtime()).call(charge, args, { ...task, ...options });
      expect(await (await world.runtime()).approvals()).toEqual([]);
      expect(outcome).toMatchObject({ status: "error", error: { code: "TOOL_OUTCOME_UNKNOWN" } });
      expect(outcome.status === "error" && outcome.error.toModel().error_type).toBe("outcome_unknown");
      expect(effects).toHaveLength(1);
      expect(await world.log("r1")).toMatchObject([{ status: "unknown" }]);
    },
  );

  it("rule 16: onUnknown tell requests approval if no model reads the result, and the call continues after each decision", async () => {
    for (const [decision, expected, runs] of [
      [{ resolution: "run-again" }, { status: "success", output: { id: "ch_2" } }, 2],
      [{ resolution: "happened", output: { id: "ch_1" } }, { status: "success", output: { id: "ch_1" } }, 1],
      [{ resolution: "give-up" }, { status: "denied", error: { code: "TOOL_APPROVAL_DENIED" } }, 1],
    ] as const) {
      const world = await createWorld();
      const { charge, effects } = createBlindCharge({ onUnknown: "tell" }, dieFirst);
      await interrupt(world, charge);
      const runtime = await world.runtime();
      expect(await runtime.call(charge, args, task)).toMatchObject({
        status: "pending",
        approval: { kind: "replay" },
      });
      const [request] = await runtime.approvals({ status: "pending" });
      await runtime.resolveToolApproval(request?.id ?? "", decision);
      expect(await (await world.runtime()).call(charge, args, task)).toMatchObject(expected);
      expect(effects).toHaveLength(runs);
    }
  });

  it("rule 16: a pending approval binds a model that calls the tool later", async () => {
    const world = await createWorld();
    const { charge, effects } = createBlindCharge({ onUnknown: "tell" }, dieFirst);
    await interrupt(world, charge);
    const runtime = await world.runtime();
    await runtime.call(charge, args, task);
    const asModel = async () => (await world.runtime()).call(charge, args, { ...task, toolCallId: "c1" });
    expect(await asModel()).toMatchObject({ status: "pending" });
    const [request] = await runtime.approvals({ status: "pending" });
    await runtime.resolveToolApproval(request?.id ?? "", { resolution: "happened", output: { id: "seen" } });
    expect(await asModel()).toMatchObject({ status: "success", output: { id: "seen" } });
    expect(effects).toHaveLength(1);
  });

  it("rule 16: onUnknown run runs even a tool that takes no key", async () => {
    const world = await createWorld();
    const { charge, effects } = createBlindCharge({ onUnknown: "run" }, dieFirst);
    await interrupt(world, charge);
    expect(await (await world.runtime()).call(charge, args, task)).toMatchObject({ status: "success" });
    expect(effects).toHaveLength(2);
  });

  it("rule 16: onUnknown ask requests approval even for a tool that passes its key on", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ onUnknown: "ask" }, dieFirst);
    await interrupt(world, charge);
    expect(await (await world.runtime()).call(charge, args, task)).toMatchObject({ status: "pending" });
    expect(effects).toHaveLength(1);
  });

  it("rule 16: one outcome_unknown error does not settle it: the second equal call is a second call", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ onUnknown: "tell" }, dieFirst);
    await interrupt(world, charge);
    const runtime = await world.runtime();
    const told = await runtime.call(charge, args, { ...task, toolCallId: "c1" });
    expect(told).toMatchObject({ error: { code: "TOOL_OUTCOME_UNKNOWN" } });
    expect(await runtime.call(charge, args, { ...task, toolCallId: "c2" })).toMatchObject({
      status: "success",
    });
    expect(effects).toHaveLength(2);
    expect(effects[0]?.key).not.toBe(effects[1]?.key);
  });

  it("rule 16: it is unknown in a later attempt too", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ onUnknown: "fail" }, dieFirst);
    await interrupt(world, charge);
    const runtime = await world.runtime();
    for (const attempt of [2, 3]) {
      const outcome = await runtime.call(charge, args, { ...task, attempt });
      expect(outcome).toMatchObject({ status: "error", error: { code: "TOOL_OUTCOME_UNKNOWN" } });
    }
    expect(effects).toHaveLength(1);
    expect((await world.log("r1")).map((row) => row["status"])).toEqual(["unknown", "unknown", "unknown"]);
  });
});

describe("reconcile", () => {
  const asked: number[] = [];
  const reconciling = (answer: () => Reconciled<{ id: string }>, more: Policies = {}) =>
    createCharge(
      {
        settleMs: 0,
        reconcile: ({ amount }) => {
          asked.push(amount);
          return answer();
        },
        ...more,
      },
      dieFirst,
    );

  it("rule 16: a call that happened is recorded and returned, and does not run", async () => {
    const world = await createWorld();
    const { charge, effects } = reconciling(() => ({ happened: true, output: { id: "ch_seen" } }));
    await interrupt(world, charge);
    const outcome = await (await world.runtime()).call(charge, args, task);
    expect(outcome).toMatchObject({ status: "success", output: { id: "ch_seen" } });
    expect(effects).toHaveLength(1);
    expect(await world.log("r1")).toMatchObject([{ status: "success", output_json: '{"id":"ch_seen"}' }]);
    expect(await (await world.runtime()).call(charge, args, task)).toMatchObject({
      output: { id: "ch_seen" },
      replayed: true,
    });
  });

  it("rule 16: a call that happened in an earlier attempt is recorded there and returned here", async () => {
    const world = await createWorld();
    const { charge, effects } = reconciling(() => ({ happened: true, output: { id: "ch_seen" } }));
    await interrupt(world, charge);
    const outcome = await (await world.runtime()).call(charge, args, { ...task, attempt: 2 });
    expect(outcome).toMatchObject({ status: "success", output: { id: "ch_seen" }, replayed: true });
    expect(effects).toHaveLength(1);
    expect(await world.log("r1")).toMatchObject([
      { attempt: 1, status: "success", replayed: 0 },
      { attempt: 2, status: "success", replayed: 1 },
    ]);
  });

  it("rule 16: a call that did not happen runs now", async () => {
    const world = await createWorld();
    const { charge, effects } = reconciling(() => ({ happened: false }));
    await interrupt(world, charge);
    expect(await (await world.runtime()).call(charge, args, task)).toMatchObject({ output: { id: "ch_2" } });
    expect(effects).toHaveLength(2);
  });

  it.each([
    [
      "throws",
      (): Reconciled<{ id: string }> => {
        throw new Error("service down");
      },
    ],
    ["does not know", (): Reconciled<{ id: string }> => undefined],
    ["returns no answer", () => JSON.parse("{}") as Reconciled<{ id: string }>],
    ["misspells its answer", () => JSON.parse('{"hapened":false}') as Reconciled<{ id: string }>],
    ["answers with a text", () => JSON.parse('{"happened":"false"}') as Reconciled<{ id: string }>],
  ])(
    "rule 16: a reconcile that %s leaves the call unknown: one approval is requested, and the next call reconciles again",
    async (_name, answer) => {
      const world = await createWorld();
      asked.length = 0;
      const { charge, effects } = reconciling(answer);
      await interrupt(world, charge);
      const ids = new Set<string>();
      for (let times = 0; times < 2; times += 1) {
        const outcome = await (await world.runtime()).call(charge, args, task);
        expect(outcome).toMatchObject({ status: "pending", approval: { kind: "replay" } });
        if (outcome.status === "pending") ids.add(outcome.approval.id);
      }
      expect(asked).toEqual([7, 7]);
      expect(ids.size).toBe(1);
      expect(effects).toHaveLength(1);
    },
  );

  it("rule 16: a reconcile that does not settle within the timeout of the tool leaves it unknown", async () => {
    const world = await createWorld();
    const { charge, effects } = reconciling(() => never() as never, { timeoutMs: 20 });
    await interrupt(world, charge);
    expect(await (await world.runtime()).call(charge, args, task)).toMatchObject({ status: "pending" });
    expect(effects).toHaveLength(1);
  });

  it("rule 16: a reconcile that finds the outcome later makes the approval unnecessary", async () => {
    const world = await createWorld();
    let isKnown = false;
    const { charge, effects } = reconciling(() =>
      isKnown ? { happened: true, output: { id: "ch_seen" } } : undefined,
    );
    await interrupt(world, charge);
    expect(await (await world.runtime()).call(charge, args, task)).toMatchObject({ status: "pending" });
    isKnown = true;
    const runtime = await world.runtime();
    expect(await runtime.call(charge, args, task)).toMatchObject({ output: { id: "ch_seen" } });
    expect(await runtime.approvals()).toMatchObject([{ status: "void" }]);
    expect(effects).toHaveLength(1);
  });

  it("rule 17: a decision counts without another reconcile", async () => {
    const world = await createWorld();
    asked.length = 0;
    const { charge, effects } = reconciling(() => undefined);
    await interrupt(world, charge);
    const runtime = await world.runtime();
    await runtime.call(charge, args, task);
    const [request] = await runtime.approvals({ status: "pending" });
    await runtime.resolveToolApproval(request?.id ?? "", { resolution: "run-again" });
    expect(await (await world.runtime()).call(charge, args, task)).toMatchObject({ output: { id: "ch_2" } });
    expect(asked).toEqual([7]);
    expect(effects).toHaveLength(2);
  });

  it.each([
    ["tell", { status: "error", error: { code: "TOOL_OUTCOME_UNKNOWN" } }],
    ["fail", { status: "error", error: { code: "TOOL_OUTCOME_UNKNOWN" } }],
    ["run", { status: "success", output: { id: "ch_2" } }],
    ["ask", { status: "pending" }],
  ] as const)("rule 16: if reconcile does not know, onUnknown %s decides", async (onUnknown, expected) => {
    const world = await createWorld();
    const { charge } = reconciling(() => undefined, { onUnknown });
    await interrupt(world, charge);
    const outcome = await (await world.runtime()).call(charge, args, { ...task, toolCallId: "c1" });
    expect(outcome).toMatchObject(expected);
  });

  it("rule 16: a clock that was set back does not make reconcile wait longer than settleMs", async () => {
    const world = await createWorld();
    const late = createClock(10_000_000);
    const { charge } = reconciling(() => ({ happened: false }), { settleMs: 1_000 });
    await interrupt(world, charge, {}, late);
    const clock = createClock();
    const again = (await world.runtime({ clock })).call(charge, args, task);
    await until(() => clock.sleeps.length > 0);
    expect(clock.sleeps).toEqual([1_000]);
    await clock.advance(1_000);
    expect(await again).toMatchObject({ status: "success" });
  });

  it("rule 16: a reconciled output that does not match the schema is ignored", async () => {
    const world = await createWorld();
    const hung: unknown[] = [];
    const order = defineTool({
      name: "order",
      schema: z.object({ amount: z.number() }),
      outputSchema: z.object({ id: z.string() }),
      sideEffect: true,
      idempotent: false,
      settleMs: 0,
      reconcile: () => ({ happened: true, output: JSON.parse('{"id":7}') as { id: string } }),
      execute: (_args, ctx) => {
        hung.push(ctx.idempotencyKey);
        return never<{ id: string }>();
      },
    });
    await interrupt(world, order);
    const outcome = await (await world.runtime()).call(order, args, task);
    expect(outcome).toMatchObject({ status: "pending", approval: { kind: "replay" } });
    expect(hung).toHaveLength(1);
  });

  it("rule 16: does not run before the intent is settleMs old, by the runtime's clock", async () => {
    const world = await createWorld();
    asked.length = 0;
    const clock = createClock();
    const { charge } = reconciling(() => ({ happened: false }), { settleMs: 5_000 });
    await interrupt(world, charge, {}, clock);
    await clock.advance(2_000);
    const again = (await world.runtime({ clock })).call(charge, args, task);
    await until(() => clock.sleeps.length > 0);
    expect(clock.sleeps).toEqual([3_000]);
    await clock.advance(2_999);
    expect(asked).toEqual([]);
    await clock.advance(1);
    expect(await again).toMatchObject({ status: "success" });
    expect(asked).toEqual([7]);
  });

  it("rule 16: waits one second by default", async () => {
    const world = await createWorld();
    const clock = createClock();
    const { charge } = createCharge({ reconcile: () => ({ happened: false }) }, dieFirst);
    await interrupt(world, charge, {}, clock);
    const again = (await world.runtime({ clock })).call(charge, args, task);
    await until(() => clock.sleeps.length > 0);
    expect(clock.sleeps).toEqual([1_000]);
    await clock.advance(1_000);
    await again;
  });

  it("rule 16: an abort ends that wait", async () => {
    const world = await createWorld();
    const clock = createClock();
    const { charge, effects } = createCharge({ reconcile: () => ({ happened: false }) }, dieFirst);
    await interrupt(world, charge, {}, clock);
    const stop = new AbortController();
    const again = (await world.runtime({ clock })).call(charge, args, { ...task, signal: stop.signal });
    await until(() => clock.sleeps.length > 0);
    stop.abort(new Error("enough"));
    expect(await again).toMatchObject({ status: "error", error: { code: "TOOL_ABORTED" } });
    expect(effects).toHaveLength(1);
    expect(await world.log("r1")).toMatchObject([{ status: "unknown" }]);
  });
});
