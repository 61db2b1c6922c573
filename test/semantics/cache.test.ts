/** Cache: equal calls of a pure tool share one result. */
import { createRuntime, defineTool, type Store, type ToolPolicies, ToolwrightError } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createClock, createWorld, never, settle, times, until } from "./harness.ts";

const task = { runId: "r1" };

type LookupPolicies = Omit<ToolPolicies<{ q: unknown }, { hits: unknown[] }, object>, "sideEffect">;

/** A pure, cached tool that counts how often it is run. */
function createLookup(policies: LookupPolicies = {}, behave: (count: number) => unknown = () => undefined) {
  const runs: unknown[] = [];
  const lookup = defineTool({
    name: "lookup",
    schema: z.object({ q: z.unknown() }),
    cache: true,
    ...policies,
    async execute({ q }) {
      runs.push(q);
      await behave(runs.length);
      return { hits: [q, runs.length] };
    },
  });
  return { lookup, runs };
}

describe("equal calls", () => {
  it("that run concurrently are one execution; the others are marked fromCache and logged", async () => {
    const world = await createWorld();
    const { lookup, runs } = createLookup({}, () => new Promise((resolve) => setTimeout(resolve, 20)));
    const runtime = await world.runtime();
    const outcomes = await Promise.all(times(3, { q: "a" }).map((args) => runtime.call(lookup, args, task)));
    expect(runs).toHaveLength(1);
    expect(outcomes.map((one) => one.status === "success" && [one.output, one.fromCache])).toEqual([
      [{ hits: ["a", 1] }, false],
      [{ hits: ["a", 1] }, true],
      [{ hits: ["a", 1] }, true],
    ]);
    const log = await world.log("r1");
    expect(
      log.map((row) => [row["status"], row["from_cache"], row["fromCache"], row["output_json"]]),
    ).toEqual([
      ["success", 0, 0, '{"hits":["a",1]}'],
      ["success", 1, 1, '{"hits":["a",1]}'],
      ["success", 1, 1, '{"hits":["a",1]}'],
    ]);
    expect(new Set(log.map((row) => row["key"])).size).toBe(3);
  });

  it("share one execution even if one reads the store just before the other has written", async () => {
    const world = await createWorld();
    const store = await world.open();
    const gate = Promise.withResolvers<undefined>();
    let held = 0;
    const slow: Store = {
      dialect: store.dialect,
      secret: store.secret,
      transaction: (work, level) => store.transaction(work, level),
      async read(work) {
        const found = await store.read(work);
        // The second read: the second call reads the cache.
        held += 1;
        if (held === 2) await gate.promise;
        return found;
      },
      close: () => store.close(),
    };
    const { lookup, runs } = createLookup();
    await using runtime = createRuntime({ store: slow });
    const first = runtime.call(lookup, { q: "a" }, task);
    const second = runtime.call(lookup, { q: "a" }, task);
    await first;
    gate.resolve(undefined);
    expect(await second).toMatchObject({ status: "success", fromCache: true });
    expect(runs).toHaveLength(1);
  });

  it("have equal arguments: dates, their texts and bigints are all different", async () => {
    const world = await createWorld();
    const { lookup, runs } = createLookup();
    const runtime = await world.runtime();
    const values = [new Date(1), new Date(2), new Date(1).toISOString(), 1n, 1, "1", null, new Map([[1, 2]])];
    for (const q of [...values, ...values]) await runtime.call(lookup, { q }, task);
    expect(runs).toEqual(values);
  });

  it("are calls with equal results of keyFn, if there is one", async () => {
    const world = await createWorld();
    const { lookup, runs } = createLookup({ cache: { keyFn: ({ q }) => String(q).toLowerCase() } });
    const runtime = await world.runtime();
    await runtime.call(lookup, { q: "Apple" }, task);
    const hit = await runtime.call(lookup, { q: "APPLE" }, task);
    expect(hit).toMatchObject({ status: "success", fromCache: true, output: { hits: ["Apple", 1] } });
    await runtime.call(lookup, { q: "pear" }, task);
    expect(runs).toEqual(["Apple", "pear"]);
  });

  it("are never treated as equal because keyFn is asynchronous", async () => {
    const world = await createWorld();
    const { lookup } = createLookup({ cache: { keyFn: async ({ q }) => String(q) } });
    const runtime = await world.runtime();
    await runtime.call(lookup, { q: "a" }, task);
    const other = await runtime.call(lookup, { q: "b" }, task);
    // Whether it is awaited or refused: the result for "a" is not the result for "b".
    expect(other.status === "success" ? other.output : undefined).not.toEqual({ hits: ["a", 1] });
  });

  it("of two tools never share a result", async () => {
    const world = await createWorld();
    const { lookup } = createLookup();
    const other = defineTool({
      name: "other",
      schema: z.object({ q: z.string() }),
      cache: true,
      execute: () => "other",
    });
    const runtime = await world.runtime();
    await runtime.call(lookup, { q: "a" }, task);
    expect(await runtime.call(other, { q: "a" }, task)).toMatchObject({ output: "other", fromCache: false });
  });
});

describe("how long, and for whom", () => {
  it("a result is cached for ttlMs", async () => {
    const world = await createWorld();
    const clock = createClock();
    const { lookup, runs } = createLookup({ cache: { ttlMs: 1_000 } });
    const runtime = await world.runtime({ clock });
    await runtime.call(lookup, { q: 1 }, task);
    await clock.advance(999);
    expect(await runtime.call(lookup, { q: 1 }, task)).toMatchObject({ fromCache: true });
    await clock.advance(1);
    expect(await runtime.call(lookup, { q: 1 }, task)).toMatchObject({ fromCache: false });
    expect(await runtime.call(lookup, { q: 1 }, task)).toMatchObject({ fromCache: true });
    expect(runs).toHaveLength(2);
  });

  it("by default for its run, in every task, attempt and runtime", async () => {
    const world = await createWorld();
    const { lookup, runs } = createLookup();
    await (await world.runtime()).call(lookup, { q: 1 }, task);
    const runtime = await world.runtime();
    expect(await runtime.call(lookup, { q: 1 }, { ...task, nodeId: "n2" })).toMatchObject({
      fromCache: true,
    });
    expect(await runtime.call(lookup, { q: 1 }, { ...task, attempt: 2 })).toMatchObject({ fromCache: true });
    expect(await runtime.call(lookup, { q: 1 }, { runId: "r2" })).toMatchObject({ fromCache: false });
    expect(runs).toHaveLength(2);
  });

  it("with scope global for every run on the store", async () => {
    const world = await createWorld();
    const { lookup, runs } = createLookup({ cache: { scope: "global" } });
    await (await world.runtime()).call(lookup, { q: 1 }, task);
    expect(await (await world.runtime()).call(lookup, { q: 1 }, { runId: "r2" })).toMatchObject({
      fromCache: true,
    });
    expect(runs).toHaveLength(1);
  });
});

describe("values", () => {
  it("are copies: changing one changes no other", async () => {
    const world = await createWorld();
    const { lookup } = createLookup({}, () => new Promise((resolve) => setTimeout(resolve, 10)));
    const runtime = await world.runtime();
    const [first, second] = await Promise.all([
      runtime.call(lookup, { q: { deep: 1 } }, task),
      runtime.call(lookup, { q: { deep: 1 } }, task),
    ]);
    if (first.status !== "success" || second.status !== "success") throw new Error("both succeed");
    first.output.hits.push("spoilt");
    Object.assign(first.output.hits[0] as object, { deep: "spoilt" });
    expect(second.output).toEqual({ hits: [{ deep: 1 }, 1] });
    expect(await runtime.call(lookup, { q: { deep: 1 } }, task)).toMatchObject({
      output: { hits: [{ deep: 1 }, 1] },
      fromCache: true,
    });
  });

  it("keep their types: a hit equals the live result", async () => {
    const world = await createWorld();
    const tool = defineTool({
      name: "rich",
      schema: z.object({}),
      cache: true,
      execute: () => ({ at: new Date(5), ids: new Set([1n]), none: undefined }),
    });
    const runtime = await world.runtime();
    const live = await runtime.call(tool, {}, task);
    const hit = await runtime.call(tool, {}, task);
    expect(hit).toMatchObject({ status: "success", fromCache: true });
    expect(hit.status === "success" && hit.output).toStrictEqual(live.status === "success" && live.output);
  });

  it("undefined is cached too", async () => {
    const world = await createWorld();
    let runs = 0;
    const tool = defineTool({
      name: "nothing",
      schema: z.object({}),
      cache: true,
      execute: () => void (runs += 1),
    });
    const runtime = await world.runtime();
    await runtime.call(tool, {}, task);
    expect(await runtime.call(tool, {}, task)).toMatchObject({
      status: "success",
      output: undefined,
      fromCache: true,
    });
    expect(runs).toBe(1);
  });
});

describe("a failed call", () => {
  it("a keyFn that throws fails only that call, with a message, and is logged", async () => {
    const world = await createWorld();
    const keyFn = ({ q }: { q: unknown }): unknown => {
      if (q === "bad") throw new Error("no key for this");
      return q;
    };
    const { lookup, runs } = createLookup({ cache: { keyFn } });
    const runtime = await world.runtime();
    const bad = await runtime.call(lookup, { q: "bad" }, task);
    expect(bad).toMatchObject({
      status: "error",
      error: {
        code: "TOOL_EXECUTION_FAILED",
        message: expect.stringMatching(/"lookup".*keyFn.*no key for this/),
      },
    });
    expect(await runtime.call(lookup, { q: "good" }, task)).toMatchObject({ status: "success" });
    expect(runs).toEqual(["good"]);
    expect((await world.log("r1")).map((row) => row["status"])).toEqual(["error", "success"]);
  });

  it("an error is not cached: the next equal call runs", async () => {
    const world = await createWorld();
    const { lookup, runs } = createLookup({}, (count) => {
      if (count === 1) throw new Error("down");
    });
    const runtime = await world.runtime();
    expect(await runtime.call(lookup, { q: 1 }, task)).toMatchObject({ status: "error" });
    expect(await runtime.call(lookup, { q: 1 }, task)).toMatchObject({ status: "success", fromCache: false });
    expect(runs).toHaveLength(2);
  });

  it("if it fails while other calls wait for it, one of them runs and the rest share its result", async () => {
    const world = await createWorld();
    const { lookup, runs } = createLookup({}, async (count) => {
      await new Promise((resolve) => setTimeout(resolve, 15));
      if (count === 1) throw new Error("down");
    });
    const runtime = await world.runtime();
    const outcomes = await Promise.all(times(4, { q: 1 }).map((args) => runtime.call(lookup, args, task)));
    expect(outcomes.map(({ status }) => status)).toEqual(["error", "success", "success", "success"]);
    expect(outcomes.map((one) => one.status === "success" && one.fromCache)).toEqual([
      false,
      false,
      true,
      true,
    ]);
    expect(runs).toHaveLength(2);
  });

  it("if it is aborted while other calls wait for it, one of them runs", async () => {
    const world = await createWorld();
    const controller = new AbortController();
    const { lookup, runs } = createLookup({}, (count) => (count === 1 ? never() : undefined));
    const runtime = await world.runtime();
    const first = runtime.call(lookup, { q: 1 }, { ...task, signal: controller.signal });
    await until(() => runs.length === 1);
    const second = runtime.call(lookup, { q: 1 }, task);
    await settle();
    controller.abort();
    expect(await first).toMatchObject({ status: "error", error: { code: "TOOL_ABORTED" } });
    expect(await second).toMatchObject({ status: "success", fromCache: false });
    expect(runs).toHaveLength(2);
  });

  it("a waiting call can be aborted before the other one ends", async () => {
    const world = await createWorld();
    const gate = Promise.withResolvers<undefined>();
    const controller = new AbortController();
    let asked = 0;
    const keyFn = () => (asked += 1) > 0;
    const { lookup } = createLookup({ cache: { keyFn } }, () => gate.promise);
    const runtime = await world.runtime();
    const first = runtime.call(lookup, { q: 1 }, task);
    await until(() => asked === 1);
    const second = runtime.call(lookup, { q: 1 }, { ...task, signal: controller.signal });
    await until(() => asked === 2);
    await settle();
    controller.abort();
    // The first call runs until this one has its result.
    expect(await second).toMatchObject({ status: "error", error: { code: "TOOL_ABORTED" } });
    gate.resolve(undefined);
    expect(await first).toMatchObject({ status: "success" });
  });

  it("a cached call that another runtime cut off in the meantime is run again, and does not wait for itself", async () => {
    const world = await createWorld();
    const controller = new AbortController();
    const gate = Promise.withResolvers<undefined>();
    const { lookup, runs } = createLookup({}, (count) =>
      count === 1 ? gate.promise : count === 2 ? never() : undefined,
    );
    const [one, other] = [await world.runtime(), await world.runtime()];
    const first = one.call(lookup, { q: 1 }, task);
    await until(() => runs.length === 1);
    const second = other.call(lookup, { q: 1 }, { ...task, signal: controller.signal });
    await until(() => runs.length === 2);
    controller.abort();
    await second;
    gate.resolve(undefined);
    expect(await first).toMatchObject({ status: "success" });
  });
});

describe("side effects and approvals", () => {
  it("a cache on a side effect is refused at definition, idempotent or not", () => {
    for (const idempotent of [true, false]) {
      expect(() =>
        defineTool({
          name: "pay",
          schema: z.object({}),
          sideEffect: true,
          idempotent,
          cache: true,
          execute: (_args, _ctx) => 1,
        }),
      ).toThrow(/Tool "pay": cache cannot be combined with sideEffect: true/);
    }
  });

  it("a cached result does not bypass an approval", async () => {
    const world = await createWorld();
    const { lookup, runs } = createLookup({ needsApproval: true });
    const runtime = await world.runtime();
    const approveAndCall = async (approvedArgs?: unknown) => {
      await runtime.call(lookup, { q: "a" }, task);
      const [request] = await runtime.approvals({ status: "pending" });
      await runtime.resolveToolApproval(request?.id ?? "", { approved: true, approvedArgs });
      return (await world.runtime()).call(lookup, { q: "a" }, { ...task, attempt: 1, callKey: undefined });
    };
    expect(await approveAndCall()).toMatchObject({ status: "success", fromCache: false });
    expect(await runtime.call(lookup, { q: "a" }, task)).toMatchObject({ replayed: true });
    const second = await runtime.call(lookup, { q: "a" }, task);
    expect(second).toMatchObject({ status: "pending" });
    expect(runs).toHaveLength(1);
  });

  it("a result of edited arguments is not cached for the requested arguments", async () => {
    const world = await createWorld();
    const { lookup, runs } = createLookup({ needsApproval: true });
    const runtime = await world.runtime();
    const decide = async (callKey: string, decision: { approvedArgs?: unknown }) => {
      const pending = await runtime.call(lookup, { q: "asked" }, { ...task, callKey });
      if (pending.status !== "pending") throw new ToolwrightError("TOOL_NOT_FOUND", pending.status);
      await runtime.resolveToolApproval(pending.approval.id, { approved: true, ...decision });
      return runtime.call(lookup, { q: "asked" }, { ...task, callKey });
    };
    expect(await decide("one", { approvedArgs: { q: "edited" } })).toMatchObject({
      output: { hits: ["edited", 1] },
    });
    expect(await decide("two", {})).toMatchObject({ output: { hits: ["asked", 2] }, fromCache: false });
    expect(runs).toEqual(["edited", "asked"]);
  });
});
