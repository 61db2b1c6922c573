/** Rule 10: an outcome that could not be committed is remembered, and settled as soon as the store works again. */
import { defineTool, type Store, ToolwrightError } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { hostOf } from "../../src/runtime/create-runtime.ts";
import { createWorld, until, watchStore, type World, isFinish } from "./harness.ts";
import { createBlindCharge, createCharge } from "./tools.ts";

const task = { runId: "r1" };
const args = { amount: 7 };

/** A store whose disk is full while `isFull` holds. */
async function fillingStore(world: World, isFull: (sql: string) => boolean): Promise<Store> {
  return watchStore(await world.open(), {
    onStatement(sql) {
      if (isFull(sql)) throw new ToolwrightError("TOOL_STORE_FAILED", "disk full");
    },
  });
}

const isIntent = (sql: string): boolean => sql.includes("INSERT INTO toolwright_calls");

describe("a bare call on a full disk", () => {
  it.each([
    ["before it began is made when it is called again", isIntent, 3],
    ["when its outcome was to be written is found when it is called again", isFinish, 2],
  ])("%s, and the equal calls before it are not forgotten", async (_name, matches, effectsAfter) => {
    const world = await createWorld();
    let isFull = false;
    const store = await fillingStore(world, (sql) => isFull && matches(sql));
    const { charge: sms, effects } = createBlindCharge();
    const runtime = await world.runtime({ store });
    await runtime.call(sms, args, task);
    if (effectsAfter === 3) await runtime.call(sms, args, task);
    isFull = true;
    await expect(runtime.call(sms, args, task)).rejects.toMatchObject({ code: "TOOL_STORE_FAILED" });
    isFull = false;
    expect(await runtime.call(sms, args, task)).toMatchObject({ status: "success" });
    expect(effects).toHaveLength(effectsAfter);
    expect(await runtime.call(sms, args, task)).toMatchObject({ status: "success", replayed: false });
    expect(effects).toHaveLength(effectsAfter + 1);
    const rows = await world.log("r1");
    expect(rows.map(({ status }) => status)).toEqual(rows.map(() => "success"));
    expect(rows).toHaveLength(effectsAfter + 1);
  });
});

it("a call that could not begin is given up only once, and not when an equal call runs in its place", async () => {
  const world = await createWorld();
  let isFull = true;
  const store = await fillingStore(
    world,
    (sql) => isFull && /(INSERT INTO|UPDATE) toolwright_calls/.test(sql),
  );
  const runtime = await world.runtime({ store });
  const { failedWrites } = await hostOf(runtime);
  const sms = defineTool({
    name: "sms",
    schema: z.object({}),
    sideEffect: true,
    // Its own outcome could be stored as well: what failed before is written now.
    execute: async (_args, ctx) => {
      await failedWrites.settle();
      return { isDone: ctx.idempotencyKey !== "" };
    },
  });
  const call = () => runtime.run(task, () => sms.call({}));
  await expect(call()).rejects.toMatchObject({ code: "TOOL_STORE_FAILED" });
  isFull = false;
  expect(failedWrites.isEmpty).toBe(false);
  expect(await call()).toEqual({ isDone: true });
});

it("a program that is closed while the store fails for a moment is listed as finished afterwards", async () => {
  const world = await createWorld();
  let refusals = 0;
  // The end of the run, and what is retried right after it.
  const store = await fillingStore(
    world,
    (sql) => sql.includes("toolwright_runs SET updated_at_ms") && ++refusals < 4,
  );
  const runtime = await world.runtime({ store });
  const { charge } = createCharge();
  await runtime.run(task, () => charge.call(args));
  await runtime.close();
  expect(refusals).toBeGreaterThan(2);
  const reader = await world.runtime();
  expect(await reader.describeRun("r1")).toMatchObject({ status: "finished", interrupted: false });
});

describe("an outcome that could not be committed in a process that keeps running", () => {
  it("is stored when the store works again, and another process gets it", async () => {
    const world = await createWorld();
    let isFull = true;
    const store = await fillingStore(world, (sql) => isFull && isFinish(sql));
    const { charge, effects } = createBlindCharge();
    const runtime = await world.runtime({ store });
    await expect(runtime.call(charge, args, task)).rejects.toMatchObject({ code: "TOOL_STORE_FAILED" });
    isFull = false;
    const other = await world.runtime();
    expect(await other.call(charge, args, task)).toMatchObject({ status: "success", replayed: true });
    expect(effects).toHaveLength(1);
  });

  it("inside runtime.run lets another process take the task over", async () => {
    const world = await createWorld();
    let isFull = true;
    const store = await fillingStore(world, (sql) => isFull && sql.includes("UPDATE toolwright_"));
    const { charge, effects } = createBlindCharge();
    const runtime = await world.runtime({ store });
    const run = runtime.run(task, () => charge.call(args));
    // Even the scope cannot be acquired on such a disk.
    await expect(run).rejects.toMatchObject({ code: "TOOL_STORE_FAILED" });
    isFull = false;
    const second = runtime.run(task, async () => {
      isFull = true;
      return charge.call(args);
    });
    await expect(second).rejects.toMatchObject({ code: "TOOL_STORE_FAILED" });
    isFull = false;
    const other = await world.runtime();
    await until(() =>
      other
        .run(task, () => charge.call(args))
        .then(
          () => true,
          (error: unknown) => {
            if (ToolwrightError.is(error) && error.code === "TOOL_RUN_CONFLICT") return false;
            throw error;
          },
        ),
    );
    expect(effects).toHaveLength(1);
  });

  it("holds no reservation once it is settled", async () => {
    const world = await createWorld();
    let isFull = true;
    const store = await fillingStore(world, (sql) => isFull && isFinish(sql));
    const { charge } = createBlindCharge();
    const runtime = await world.runtime({ store, limits: { maxParallelTools: 1 } });
    await expect(runtime.call(charge, args, task)).rejects.toMatchObject({ code: "TOOL_STORE_FAILED" });
    isFull = false;
    const other = await world.runtime({ limits: { maxParallelTools: 1 } });
    expect(await other.call(charge, { amount: 8 }, task)).toMatchObject({ status: "success" });
    expect(await world.rows("SELECT * FROM toolwright_reservations")).toEqual([]);
  });
});

describe("a call inside a call that could not be recorded", () => {
  const createOuter = (charge: ReturnType<typeof createBlindCharge>["charge"]) =>
    defineTool({
      name: "outer",
      schema: z.object({}),
      sideEffect: true,
      idempotent: true,
      // It swallows the failure, and must not end as if nothing had happened.
      execute: () => charge.call(args).catch(() => "swallowed"),
    });

  it("settles for the tool, keeps the enclosing call from ending, and the next call of both finds the effect", async () => {
    const world = await createWorld();
    let isFull = false;
    const store = await fillingStore(world, (sql) => isFull && isFinish(sql));
    const { charge, effects } = createBlindCharge({}, () => {
      isFull = true;
    });
    const outer = createOuter(charge);
    const runtime = await world.runtime({ store });
    await expect(runtime.call(outer, {}, task)).rejects.toMatchObject({ code: "TOOL_STORE_FAILED" });
    isFull = false;
    expect(await runtime.call(outer, {}, task)).toMatchObject({ status: "success", output: { id: "ch_1" } });
    expect(effects).toHaveLength(1);
    await runtime[Symbol.asyncDispose]();
  });

  it("lets another process complete both calls", async () => {
    const world = await createWorld();
    let isFull = false;
    const store = await fillingStore(world, (sql) => isFull && isFinish(sql));
    const { charge, effects } = createCharge({ acceptsIdempotencyKey: true }, () => {
      isFull = true;
    });
    const outer = createOuter(charge);
    const runtime = await world.runtime({ store });
    await expect(runtime.run(task, () => outer.call({}))).rejects.toMatchObject({
      code: "TOOL_STORE_FAILED",
    });
    isFull = false;
    const other = await world.runtime();
    expect(await other.call(outer, {}, task)).toMatchObject({ status: "success" });
    expect(new Set(effects.map(({ key }) => key)).size).toBe(1);
    await runtime[Symbol.asyncDispose]();
  });
});
