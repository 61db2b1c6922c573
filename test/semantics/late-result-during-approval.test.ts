/** Rule 14: a try that was cut off and still runs may succeed while its call waits for approval. */
import { createRuntime, defineTool, type Runtime, type ToolPolicies } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import type { Store } from "../../src/store/store.ts";
import { boundStore, createClock, createWorld, settle, until, type World } from "./harness.ts";
import { createBlindCharge, createCharge } from "./tools.ts";

const task = { runId: "r1" };
const args = { amount: 7 };

/** Cuts the call off during its effect. @param call makes the call */
async function cutOff(effects: readonly unknown[], call: (signal: AbortSignal) => Promise<unknown>) {
  const abort = new AbortController();
  const cut = call(abort.signal);
  await until(() => effects.length === 1);
  abort.abort();
  await cut;
}

async function untilLate(world: World): Promise<void> {
  await until(async () => (await world.log("r1")).some((row) => row["effect"] === "happened"));
}

async function setUp() {
  const world = await createWorld();
  const answer = Promise.withResolvers<{ id: string }>();
  const { charge, effects } = createBlindCharge({}, () => answer.promise);
  const runtime: Runtime = await world.runtime();
  return { world, answer, charge, effects, runtime };
}

const late = { status: "success", output: { id: "ch_late" } };

it.each([2, 3])("rule 14: its success settles the pending call of attempt %i", async (attempt) => {
  const { world, answer, charge, effects, runtime } = await setUp();
  await cutOff(effects, (signal) => runtime.call(charge, args, { ...task, signal }));
  expect(await runtime.call(charge, args, { ...task, attempt: 2 })).toMatchObject({ status: "pending" });
  answer.resolve({ id: "ch_late" });
  await untilLate(world);
  expect(await runtime.approvals({ status: "pending" })).toEqual([]);
  expect(await runtime.call(charge, args, { ...task, attempt })).toMatchObject(late);
  expect(effects).toHaveLength(1);
});

it("rule 14: its success counts in a later attempt although the approver chose run-again", async () => {
  const { answer, charge, effects, runtime } = await setUp();
  await cutOff(effects, (signal) => runtime.call(charge, args, { ...task, signal }));
  const pending = await runtime.call(charge, args, { ...task, attempt: 2 });
  if (pending.status !== "pending") throw new Error(pending.status);
  await runtime.resolveToolApproval(pending.approval.id, { resolution: "run-again" });
  const again = runtime.call(charge, args, { ...task, attempt: 2 });
  answer.resolve({ id: "ch_late" });
  expect(await again).toMatchObject(late);
  expect(effects).toHaveLength(1);
});

/** Lets the interrupted try succeed right before the given access to the store, counted from `arm`. */
function succeedBefore(store: Store, access: number, succeed: () => Promise<void>) {
  let count = Number.NaN;
  const step = async (): Promise<void> => {
    count += 1;
    if (count === access) await succeed();
  };
  const slow: Store = {
    dialect: store.dialect,
    secret: store.secret,
    read: async (work) => (await step(), store.read(work)),
    transaction: async (work, level) => (await step(), store.transaction(work, level)),
    close: () => store.close(),
  };
  return {
    slow,
    arm: () => (count = 0),
    disarm: () => (count = Number.NaN),
    accesses: () => count,
  };
}

it.each(["without a decision", "after the decision run-again"])(
  "rule 14: its success counts in a later attempt %s, whichever step of the call it falls before",
  async (name) => {
    for (let access = 1, isLast = false; !isLast; access += 1) {
      const world = await createWorld();
      const answer = Promise.withResolvers<{ id: string }>();
      const { charge, effects } = createBlindCharge({}, () => answer.promise);
      let isRequested = false;
      const steps = succeedBefore(await world.open(), access, async () => {
        isRequested = (await world.log("r1")).some((row) => row["status"] === "pending");
        answer.resolve({ id: "ch_late" });
        await untilLate(world);
      });
      await using runtime = createRuntime({ store: steps.slow });
      await cutOff(effects, (signal) => runtime.call(charge, args, { ...task, signal }));
      if (name !== "without a decision") {
        const pending = await runtime.call(charge, args, { ...task, attempt: 2 });
        if (pending.status !== "pending") throw new Error(pending.status);
        await runtime.resolveToolApproval(pending.approval.id, { resolution: "run-again" });
      }
      steps.arm();
      let status: string | undefined;
      const calling = runtime.call(charge, args, { ...task, attempt: 2 });
      const ended = calling.then((outcome) => (status = outcome.status));
      for (let before = -1; before !== steps.accesses() && steps.accesses() < access; await settle()) {
        before = steps.accesses();
      }
      // The call has returned, or waits for the try, before it came to this access.
      isLast = steps.accesses() < access;
      if (isLast) {
        steps.disarm();
        answer.resolve({ id: "ch_late" });
        await untilLate(world);
      }
      await ended;
      // After the request was stored, the call returns it. The success has closed it by then.
      const mayWait = isLast || isRequested;
      if (!mayWait || status !== "pending")
        expect(await calling, `before access ${access}`).toMatchObject(late);
      expect(await runtime.approvals({ status: "pending" }), `before access ${access}`).toEqual([]);
      expect(effects).toHaveLength(1);
    }
  },
);

it("rule 14: its success lets the enclosing call continue without a decision", async () => {
  const { world, answer, charge, effects, runtime } = await setUp();
  const outer = defineTool({
    name: "outer",
    schema: z.object({}),
    sideEffect: true,
    idempotent: true,
    execute: () => charge.execute(args),
  });
  await cutOff(effects, (signal) => runtime.call(outer, {}, { ...task, signal }));
  expect(await runtime.call(outer, {}, task)).toMatchObject({ status: "pending" });
  answer.resolve({ id: "ch_late" });
  await untilLate(world);
  expect(await runtime.call(outer, {}, task)).toMatchObject(late);
  expect(effects).toHaveLength(1);
});

it("rule 14: a tool that passes its key on does not run alongside it either", async () => {
  const world = await createWorld();
  const answer = Promise.withResolvers<{ id: string }>();
  const { charge, effects } = createCharge({}, () => answer.promise);
  const runtime = await world.runtime();
  await cutOff(effects, (signal) => runtime.call(charge, args, { ...task, signal }));
  const again = runtime.call(charge, args, task);
  // Enough time for the call to run, if it did.
  for (let turns = 0; turns < 20; turns += 1) await settle();
  expect(effects).toHaveLength(1);
  answer.resolve({ id: "ch_late" });
  expect(await again).toMatchObject(late);
  expect(effects).toHaveLength(1);
});

it("rule 14: the call does not run alongside it, although the approver chose run-again", async () => {
  const world = await createWorld();
  const answer = Promise.withResolvers<{ id: string }>();
  const { charge, effects } = createBlindCharge({ timeoutMs: 30 }, () => answer.promise);
  const runtime = await world.runtime();
  await cutOff(effects, (signal) => runtime.call(charge, args, { ...task, signal }));
  const pending = await runtime.call(charge, args, { ...task, attempt: 2 });
  if (pending.status !== "pending") throw new Error(pending.status);
  await runtime.resolveToolApproval(pending.approval.id, { resolution: "run-again" });
  const again = () => runtime.call(charge, args, { ...task, attempt: 2 });
  expect(await again()).toMatchObject({ error: { code: "TOOL_TIMEOUT" } });
  answer.resolve({ id: "ch_late" });
  await untilLate(world);
  expect(await again()).toMatchObject(late);
  expect(effects).toHaveLength(1);
});

/** An outer call that is retried after its inner call has timed out. The inner call succeeds late. */
async function setUpRetried(policies: ToolPolicies<object, string, object>) {
  const world = await createWorld();
  const clock = createClock();
  const answer = Promise.withResolvers<string>();
  let runs = 0;
  const inner = defineTool({
    name: "inner",
    schema: z.object({}),
    timeoutMs: 100,
    ...policies,
    execute: () => {
      runs += 1;
      return answer.promise;
    },
  });
  const outer = defineTool({
    name: "outer",
    schema: z.object({}),
    sideEffect: true,
    idempotent: true,
    retry: { maxRetries: 1, backoffMs: 1_000 },
    execute: () => inner.execute({}),
  });
  const runtime = await world.runtime({ clock, store: boundStore(await world.open()) });
  const timeOut = async (ms: number): Promise<void> => {
    await settle();
    await clock.advance(ms);
    await settle();
  };
  return { world, answer, runtime, outer, timeOut, runs: () => runs };
}

it.each([{ sideEffect: false }, { sideEffect: true, idempotent: true }])(
  "rule 14: its success is the result of an inner call whose outer call is retried (%o)",
  async (policies) => {
    const { world, answer, runtime, outer, timeOut, runs } = await setUpRetried(policies);
    const call = runtime.call(outer, {}, task);
    await until(() => runs() === 1);
    await timeOut(100);
    answer.resolve("late");
    if (policies.sideEffect) await untilLate(world);
    await timeOut(2_000);
    expect(await call).toMatchObject({ status: "success", output: "late" });
    if (policies.sideEffect) expect(runs()).toBe(1);
  },
);

it("rule 14: its success is the result of an approved call, which needs no second approval", async () => {
  const { world, answer, runtime, outer, timeOut, runs } = await setUpRetried({ needsApproval: true });
  expect(await runtime.call(outer, {}, task)).toMatchObject({ status: "pending" });
  const [request] = await runtime.approvals({ status: "pending" });
  await runtime.resolveToolApproval(request?.id ?? "", { approved: true });
  const call = runtime.call(outer, {}, task);
  await until(() => runs() === 1);
  await timeOut(100);
  await timeOut(2_000);
  expect(await call).toMatchObject({ status: "error" });
  expect(await runtime.approvals({ status: "pending" })).toEqual([]);
  answer.resolve("late");
  await untilLate(world);
  const again = await runtime.call(outer, {}, { ...task, attempt: 2 });
  expect(again).toMatchObject({ status: "success", output: "late" });
});
