/** Rule 5: one effect per tool and business key in the whole store. */
import { defineTool } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { createWorld, never, times, until } from "./harness.ts";
import { createBlindCharge, createCharge, harmless } from "./tools.ts";

const byOrder = { idempotencyKey: ({ amount }: { amount: number }) => `order-${amount}` };

it("rule 5: a success in any run is returned, whatever replay says, and ctx has a digest of tool and key", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge({ ...byOrder, replay: "run" });
  const first = await (await world.runtime()).call(charge, { amount: 1 }, { runId: "r1" });
  const runtime = await world.runtime();
  for (const options of [{ runId: "r2" }, { runId: "r1", attempt: 2 }, { runId: "r3", nodeId: "n" }]) {
    const outcome = await runtime.call(charge, { amount: 1 }, options);
    expect(outcome).toMatchObject({ status: "success", output: { id: "ch_1" }, replayed: true });
  }
  expect(effects).toHaveLength(1);
  expect(effects[0]?.key).toMatch(/^[\w-]{1,64}$/);
  expect(effects[0]?.key).not.toBe(first.key);
  expect(effects[0]?.key).not.toContain("order");
});

it("rule 5: of concurrent equal calls in several runs and runtimes, one has the effect and the rest wait", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge(byOrder, () => new Promise((resolve) => setTimeout(resolve, 20)));
  const [one, other] = [await world.runtime(), await world.runtime()];
  const outcomes = await Promise.all(
    [one, other, one, other].map((runtime, at) => runtime.call(charge, { amount: 1 }, { runId: `r${at}` })),
  );
  expect(outcomes).toMatchObject(times(4, { status: "success", output: { id: "ch_1" } }));
  expect(effects).toHaveLength(1);
});

it("rule 5: a proven no-effect releases the key, even for different arguments", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge({ idempotencyKey: () => "the order" }, (count) => {
    if (count === 1) throw harmless("declined");
  });
  const runtime = await world.runtime();
  await runtime.call(charge, { amount: 1 }, { runId: "r1" });
  expect(await runtime.call(charge, { amount: 2 }, { runId: "r2" })).toMatchObject({ status: "success" });
  expect(effects.map(({ amount }) => amount)).toEqual([1, 2]);
});

it("rule 5: other arguments under a taken key are a conflict that reports the known call", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge({ idempotencyKey: () => "the order" });
  const runtime = await world.runtime();
  await runtime.call(charge, { amount: 1 }, { runId: "r1" });
  const outcome = await runtime.call(charge, { amount: 2 }, { runId: "r2" });
  expect(outcome).toMatchObject({
    status: "error",
    error: {
      code: "TOOL_IDEMPOTENCY_CONFLICT",
      details: { earlier: { status: "success", argsHash: expect.stringMatching(/^[\w-]{43}$/) } },
    },
  });
  expect(JSON.stringify(outcome.status === "error" && outcome.error.details)).toContain("ch_1");
  expect(effects).toHaveLength(1);
});

it("rule 5: an interrupted holder is unknown to the next caller, in whatever run", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge({ ...byOrder, onUnknown: "fail" }, () => never());
  void (await world.runtime()).call(charge, { amount: 1 }, { runId: "r1" }).catch(() => undefined);
  await until(() => effects.length === 1);
  await world.killAll();
  const outcome = await (await world.runtime()).call(charge, { amount: 1 }, { runId: "r2" });
  expect(outcome).toMatchObject({ status: "error", error: { code: "TOOL_OUTCOME_UNKNOWN" } });
  expect(effects).toHaveLength(1);
});

it("rule 5: an interrupted holder that passes its key on is run again under the same key", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge(byOrder, (count) => (count === 1 ? never() : undefined));
  void (await world.runtime()).call(charge, { amount: 1 }, { runId: "r1" }).catch(() => undefined);
  await until(() => effects.length === 1);
  await world.killAll();
  expect(await (await world.runtime()).call(charge, { amount: 1 }, { runId: "r2" })).toMatchObject({
    output: { id: "ch_2" },
  });
  expect(effects[0]?.key).toBe(effects[1]?.key);
  // The first run resumes: its order is placed.
  const back = await (await world.runtime()).call(charge, { amount: 1 }, { runId: "r1" });
  expect(back).toMatchObject({ status: "success", output: { id: "ch_2" } });
  expect(effects).toHaveLength(2);
});

it("rule 5: waiting for another run's call is bounded by the timeout, and the exit is logged", async () => {
  const world = await createWorld();
  const answer = Promise.withResolvers<{ id: string }>();
  const { charge, effects } = createCharge({ ...byOrder, timeoutMs: 300 }, () => answer.promise);
  const patient = createCharge(byOrder, () => answer.promise);
  const runtime = await world.runtime();
  const holder = runtime.call(patient.charge, { amount: 1 }, { runId: "r1" });
  await until(() => patient.effects.length === 1);
  const outcome = await (await world.runtime()).call(charge, { amount: 1 }, { runId: "r2" });
  expect(outcome).toMatchObject({ status: "error", error: { code: "TOOL_TIMEOUT", effect: "none" } });
  expect(effects).toHaveLength(0);
  expect(await world.log("r2")).toMatchObject([{ status: "error", effect: "none", tries: 0 }]);
  answer.resolve({ id: "ch_1" });
  await holder;
});

it("rule 5: a call that would wait for its own ancestor fails immediately", async () => {
  const world = await createWorld();
  let depth = 0;
  const recursive = defineTool({
    name: "recursive",
    schema: z.object({ n: z.number() }),
    sideEffect: true,
    idempotent: false,
    idempotencyKey: () => "same",
    async execute({ n }, ctx): Promise<string> {
      depth += ctx.idempotencyKey === null ? 0 : 1;
      return recursive.execute({ n }).then(String, (error: { code: string }) => error.code);
    },
  });
  const outcome = await (await world.runtime()).call(recursive, { n: 1 }, { runId: "r1" });
  expect(outcome).toMatchObject({ status: "success", output: "TOOL_CALL_CYCLE" });
  expect(depth).toBe(1);
});

it("rule 5: a call that was cut off before execute leaves the key free for different arguments", async () => {
  const world = await createWorld();
  const stop = new AbortController();
  const { charge, effects } = createCharge({ idempotencyKey: () => "the order" });
  const runtime = await world.runtime({
    capabilities: () => {
      stop.abort();
      return never<Record<string, unknown>>();
    },
  });
  await runtime.call(charge, { amount: 1 }, { runId: "r1", signal: stop.signal });
  expect(effects).toHaveLength(0);
  const outcome = await (await world.runtime()).call(charge, { amount: 2 }, { runId: "r2" });
  expect(outcome).toMatchObject({ status: "success" });
});

it("rule 5: an approved rerun does not run if the interrupted call has run again meanwhile", async () => {
  const world = await createWorld();
  const rerun = async () => (await world.runtime()).call(charge, { amount: 7 }, { runId: "r1" });
  const { charge, effects } = createBlindCharge(
    {
      idempotencyKey: () => "order-17",
      settleMs: 0,
      // Evaluated after the business key, and before the call starts.
      needsApproval: async (_args, { runId }) => {
        if (runId === "r2") expect(await rerun()).toMatchObject({ status: "success", replayed: false });
        return false;
      },
      reconcile: () => ({ happened: false }),
    },
    (count) => (count === 1 ? never() : undefined),
  );
  void (await world.runtime()).call(charge, { amount: 7 }, { runId: "r1" }).catch(() => undefined);
  await until(() => effects.length === 1);
  await world.killAll();
  expect(await (await world.runtime()).call(charge, { amount: 7 }, { runId: "r2" })).toMatchObject({
    status: "success",
    output: { id: "ch_2" },
    replayed: true,
  });
  expect(effects).toHaveLength(2);
});
