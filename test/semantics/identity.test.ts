/** Rules 1, 2, 4 and 6: which calls are the same call, and which are different calls. */
import { defineTool, type Store } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createWorld, times, until, watchStore } from "./harness.ts";
import { createCharge } from "./tools.ts";

const task = { runId: "r1" };

/** Takes any arguments, and counts its executions. */
function createEcho() {
  const keys: (string | null)[] = [];
  const echo = defineTool({
    name: "echo",
    schema: z.unknown(),
    sideEffect: true,
    idempotent: false,
    execute: (_args, ctx) => keys.push(ctx.idempotencyKey),
  });
  return { echo, keys };
}

describe("arguments", () => {
  const moment = new Date("2026-01-02T03:04:05.678Z");
  it.each<[string, unknown, unknown]>([
    ["a date and its text", { at: moment }, { at: moment.toISOString() }],
    ["two dates", { at: moment }, { at: new Date(moment.getTime() + 1) }],
    ["a big integer and a number", { n: 1n }, { n: 1 }],
    ["a big integer and its text", { n: 1n }, { n: "1n" }],
    ["a number and its text", { n: 1 }, { n: "1" }],
    ["null and nothing", { n: null }, {}],
    ["an empty map and an empty object", { m: new Map() }, { m: {} }],
    ["a map and a set", { m: new Map([[1, 1]]) }, { m: new Set([1]) }],
    [
      "a map with a number and one with its text as key",
      { m: new Map([[1, "a"]]) },
      { m: new Map([["1", "a"]]) },
    ],
    ["a set and a list", { s: new Set([1, 2]) }, { s: [1, 2] }],
    ["lists in another order", [1, 2], [2, 1]],
    ["a list with undefined and one with null", [undefined], [null]],
    ["nested and flat", { a: { b: 1 } }, { "a.b": 1 }],
    ["a text that looks like another value's form", { at: "date(0)" }, { at: new Date(0) }],
    ["bytes and their numbers", { b: new Uint8Array([1]) }, { b: [1] }],
  ])("rule 1: %s are two calls", async (_name, one, other) => {
    const world = await createWorld();
    const { echo, keys } = createEcho();
    await (await world.runtime()).call(echo, one, task);
    await (await world.runtime()).call(echo, other, task);
    expect(new Set(keys).size).toBe(2);
  });

  it.each<[string, unknown, unknown]>([
    ["the order of keys", { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
    ["a property that is undefined", { a: 1, b: undefined }, { a: 1 }],
    ["the order in a set", new Set(["a", "b"]), new Set(["b", "a"])],
    [
      "the order in a map",
      new Map([
        ["a", 1],
        ["b", 2],
      ]),
      new Map([
        ["b", 2],
        ["a", 1],
      ]),
    ],
    ["an equal date", { at: new Date(5) }, { at: new Date(5) }],
  ])("rule 1: %s makes no difference", async (_name, one, other) => {
    const world = await createWorld();
    const { echo, keys } = createEcho();
    await (await world.runtime()).call(echo, one, task);
    expect(await (await world.runtime()).call(echo, other, task)).toMatchObject({
      output: 1,
      replayed: true,
    });
    expect(keys).toHaveLength(1);
  });

  it("rule 1: they are compared as sent, before defaults and transforms, which may be random", async () => {
    const world = await createWorld();
    const seen: string[] = [];
    const tool = defineTool({
      name: "stamped",
      schema: z.object({ id: z.string().default(() => crypto.randomUUID()) }),
      execute: ({ id }) => seen.push(id),
    });
    await (await world.runtime()).call(tool, {}, task);
    const again = await (await world.runtime()).call(tool, {}, task);
    expect(again).toMatchObject({ output: 1, replayed: true });
    expect(seen).toHaveLength(1);
  });
});

describe("keys", () => {
  it("rule 1: are at most 64 URL-safe characters, and the same in the log, the outcome and ctx", async () => {
    const world = await createWorld();
    const { echo, keys } = createEcho();
    const outcome = await (await world.runtime()).call(echo, { text: "ü / ? #".repeat(500) }, task);
    expect(outcome.key).toMatch(/^[\w-]{1,64}$/);
    expect(keys).toEqual([outcome.key]);
    expect(await world.log("r1")).toMatchObject([{ key: outcome.key, idempotency_key: outcome.key }]);
  });

  it("rule 1: never collide, however ids are split", async () => {
    const world = await createWorld();
    const { echo, keys } = createEcho();
    const runtime = await world.runtime();
    const ids = [
      { runId: "a", nodeId: "b:c" },
      { runId: "a:b", nodeId: "c" },
      { runId: "a", nodeId: "b/c" },
      { runId: "a/b", nodeId: "c" },
      { runId: 'a","b', nodeId: "c" },
      { runId: "a", nodeId: 'b","c' },
      { runId: "a", nodeId: "b", iteration: 1 },
      { runId: "a", nodeId: "b1" },
      { runId: "a", nodeId: "b" },
      { runId: "a", nodeId: "b", loopPath: [1, 1] },
      { runId: "a", nodeId: "b", loopPath: [11] },
      { runId: "a", nodeId: "b", callKey: "0" },
      { runId: "a", nodeId: "b", callKey: "1" },
    ];
    for (const id of ids) await runtime.call(echo, {}, id);
    expect(new Set(keys).size).toBe(ids.length);
  });

  it("rule 1: two tools never share one", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    const one = defineTool({ name: "one", schema: z.object({}), execute: () => 1 });
    const other = defineTool({ name: "other", schema: z.object({}), execute: () => 2 });
    const outcomes = [await runtime.call(one, {}, task), await runtime.call(other, {}, task)];
    expect(new Set(outcomes.map(({ key }) => key)).size).toBe(2);
  });

  it("rule 2: an inner loop's first pass differs between outer passes", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge();
    const runtime = await world.runtime();
    for (const loopPath of [
      [0, 0],
      [0, 1],
      [1, 0],
    ]) {
      await runtime.run({ ...task, loopPath }, () => charge.execute({ amount: 1 }));
    }
    expect(new Set(effects.map(({ key }) => key)).size).toBe(3);
  });
});

describe("counting", () => {
  it("rule 4: within a runtime the second equal call is a second call; after a restart both are found", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge();
    for (let times = 0; times < 2; times += 1) {
      const runtime = await world.runtime();
      const outputs = [
        await runtime.call(charge, { amount: 1 }, task),
        await runtime.call(charge, { amount: 1 }, task),
      ];
      expect(outputs).toMatchObject([{ output: { id: "ch_1" } }, { output: { id: "ch_2" } }]);
    }
    expect(effects).toHaveLength(2);
  });

  it("rule 4: each runtime.run counts equal calls from the start", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge();
    const runtime = await world.runtime();
    const twice = () =>
      runtime.run(task, async () => [
        await charge.execute({ amount: 1 }),
        await charge.execute({ amount: 1 }),
      ]);
    expect(await twice()).toEqual([{ id: "ch_1" }, { id: "ch_2" }]);
    expect(await twice()).toEqual([{ id: "ch_1" }, { id: "ch_2" }]);
    expect(effects).toHaveLength(2);
  });

  it("rule 1: parallel equal calls are numbered in the order in which they are made", async () => {
    const world = await createWorld();
    const { charge } = createCharge({}, async (count) => {
      await new Promise((resolve) => setTimeout(resolve, 10 - count * 3));
      return { id: `made ${count}` };
    });
    const batch = async () => {
      const runtime = await world.runtime();
      return Promise.all([1, 2, 3].map(() => runtime.call(charge, { amount: 1 }, task)));
    };
    const [first, second] = [await batch(), await batch()];
    expect(second.map(({ key }) => key)).toEqual(first.map(({ key }) => key));
    expect(second).toMatchObject(first.map((outcome) => ({ ...outcome, replayed: true })));
  });

  it.each([
    ["in a run", task],
    ["where no run is named", {}],
  ])("rule 4: callKey replaces the count %s, in one runtime and in several", async (_where, place) => {
    const world = await createWorld();
    const { charge, effects } = createCharge({}, () => new Promise((resolve) => setTimeout(resolve, 10)));
    const [one, other] = [await world.runtime(), await world.runtime()];
    const deliver = () =>
      Promise.all(
        [one, other, one, other].map((runtime) =>
          runtime.call(charge, { amount: 1 }, { ...place, callKey: "evt_1" }),
        ),
      );
    expect(await deliver()).toMatchObject(times(4, { status: "success", output: { id: "ch_1" } }));
    expect(await deliver()).toMatchObject(times(4, { output: { id: "ch_1" }, replayed: true }));
    expect(effects).toHaveLength(1);
    await one.call(charge, { amount: 1 }, { ...place, callKey: "evt_2" });
    expect(effects).toHaveLength(2);
  });

  it("rule 4: two live runtime.run scopes of one identity are refused, in one runtime and in two", async () => {
    const world = await createWorld();
    const [one, other] = [await world.runtime(), await world.runtime()];
    for (const runtime of [one, other]) {
      const done = Promise.withResolvers<string>();
      const entered = Promise.withResolvers<void>();
      const first = one.run(task, () => (entered.resolve(), done.promise));
      await entered.promise;
      await expect(runtime.run(task, () => "second")).rejects.toMatchObject({
        code: "TOOL_RUN_CONFLICT",
      });
      done.resolve("first");
      expect(await first).toBe("first");
    }
    expect(await other.run(task, () => "third")).toBe("third");
  });

  it("rule 4: of five that start at the same moment one is accepted", async () => {
    const world = await createWorld();
    const [one, other] = [await world.runtime(), await world.runtime()];
    const done = Promise.withResolvers<string>();
    const runs = [one, one, other, other, one].map((runtime) => runtime.run(task, () => done.promise));
    let refused = 0;
    for (const run of runs) run.catch(() => (refused += 1));
    await until(() => refused === 4);
    done.resolve("ran");
    const settled = await Promise.allSettled(runs);
    expect(settled.map(({ status }) => status).sort()).toEqual(["fulfilled", ...times(4, "rejected")]);
  });

  it("rule 4: of two in one runtime one is accepted, even if the store is slow", async () => {
    const world = await createWorld();
    const store = await world.open();
    const late: Store = {
      ...watchStore(store, {}),
      transaction: async (work, level) => {
        const result = await store.transaction(work, level);
        await new Promise((resolve) => setTimeout(resolve, 20));
        return result;
      },
    };
    const runtime = await world.runtime({ store: late });
    await runtime.ready();
    const done = Promise.withResolvers<string>();
    const first = runtime.run(task, () => done.promise);
    await until(async () => (await world.rows("SELECT owner_id FROM toolwright_scopes")).length === 1);
    await expect(runtime.run(task, () => "second")).rejects.toMatchObject({ code: "TOOL_RUN_CONFLICT" });
    done.resolve("first");
    expect(await first).toBe("first");
  });

  it("rule 4: a call with the ids of the enclosing run is made in that run", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge();
    const runtime = await world.runtime();
    await runtime.run(task, async () => {
      await charge.execute({ amount: 1 });
      await runtime.call(charge, { amount: 1 }, { ...task, nodeId: "main", iteration: 0, attempt: 1 });
    });
    expect(effects).toHaveLength(2);
  });
});

describe("calls inside calls", () => {
  function createAgents() {
    const { charge, effects } = createCharge({}, () => new Promise((resolve) => setTimeout(resolve, 5)));
    const agent = defineTool({
      name: "agent",
      schema: z.object({ who: z.string() }),
      sideEffect: true,
      idempotent: true,
      replay: "run",
      execute: async ({ who }) => `${who} ${(await charge.execute({ amount: 1 })).id}`,
    });
    return { agent, effects };
  }

  it("rule 2: two parallel sub-agents that make equal calls never swap results", async () => {
    const world = await createWorld();
    const { agent, effects } = createAgents();
    const batch = async (who: string[], attempt: number) => {
      const runtime = await world.runtime();
      const outcomes = await Promise.all(
        who.map((name) => runtime.call(agent, { who: name }, { ...task, attempt })),
      );
      return Object.fromEntries(
        outcomes.map((outcome, at) => [who[at], outcome.status === "success" && outcome.output]),
      );
    };
    const first = await batch(["ann", "ben"], 1);
    expect(await batch(["ben", "ann"], 2)).toEqual(first);
    expect(effects).toHaveLength(2);
    expect(new Set(effects.map(({ key }) => key)).size).toBe(2);
  });

  it("rule 1: a retry of the enclosing call does not repeat the effect of the inner one", async () => {
    const world = await createWorld();
    const { charge, effects } = createCharge();
    let tries = 0;
    const outer = defineTool({
      name: "outer",
      schema: z.object({}),
      sideEffect: true,
      idempotent: true,
      retry: { maxRetries: 2, backoffMs: 0 },
      async execute() {
        tries += 1;
        const { id } = await charge.execute({ amount: 1 });
        if (tries < 3) throw new Error("after the charge");
        return id;
      },
    });
    expect(await (await world.runtime()).call(outer, {}, task)).toMatchObject({ output: "ch_1" });
    expect(effects).toHaveLength(1);
  });

  it("rule 1: a retry of the enclosing call retries a failed inner call", async () => {
    const world = await createWorld();
    let runs = 0;
    const inner = defineTool({
      name: "inner",
      schema: z.object({}),
      execute() {
        runs += 1;
        if (runs === 1) throw new Error("busy");
        return "fine";
      },
    });
    const outer = defineTool({
      name: "outer",
      schema: z.object({}),
      retry: { maxRetries: 1, backoffMs: 0 },
      execute: () => inner.execute({}),
    });
    expect(await (await world.runtime()).call(outer, {}, task)).toMatchObject({
      status: "success",
      output: "fine",
    });
  });

  it("rule 6: seq counts from 1 through a task, including inner calls and resumes, and is never reused", async () => {
    const world = await createWorld();
    const { agent } = createAgents();
    const { charge } = createCharge();
    await (await world.runtime()).call(agent, { who: "ann" }, task);
    await (await world.runtime()).call(charge, { amount: 2 }, task);
    const runtime = await world.runtime();
    await runtime.call(agent, { who: "ben" }, task);
    expect((await world.log("r1")).map((row) => [row["tool_name"], row["seq"]])).toEqual([
      ["agent", 1],
      ["charge", 2],
      ["charge", 3],
      ["agent", 4],
      ["charge", 5],
    ]);
  });
});

describe("numbers", () => {
  it("rule 6: attempts count from 1, iterations from 0, and the task is called main", async () => {
    const world = await createWorld();
    const { charge } = createCharge();
    const runtime = await world.runtime();
    await runtime.call(charge, { amount: 1 }, task);
    expect(await runtime.calls(task)).toMatchObject([{ nodeId: "main", iteration: 0, attempt: 1, seq: 1 }]);
    for (const wrong of [
      { attempt: 0 },
      { iteration: -1 },
      { nodeId: "" },
      { runId: "" },
      { attempt: 1.5 },
    ]) {
      await expect(runtime.call(charge, { amount: 1 }, { ...task, ...wrong })).rejects.toMatchObject({
        code: "TOOL_OPTION_INVALID",
      });
    }
  });

  it("rule 6: attempt numbers never restart", async () => {
    const world = await createWorld();
    const runtime = await world.runtime();
    await runtime.run({ ...task, attempt: 3 }, () => undefined);
    await expect(runtime.run({ ...task, attempt: 2 }, () => undefined)).rejects.toMatchObject({
      code: "TOOL_ATTEMPT_STALE",
    });
  });
});
