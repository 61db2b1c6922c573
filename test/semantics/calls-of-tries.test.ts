/** A call belongs to the try that makes it, and a try that has ended can make none. */
import { defineTool, type Tool } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { createClock, createWorld, never, settle, until } from "./harness.ts";
import { createBlindCharge, createCharge, harmless } from "./tools.ts";

const task = { runId: "r1" };
const args = { amount: 7 };

/** A pure tool that ignores its signal. */
function createOuter(run: (tries: number) => Promise<unknown>, policies: object = {}) {
  let tries = 0;
  return defineTool({
    name: "outer",
    schema: z.object({}),
    sideEffect: true,
    idempotent: true,
    ...policies,
    execute: () => run((tries += 1)),
  });
}

function charging(charge: Tool<{ amount: number }, { id: string }>) {
  return charge.call(args);
}

it("rule 15: a timed-out try that ignores its signal cannot call tools alongside its successor", async () => {
  const world = await createWorld();
  const clock = createClock();
  const { charge, effects } = createCharge();
  const slow = Promise.withResolvers<void>();
  const leftover: unknown[] = [];
  const outer = createOuter(
    async (tries) => {
      if (tries > 1) return charging(charge);
      await slow.promise;
      const late = charging(charge);
      leftover.push(await late.catch((error: unknown) => error));
      return late;
    },
    { timeoutMs: 100, retry: { maxRetries: 1, backoffMs: 0 } },
  );
  const runtime = await world.runtime({ clock });
  const call = runtime.call(outer, {}, task);
  await until(() => clock.sleeps.length > 0);
  await clock.advance(100);
  expect(await call).toMatchObject({ status: "success" });
  slow.resolve();
  await until(() => leftover.length > 0);
  expect(leftover).toMatchObject([{ code: "TOOL_ATTEMPT_STALE" }]);
  expect(effects).toHaveLength(1);
});

it("rule 15: after a timeout without retry the abandoned try has no inner effect, even after the run has ended", async () => {
  const world = await createWorld();
  const clock = createClock();
  const { charge, effects } = createCharge();
  const slow = Promise.withResolvers<void>();
  const leftover: unknown[] = [];
  const outer = createOuter(
    async () => {
      await slow.promise;
      await charging(charge).catch((error: unknown) => leftover.push(error));
    },
    { timeoutMs: 100 },
  );
  const runtime = await world.runtime({ clock });
  const run = runtime.run(task, () => outer.call({}));
  run.catch(() => undefined);
  await until(() => clock.sleeps.length > 0);
  await clock.advance(100);
  await expect(run).rejects.toMatchObject({ code: "TOOL_TIMEOUT" });
  slow.resolve();
  await until(() => leftover.length > 0);
  expect(effects).toEqual([]);
});

it.each([
  ["another run", { runId: "r2" }],
  ["another task", { runId: "r1", nodeId: "other" }],
  ["its own run", {}],
])("rule 15: a timed-out try cannot call tools in %s either", async (_where, options) => {
  const world = await createWorld();
  const clock = createClock();
  const { charge, effects } = createCharge();
  const slow = Promise.withResolvers<void>();
  const leftover: unknown[] = [];
  const runtime = await world.runtime({ clock });
  const outer = createOuter(
    async () => {
      await slow.promise;
      leftover.push(await runtime.call(charge, args, { nodeId: "elsewhere", ...options }));
      const inRun = runtime.run({ runId: "r3" }, () => charging(charge));
      leftover.push(await inRun.catch((error: unknown) => ({ error })));
    },
    { timeoutMs: 100 },
  );
  const call = runtime.call(outer, {}, task);
  await until(() => clock.sleeps.length > 0);
  await clock.advance(100);
  expect(await call).toMatchObject({ status: "error", error: { code: "TOOL_TIMEOUT" } });
  slow.resolve();
  await until(() => leftover.length === 2);
  expect(leftover).toMatchObject([
    { error: { code: "TOOL_ATTEMPT_STALE" } },
    { error: { code: "TOOL_ATTEMPT_STALE" } },
  ]);
  expect(effects).toEqual([]);
});

it("rule 15: the timeout of a try reaches the calls that it makes in another run", async () => {
  const world = await createWorld();
  const clock = createClock();
  const signals: AbortSignal[] = [];
  const { charge } = createCharge({}, (_count, signal) => {
    signals.push(signal);
    return never();
  });
  const runtime = await world.runtime({ clock });
  const outer = createOuter(() => runtime.call(charge, args, { runId: "r2" }), { timeoutMs: 100 });
  const call = runtime.call(outer, {}, task);
  await until(() => signals.length === 1);
  await clock.advance(100);
  expect(await call).toMatchObject({ status: "error", error: { code: "TOOL_TIMEOUT" } });
  expect(signals[0]?.aborted).toBe(true);
  await until(async () => (await world.log("r2"))[0]?.["status"] === "unknown");
});

it("rule 15: work that a tool starts in another run continues after the tool has returned", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge();
  const runtime = await world.runtime();
  const returned = Promise.withResolvers<void>();
  const background: Promise<unknown>[] = [];
  const outer = createOuter(async () => {
    background.push(returned.promise.then(() => runtime.call(charge, args, { runId: "r2" })));
  });
  expect(await runtime.call(outer, {}, task)).toMatchObject({ status: "success" });
  returned.resolve();
  expect(await background[0]).toMatchObject({ status: "success" });
  expect(effects).toHaveLength(1);
});

it("rule 15: a call that a tool did not await cannot start after the tool has returned", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge();
  const later: Promise<unknown>[] = [];
  const outer = createOuter(async () => {
    const afterwards = settle().then(() => charging(charge));
    later.push(afterwards.catch((error: unknown) => error));
  });
  const runtime = await world.runtime();
  expect(await runtime.call(outer, {}, task)).toMatchObject({ status: "success" });
  expect(await Promise.all(later)).toMatchObject([{ code: "TOOL_ATTEMPT_STALE" }]);
  expect(effects).toEqual([]);
});

it("rule 14: the timeout of the enclosing call reaches the signal of the inner one", async () => {
  const world = await createWorld();
  const clock = createClock();
  let stopped = false;
  const { charge, effects } = createCharge({}, (_count, signal) => {
    const over = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => {
      stopped = true;
      over.reject(signal.reason);
    });
    return over.promise;
  });
  const outer = createOuter(() => charging(charge), { timeoutMs: 100 });
  const runtime = await world.runtime({ clock });
  const call = runtime.call(outer, {}, task);
  await until(() => effects.length === 1);
  await clock.advance(100);
  expect(await call).toMatchObject({ error: { code: "TOOL_TIMEOUT" } });
  await until(() => stopped);
  await until(async () => (await world.log("r1")).some((row) => row["status"] === "unknown"));
});

it("rule 16: the next try does not silently repeat an inner effect that a timed-out try left in doubt", async () => {
  const world = await createWorld();
  const clock = createClock();
  const { charge, effects } = createBlindCharge({}, (count) =>
    count === 1 ? new Promise(() => undefined) : undefined,
  );
  const outer = createOuter(() => charging(charge), {
    timeoutMs: 100,
    retry: { maxRetries: 1, backoffMs: 0 },
  });
  const runtime = await world.runtime({ clock });
  const call = runtime.call(outer, {}, task);
  await until(() => effects.length === 1);
  await clock.advance(100);
  expect(await call).toMatchObject({ status: "pending", approval: { toolName: "blind_charge" } });
  expect(effects).toHaveLength(1);
});

it("rule 13: the third try does not get the inner error of the first", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge({}, (count) => {
    if (count === 1) throw harmless("the shop is closed");
  });
  const outer = createOuter(
    async (tries) => {
      if (tries === 2) throw harmless("not in this try");
      return charging(charge);
    },
    { retry: { maxRetries: 2, backoffMs: 0 } },
  );
  const runtime = await world.runtime();
  expect(await runtime.call(outer, {}, task)).toMatchObject({ status: "success", output: { id: "ch_2" } });
  expect(new Set(effects.map(({ key }) => key)).size).toBe(1);
});

it("rule 6: tries includes interrupted tries", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge({}, (count) =>
    count === 1 ? new Promise(() => undefined) : undefined,
  );
  void (await world.runtime()).call(charge, args, task).catch(() => undefined);
  await until(() => effects.length === 1);
  await world.killAll();
  await (await world.runtime()).call(charge, args, task);
  expect(await world.log("r1")).toMatchObject([{ status: "success", tries: 2 }]);
});

it("rule 6: tries includes a try that the approver or reconcile settled as happened", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge(
    { settleMs: 0, reconcile: () => ({ happened: true, output: { id: "ch_1" } }) },
    () => new Promise(() => undefined),
  );
  void (await world.runtime()).call(charge, args, task).catch(() => undefined);
  await until(() => effects.length === 1);
  await world.killAll();
  await (await world.runtime()).call(charge, args, task);
  expect(await world.log("r1")).toMatchObject([{ status: "success", tries: 1 }]);
});

it.each([
  ["a getter that throws", () => Object.defineProperty({}, "id", { enumerable: true, get: () => boom() })],
  ["a toJSON that throws", () => ({ toJSON: () => boom() })],
  ["a revoked proxy", () => revokedProxy()],
])("rule 13: an output that cannot be read (%s) is an error whose effect happened", async (_name, make) => {
  const world = await createWorld();
  let effects = 0;
  const tool = defineTool({
    name: "odd",
    schema: z.object({}),
    sideEffect: true,
    idempotent: false,
    acceptsIdempotencyKey: true,
    execute: () => {
      effects += 1;
      return make();
    },
  });
  const runtime = await world.runtime();
  const expected = { status: "error", error: { code: "TOOL_OUTPUT_INVALID" } };
  expect(await runtime.call(tool, {}, task)).toMatchObject(expected);
  expect(await world.log("r1")).toMatchObject([{ status: "error", effect: "happened" }]);
  expect(await (await world.runtime()).call(tool, {}, task)).toMatchObject(expected);
  expect(effects).toBe(1);
});

it("rule 8: arguments that cannot be read are refused and logged", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge();
  const odd = Object.defineProperty({}, "amount", { enumerable: true, get: () => boom() });
  const runtime = await world.runtime();
  expect(await runtime.call(charge, odd as never, task)).toMatchObject({
    error: { code: "TOOL_INPUT_INVALID" },
  });
  expect(await world.log("r1")).toMatchObject([{ status: "error", effect: "none" }]);
  expect(effects).toEqual([]);
});

function boom(): never {
  throw new Error("cannot be read");
}

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
