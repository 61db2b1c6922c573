/** Rule 14: calls that their run or task cut off. */
import { defineTool } from "toolwright";
import { expect, it } from "vitest";
import { z } from "zod";
import { createClock, createWorld, never, settle, until, watchStore } from "./harness.ts";
import { createBlindCharge, createCharge, harmless } from "./tools.ts";

const task = { runId: "r1" };
const args = { amount: 7 };

it("rule 14: an abort before the call begins leaves no row, and the call runs on resume", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge();
  const outcome = await (await world.runtime()).call(charge, args, { ...task, signal: AbortSignal.abort() });
  expect(outcome).toMatchObject({ status: "error", error: { code: "TOOL_ABORTED" } });
  expect(await world.log("r1")).toEqual([]);
  expect(await (await world.runtime()).call(charge, args, task)).toMatchObject({ output: { id: "ch_1" } });
  expect(effects).toHaveLength(1);
});

it("rule 14: an abort while execute runs makes it unknown, reaches ctx.signal, and is never replayed", async () => {
  const world = await createWorld();
  const stop = new AbortController();
  const seen: unknown[] = [];
  const { charge, effects } = createCharge({ onUnknown: "fail" }, (_count, signal) => {
    signal.addEventListener("abort", () => seen.push("aborted"));
    return never();
  });
  const call = (await world.runtime()).call(charge, args, { ...task, signal: stop.signal });
  await until(() => effects.length === 1);
  stop.abort(new Error("the user left"));
  expect(await call).toMatchObject({
    status: "error",
    replayed: false,
    error: { code: "TOOL_ABORTED", message: expect.stringContaining("the user left") },
  });
  expect(seen).toEqual(["aborted"]);
  expect(await world.log("r1")).toMatchObject([{ status: "unknown", effect: null }]);
  expect(await (await world.runtime()).call(charge, args, task)).toMatchObject({
    status: "error",
    replayed: false,
    error: { code: "TOOL_OUTCOME_UNKNOWN" },
  });
});

it("rule 14: a tool that stops on abort has still started, and does not silently run again", async () => {
  const world = await createWorld();
  const stop = new AbortController();
  const { charge, effects } = createCharge(
    { onUnknown: "fail" },
    (_count, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("stopped")))),
  );
  const call = (await world.runtime()).call(charge, args, { ...task, signal: stop.signal });
  await until(() => effects.length === 1);
  stop.abort();
  expect(await call).toMatchObject({ status: "error", error: { code: "TOOL_ABORTED" } });
  expect(await world.log("r1")).toMatchObject([{ status: "unknown", effect: null }]);
  const resumed = await (await world.runtime()).call(charge, args, task);
  expect(resumed).toMatchObject({ status: "error", error: { code: "TOOL_OUTCOME_UNKNOWN" } });
  expect(effects).toHaveLength(1);
});

it("rule 14: a pure call that was cut off runs again on resume", async () => {
  const world = await createWorld();
  const stop = new AbortController();
  let runs = 0;
  const read = defineTool({
    name: "read_it",
    schema: z.object({}),
    execute: () => ((runs += 1) === 1 ? never<number>() : runs),
  });
  const call = (await world.runtime()).call(read, {}, { ...task, signal: stop.signal });
  await until(() => runs === 1);
  stop.abort();
  await call;
  expect(await (await world.runtime()).call(read, {}, task)).toMatchObject({ status: "success", output: 2 });
});

it("rule 14: an abort of runtime.run's signal reaches the calls inside", async () => {
  const world = await createWorld();
  const stop = new AbortController();
  const { charge, effects } = createCharge({}, () => never());
  const run = (await world.runtime()).run({ ...task, signal: stop.signal }, () => charge.execute(args));
  await until(() => effects.length === 1);
  stop.abort();
  await expect(run).rejects.toMatchObject({ code: "TOOL_ABORTED" });
  expect(await world.log("r1")).toMatchObject([{ status: "unknown" }]);
});

it("rule 14: an abort during the wait before a retry ends the wait immediately, and stores no outcome", async () => {
  const world = await createWorld();
  const clock = createClock();
  const stop = new AbortController();
  const { charge, effects } = createCharge({ retry: { maxRetries: 3, backoffMs: 60_000 } }, (count) => {
    if (count === 1) throw harmless("busy");
  });
  const call = (await world.runtime({ clock })).call(charge, args, { ...task, signal: stop.signal });
  await until(() => clock.sleeps.length === 1);
  stop.abort();
  expect(await call).toMatchObject({ status: "error" });
  expect(effects).toHaveLength(1);
  expect(await world.log("r1")).toMatchObject([{ status: "unknown" }]);
  // The only try reported that nothing happened, so the resumed call runs.
  expect(await (await world.runtime({ clock })).call(charge, args, task)).toMatchObject({
    status: "success",
    output: { id: "ch_2" },
  });
});

it("rule 14: a late success of a call that was cut off is its outcome on resume", async () => {
  const world = await createWorld();
  const stop = new AbortController();
  const answer = Promise.withResolvers<{ id: string }>();
  const { charge, effects } = createCharge({}, () => answer.promise);
  const call = (await world.runtime()).call(charge, args, { ...task, signal: stop.signal });
  await until(() => effects.length === 1);
  stop.abort();
  await call;
  answer.resolve({ id: "ch_late" });
  await until(async () => (await world.log("r1"))[0]?.["effect"] === "happened");
  const resumed = await (await world.runtime()).call(charge, args, task);
  expect(resumed).toMatchObject({ status: "success", output: { id: "ch_late" }, replayed: true });
  expect(effects).toHaveLength(1);
});

it("rule 14: the run's time budget that ends a call makes it unknown for the next attempt", async () => {
  const world = await createWorld();
  const clock = createClock();
  const { charge, effects } = createCharge({ onUnknown: "fail" }, () => never());
  const runtime = await world.runtime({ clock, limits: { maxWallClockMs: 1_000 } });
  const call = runtime.call(charge, args, task);
  await until(() => effects.length === 1);
  await settle();
  await clock.advance(1_000);
  expect(await call).toMatchObject({ status: "error", error: { code: "TOOL_LIMIT_EXCEEDED" } });
  const next = await (await world.runtime({ clock })).call(charge, args, { ...task, attempt: 2 });
  expect(next).toMatchObject({ status: "error", error: { code: "TOOL_OUTCOME_UNKNOWN" } });
});

it("rule 14: a call that is cut off while its capabilities are created never enters the tool", async () => {
  const world = await createWorld();
  const stop = new AbortController();
  const made = Promise.withResolvers<Record<string, unknown>>();
  const { charge, effects } = createBlindCharge();
  let isAsked = false;
  const runtime = await world.runtime({
    capabilities: () => {
      isAsked = true;
      return made.promise;
    },
  });
  const call = runtime.call(charge, args, { ...task, signal: stop.signal });
  await until(() => isAsked);
  stop.abort();
  expect(await call).toMatchObject({ status: "error", error: { code: "TOOL_ABORTED" } });
  expect(await world.log("r1")).toMatchObject([{ status: "unknown", effect: "none" }]);
  made.resolve({});
  await until(
    async () => (await world.rows("SELECT executing FROM toolwright_calls"))[0]?.["executing"] === 0,
  );
  expect(effects).toEqual([]);
  expect(await (await world.runtime()).call(charge, args, task)).toMatchObject({ status: "success" });
  expect(effects).toHaveLength(1);
});

it("rule 14: a call that is cut off while a retry checks its owner never enters the tool again", async () => {
  const world = await createWorld();
  const stop = new AbortController();
  const { charge, effects } = createBlindCharge({ retry: { maxRetries: 1, backoffMs: 0 } }, (count) => {
    if (count === 1) throw harmless("closed");
  });
  const checked = Promise.withResolvers<void>();
  const store = await world.open();
  const watched = watchStore(store, {});
  const slow: typeof store = {
    ...watched,
    async read(work) {
      const rows = await store.read(work);
      if (effects.length !== 1) return rows;
      stop.abort();
      await checked.promise;
      return rows;
    },
  };
  const runtime = await world.runtime({ store: slow });
  const outcome = await runtime.call(charge, args, { ...task, signal: stop.signal });
  expect(outcome).toMatchObject({ status: "error", error: { code: "TOOL_ABORTED" } });
  expect(await world.log("r1")).toMatchObject([{ status: "unknown", effect: "none" }]);
  checked.resolve();
  await until(
    async () => (await world.rows("SELECT executing FROM toolwright_calls"))[0]?.["executing"] === 0,
  );
  expect(effects).toHaveLength(1);
  expect(await (await world.runtime()).call(charge, args, task)).toMatchObject({ status: "success" });
  expect(effects).toHaveLength(2);
});
