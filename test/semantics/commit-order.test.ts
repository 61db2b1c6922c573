/** Rules 8 to 11: what is committed when, how durably, and what happens if the commit fails. */
import { generateText } from "ai";
import { defineTool, ToolwrightError } from "toolwright";
import { recordModel } from "toolwright/ai-sdk";
import { createScriptedModel } from "toolwright/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createWorld, isFinish, isIntent, watchStore } from "./harness.ts";
import { createCharge } from "./tools.ts";

const task = { runId: "r1" };

describe("the transaction that begins a call", () => {
  it("rule 8: holds intent, redemption, reservation, claim and owner, and nothing ran before it", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({
      needsApproval: true,
      maxExecutionsPerRun: 3,
      idempotencyKey: ({ amount }) => `order-${amount}`,
    });
    const runtime = await world.runtime();
    const pending = await runtime.call(charge, { amount: 1 }, task);
    if (pending.status !== "pending") throw new Error(pending.status);
    await runtime.resolveToolApproval(pending.approval.id, { approved: true });
    const commits: { statements: readonly string[]; effects: number }[] = [];
    const store = watchStore(await world.open(), {
      onCommit: (statements) => commits.push({ statements, effects: effects.length }),
    });
    await (await world.runtime({ store })).call(charge, { amount: 1 }, task);
    const begins = commits.filter(({ statements }) => statements.some(isIntent));
    expect(begins).toHaveLength(1);
    const text = begins[0]?.statements.join("\n") ?? "";
    for (const table of ["redeemed_at_ms", "toolwright_usage", "toolwright_claims", "toolwright_scopes"]) {
      expect(text).toContain(table);
    }
    expect(begins[0]?.effects).toBe(0);
    expect(effects).toHaveLength(1);
  });

  it("rule 8: if it fails, nothing ran and nothing is spent", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge({ maxExecutionsPerRun: 1, idempotencyKey: () => "order" });
    let fail = true;
    const store = watchStore(await world.open(), {
      onStatement(sql) {
        if (fail && isIntent(sql)) throw new ToolwrightError("TOOL_STORE_FAILED", "disk full");
      },
    });
    const runtime = await world.runtime({ store });
    await expect(runtime.call(charge, { amount: 1 }, task)).rejects.toMatchObject({
      code: "TOOL_STORE_FAILED",
    });
    expect(effects).toHaveLength(0);
    expect(await world.rows("SELECT * FROM toolwright_claims")).toEqual([]);
    expect(await world.rows("SELECT * FROM toolwright_usage WHERE used > 0")).toEqual([]);
    fail = false;
    expect(await (await world.runtime()).call(charge, { amount: 1 }, task)).toMatchObject({
      status: "success",
    });
  });
});

describe("how durable a commit is", () => {
  const kinds = {
    pure: {},
    idempotent: { sideEffect: true, idempotent: true },
    charge: { sideEffect: true, idempotent: false },
  };
  it.each([
    ["default", { pure: "normal", idempotent: "normal", charge: "full" }, "normal"],
    ["process", { pure: "normal", idempotent: "normal", charge: "normal" }, "normal"],
    ["power", { pure: "full", idempotent: "full", charge: "full" }, "full"],
  ] as const)("rule 9: durability %s", async (durability, intents, outcome) => {
    const world = await createWorld();
    const seen: Record<string, string> = {};
    const ends: Record<string, string> = {};
    for (const [name, flags] of Object.entries(kinds)) {
      const store = watchStore(await world.open(), {
        onCommit(statements, level) {
          if (statements.some(isIntent)) seen[name] = level;
          // A pure call may commit both at once.
          if (statements.some((sql) => isFinish(sql) || isIntent(sql))) ends[name] = level;
        },
      });
      const tool = defineTool({
        name,
        schema: z.object({}),
        ...flags,
        execute: (_args, ctx) => ctx.idempotencyKey,
      });
      await (await world.runtime({ store, durability })).call(tool, {}, task);
    }
    expect(seen).toEqual(intents);
    expect(ends).toEqual({ pure: outcome, idempotent: outcome, charge: outcome });
  });

  it("rule 9: with durability power, every commit survives a power loss: requests, responses, ends of runs", async () => {
    const world = await createWorld();
    const levels: string[] = [];
    const store = watchStore(await world.open(), {
      onCommit(statements, level) {
        // No owner is alive after a power loss.
        if (!statements.every((sql) => sql.includes("toolwright_owners"))) levels.push(level);
      },
    });
    const runtime = await world.runtime({ store, durability: "power" });
    const { charge } = createCharge({ needsApproval: true });
    const model = recordModel(createScriptedModel(["Hello"]));
    await runtime.run(task, async () => {
      await generateText({ model, prompt: "Hi" });
      await runtime.call(charge, { amount: 1 });
    });
    await runtime.close();
    expect(levels.length).toBeGreaterThan(3);
    expect(new Set(levels)).toEqual(new Set(["full"]));
  });
});

describe("an outcome that cannot be committed", () => {
  const failing = async (world: Awaited<ReturnType<typeof createWorld>>, error: Error) =>
    watchStore(await world.open(), {
      onStatement(sql) {
        if (isFinish(sql)) throw error;
      },
    });

  it("rule 10: is never reported: the bare call rejects, and a resume decides again", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge();
    const store = await failing(world, new ToolwrightError("TOOL_STORE_FAILED", "disk full"));
    const runtime = await world.runtime({ store });
    await expect(runtime.call(charge, { amount: 1 }, task)).rejects.toMatchObject({
      code: "TOOL_STORE_FAILED",
    });
    expect(await world.log("r1")).toMatchObject([{ status: "started" }]);
    await world.killAll();
    await (await world.runtime()).call(charge, { amount: 1 }, task);
    expect(effects[1]?.key).toBe(effects[0]?.key);
  });

  it.each([new ToolwrightError("TOOL_STORE_FAILED", "disk full"), new Error("connection lost")])(
    "rule 10: inside runtime.run the run rejects, and the loop reads that the call was not recorded (%s)",
    async (error) => {
      const world = await createWorld();
      const { charge } = createCharge();
      const read: unknown[] = [];
      const runtime = await world.runtime({ store: await failing(world, error) });
      const run = runtime.run(task, async () => {
        try {
          read.push(await charge.execute({ amount: 1 }));
        } catch (reason) {
          read.push(reason);
        }
        return "the loop went on";
      });
      await expect(run).rejects.toThrow(error.message);
      expect(read).toMatchObject([{ code: "TOOL_STORE_FAILED" }]);
    },
  );
});

describe("values", () => {
  const values = {
    date: new Date("2026-01-02T03:04:05.678Z"),
    nothing: undefined,
    big: 2n ** 70n,
    map: new Map<unknown, unknown>([
      ["a", new Date(0)],
      [1n, undefined],
    ]),
    set: new Set([1, "1", undefined]),
    nested: { list: [undefined, null, { at: new Date(1) }], zero: -0, not: Number.NaN, far: -Infinity },
    bytes: new Uint8Array([0, 255]),
    tagged: { $type: "date", value: "not one" },
    ["__proto__"]: "own",
  };
  it.each(Object.entries(values))(
    "rule 11: %s is the same live, replayed, and in full",
    async (_name, value) => {
      const world = await createWorld();
      const tool = defineTool({ name: "give", schema: z.object({}), execute: () => value });
      const live = await (await world.runtime()).call(tool, {}, task);
      const runtime = await world.runtime();
      const replayed = await runtime.call(tool, {}, task);
      expect(live).toStrictEqual({
        status: "success",
        output: value,
        key: live.key,
        replayed: false,
        fromCache: false,
      });
      expect(replayed).toStrictEqual({ ...live, replayed: true });
      expect(await runtime.fullOutput(live.key ?? "")).toStrictEqual(value);
    },
  );

  it("rule 11: a value that storing changes is changed live too, and the caller shares nothing with the tool", async () => {
    const world = await createWorld();
    const given = { at: { toJSON: () => "as text" }, list: [1] };
    const tool = defineTool({ name: "give", schema: z.object({}), execute: () => given as unknown });
    const live = await (await world.runtime()).call(tool, {}, task);
    given.list.push(2);
    expect(live).toMatchObject({ output: { at: "as text", list: [1] } });
    expect(await (await world.runtime()).call(tool, {}, task)).toMatchObject({
      output: { at: "as text", list: [1] },
    });
  });
});

it("rule 10: a capability that cannot be disposed does not lose an outcome that happened", async () => {
  const world = await createWorld();
  const { charge, effects } = createCharge();
  const runtime = await world.runtime({
    capabilities: () => ({
      [Symbol.asyncDispose]: () => Promise.reject(new Error("cannot close")),
    }),
  });
  expect(await runtime.call(charge, { amount: 1 }, task)).toMatchObject({
    status: "success",
    output: { id: "ch_1" },
  });
  expect(effects).toHaveLength(1);
  expect(await world.log("r1")).toMatchObject([{ status: "success" }]);
});
