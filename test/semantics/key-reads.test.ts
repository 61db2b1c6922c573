/** Rule 16: which tools count as passing their idempotency key on. Taking `ctx` alone proves nothing. */
import { defineTool, getToolContext, getToolIdempotencyKey, type ToolContext } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createWorld, never, until, type World } from "./harness.ts";

const task = { runId: "r1" };
const args = { amount: 7 };
type Body = (ctx: ToolContext<object>) => unknown;

/** Its source does not mention the key, so how it uses `ctx` is known only at run time. */
function createPay(body: Body, options: { readonly acceptsIdempotencyKey?: boolean } = {}) {
  let runs = 0;
  const pay = defineTool({
    name: "pay",
    schema: z.object({ amount: z.number() }),
    sideEffect: true,
    idempotent: false,
    ...options,
    execute: async (_args, ctx): Promise<unknown> => {
      runs += 1;
      return body(ctx);
    },
  });
  return { pay, runs: () => runs };
}

const readKey: Body = (ctx) => ctx.idempotencyKey;

/** Starts a call that never ends, in a process that dies when `isReached`. */
async function killIn(
  world: World,
  tool: object,
  isReached: () => boolean | Promise<boolean>,
): Promise<void> {
  void (await world.runtime()).call(tool, args, task).catch(() => undefined);
  await until(isReached);
  await world.killAll();
}

async function keyReads(world: World): Promise<unknown[]> {
  const rows = await world.rows("SELECT key_read FROM toolwright_calls ORDER BY seq");
  return rows.map((row) => row["key_read"]);
}

describe("a tool that was killed after its effect in its very first call", () => {
  it("rule 16: is not silently run again if it uses ctx only for its log", async () => {
    const world = await createWorld();
    const { pay, runs } = createPay((ctx) => {
      ctx.log.info("paying");
      return runs() === 1 ? never() : "paid";
    });
    await killIn(world, pay, () => runs() === 1);
    expect(await (await world.runtime()).call(pay, args, task)).toMatchObject({
      status: "pending",
      approval: { kind: "replay" },
    });
    expect(runs()).toBe(1);
  });

  it("rule 16: is not silently run again if only a comment names the key", async () => {
    const world = await createWorld();
    let runs = 0;
    const execute = (_args: unknown, ctx: ToolContext<object>): unknown => {
      /*! To do: pass ctx.idempotencyKey to the bank. */
      ctx.log.info("paying");
      runs += 1;
      return runs === 1 ? never() : "paid";
    };
    expect(String(execute)).toContain("idempotencyKey");
    const pay = defineTool({
      name: "pay",
      schema: z.object({ amount: z.number() }),
      sideEffect: true,
      idempotent: false,
      execute,
    });
    await killIn(world, pay, () => runs === 1);
    expect(await (await world.runtime()).call(pay, args, task)).toMatchObject({
      status: "pending",
      approval: { kind: "replay" },
    });
    expect(runs).toBe(1);
  });

  it("rule 16: runs again if that call is known to have read its key", async () => {
    const world = await createWorld();
    const { pay, runs } = createPay((ctx) => {
      readKey(ctx);
      return runs() === 1 ? never() : "paid";
    });
    // Stored while the call runs, before its outcome is known.
    await killIn(world, pay, async () => (await keyReads(world))[0] === 1);
    expect(await (await world.runtime()).call(pay, args, task)).toMatchObject({
      status: "success",
      note: expect.stringContaining("same idempotency key"),
    });
    expect(runs()).toBe(2);
  });

  it("rule 16: is not run again if only needsApproval read the key", async () => {
    const world = await createWorld();
    let runs = 0;
    const pay = defineTool({
      name: "pay",
      schema: z.object({ amount: z.number() }),
      sideEffect: true,
      idempotent: false,
      needsApproval: (_args, ctx) => ctx.idempotencyKey === "",
      execute: () => ((runs += 1), never<string>()),
    });
    await killIn(world, pay, () => runs === 1);
    expect(await (await world.runtime()).call(pay, args, task)).toMatchObject({ status: "pending" });
  });

  it.each<[string, (runs: { count: number }) => (args: unknown, ctx: ToolContext<object>) => unknown]>([
    [
      "reads ctx.idempotencyKey",
      (runs) => (_args, ctx) => ((runs.count += 1) === 1 ? never() : ctx.idempotencyKey),
    ],
    [
      "destructures it",
      (runs) =>
        (_args, { idempotencyKey }) =>
          (runs.count += 1) === 1 ? never() : idempotencyKey,
    ],
    [
      "asks the ambient context",
      (runs) => () => ((runs.count += 1) === 1 ? never() : getToolIdempotencyKey(getToolContext())),
    ],
  ])("rule 16: runs again if the source of execute mentions the key: %s", async (_name, make) => {
    const world = await createWorld();
    const runs = { count: 0 };
    const pay = defineTool({
      name: "pay",
      schema: z.object({ amount: z.number() }),
      sideEffect: true,
      idempotent: false,
      execute: make(runs),
    });
    await killIn(world, pay, () => runs.count === 1);
    expect(await (await world.runtime()).call(pay, args, task)).toMatchObject({ status: "success" });
    expect(runs.count).toBe(2);
  });
});

describe("what earlier calls have shown", () => {
  it("rule 16: a tool whose earlier call read the key passes it on", async () => {
    const world = await createWorld();
    const { pay, runs } = createPay((ctx) => (runs() === 2 ? never() : readKey(ctx)));
    await (await world.runtime()).call(pay, { amount: 1 }, task);
    await killIn(world, pay, () => runs() === 2);
    expect(await (await world.runtime()).call(pay, args, task)).toMatchObject({ status: "success" });
    expect(runs()).toBe(3);
  });

  it("rule 16: and still does after retention has deleted that call", async () => {
    const world = await createWorld();
    const { pay, runs } = createPay((ctx) => (runs() === 2 ? never() : readKey(ctx)));
    const runtime = await world.runtime();
    await runtime.run({ runId: "old" }, () => runtime.call(pay, { amount: 1 }));
    expect(await runtime.gc({ olderThanMs: 0 })).toMatchObject({ deletedRuns: 1 });
    await killIn(world, pay, () => runs() === 2);
    expect(await (await world.runtime()).call(pay, args, task)).toMatchObject({ status: "success" });
  });

  it("rule 16: a tool of which one call ended without reading it does not, though others read it", async () => {
    const world = await createWorld();
    const { pay, runs } = createPay((ctx) => {
      if (runs() === 3) return never();
      return runs() === 1 ? readKey(ctx) : "forgot";
    });
    const runtime = await world.runtime();
    await runtime.call(pay, { amount: 1 }, task);
    await runtime.call(pay, { amount: 2 }, task);
    await killIn(world, pay, () => runs() === 3);
    expect(await (await world.runtime()).call(pay, args, task)).toMatchObject({ status: "pending" });
    expect(runs()).toBe(3);
  });

  it("rule 16: acceptsIdempotencyKey: false means no, even if the key was read", async () => {
    const world = await createWorld();
    const { pay, runs } = createPay((ctx) => (readKey(ctx), runs() === 2 ? never() : "paid"), {
      acceptsIdempotencyKey: false,
    });
    await (await world.runtime()).call(pay, { amount: 1 }, task);
    await killIn(world, pay, () => runs() === 2);
    expect(await (await world.runtime()).call(pay, args, task)).toMatchObject({ status: "pending" });
  });

  it("rule 16: acceptsIdempotencyKey: true is trusted in the first call", async () => {
    const world = await createWorld();
    const { pay, runs } = createPay(() => (runs() === 1 ? never() : "paid"), { acceptsIdempotencyKey: true });
    await killIn(world, pay, () => runs() === 1);
    expect(await (await world.runtime()).call(pay, args, task)).toMatchObject({ status: "success" });
  });
});

it("rule 16: the log of a call that was cut off still says that it read its key", async () => {
  const world = await createWorld();
  const { pay, runs } = createPay((ctx) => (readKey(ctx), runs() === 1 ? never() : "paid"));
  const stop = new AbortController();
  const runtime = await world.runtime();
  const cut = runtime.run({ ...task, signal: stop.signal }, () => runtime.call(pay, args));
  await until(() => runs() === 1);
  stop.abort(new Error("enough"));
  expect(await cut).toMatchObject({ status: "error", error: { code: "TOOL_ABORTED" } });
  expect(await keyReads(world)).toEqual([1]);
});
