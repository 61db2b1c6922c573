/** Rule 24: `concurrency` and `rate` of a tool, which hold for all processes on a store. */
import { defineTool, type Tool, type ToolDefinition } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { change } from "../../src/store/statement.ts";
import { createClock, createWorld, until, watchStore, type World } from "./harness.ts";

const schema = z.object({ n: z.number(), customer: z.string().default("acme") });
type Args = z.output<typeof schema>;
type Policies = Partial<Omit<ToolDefinition<typeof schema>, "name" | "inputSchema" | "execute">>;

/** A tool whose calls end when the test says so. */
function createGated(policies: Policies) {
  const entered: string[] = [];
  const gates = new Map<number, () => void>();
  let atOnce = 0;
  let peak = 0;
  const tool = defineTool({
    name: "gated",
    schema,
    sideEffect: true,
    ...policies,
    execute: async ({ n, customer }: Args) => {
      entered.push(`${customer} ${n}`);
      atOnce += 1;
      peak = Math.max(peak, atOnce);
      await new Promise<void>((resolve) => gates.set(n, resolve));
      atOnce -= 1;
      return n;
    },
  });
  return { tool, entered, open: (n: number) => gates.get(n)?.(), peak: () => peak };
}

const line = (world: World) => world.rows("SELECT owner_id FROM toolwright_limit_queue ORDER BY position");
const places = (world: World) => world.rows("SELECT name FROM toolwright_reservations WHERE run_id = ''");

describe("concurrency", () => {
  it("rule 24: no more than `max` calls run concurrently in several runtimes, and all of them end", async () => {
    const world = await createWorld();
    let atOnce = 0;
    const peaks: number[] = [];
    const work = defineTool({
      name: "work",
      schema,
      concurrency: { max: 2 },
      execute: async () => {
        peaks.push((atOnce += 1));
        await new Promise((resolve) => setTimeout(resolve, 3));
        atOnce -= 1;
      },
    });
    const runtimes = [await world.runtime(), await world.runtime(), await world.runtime()];
    const outcomes = await Promise.all(
      [1, 2, 3, 4].flatMap((n) => runtimes.map((one, of) => one.call(work, { n: 10 * n + of }))),
    );
    expect(outcomes.every(({ status }) => status === "success")).toBe(true);
    expect(peaks).toHaveLength(12);
    expect(Math.max(...peaks)).toBeLessThanOrEqual(2);
    expect(await places(world)).toEqual([]);
  });

  it("rule 24: calls with different keys do not wait for each other, and the key is not stored in plain text", async () => {
    const world = await createWorld();
    const { tool, entered, open } = createGated({ concurrency: { max: 1, key: ({ customer }) => customer } });
    const runtime = await world.runtime();
    const first = runtime.call(tool, { n: 1, customer: "secret-customer" });
    // On PostgreSQL concurrent calls begin in any order.
    await until(() => entered.length === 1);
    const calls = [
      first,
      runtime.call(tool, { n: 2, customer: "secret-customer" }),
      runtime.call(tool, { n: 3, customer: "other" }),
    ];
    await until(() => entered.length === 2);
    expect(entered).toEqual(["secret-customer 1", "other 3"]);
    await until(async () => (await line(world)).length === 1);
    expect(JSON.stringify(await places(world))).not.toContain("secret-customer");
    open(3);
    open(1);
    await until(() => entered.length === 3);
    open(2);
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(["success", "success", "success"]);
  });

  it("processes take turns: a process that makes call after call does not keep another waiting", async () => {
    const world = await createWorld();
    const { tool, entered, open } = createGated({ concurrency: { max: 1 } });
    const [one, other] = [await world.runtime(), await world.runtime()];
    const first = one.call(tool, { n: 1 });
    await until(() => entered.length === 1);
    const theirs = other.call(tool, { n: 2 });
    await until(async () => (await line(world)).length === 1);
    const second = one.call(tool, { n: 3 });
    await until(async () => (await line(world)).length === 2);
    open(1);
    await until(() => entered.length === 2);
    expect(entered.at(-1)).toBe("acme 2");
    open(2);
    await until(() => entered.length === 3);
    open(3);
    await Promise.all([first, theirs, second]);
    expect(await line(world)).toEqual([]);
  });

  it("the time of waiting is not the time of the tool", async () => {
    const world = await createWorld();
    const clock = createClock();
    const { tool, entered, open } = createGated({ concurrency: { max: 1 }, timeoutMs: 5_000 });
    const runtime = await world.runtime({ clock });
    const holder = (await world.runtime()).call(tool, { n: 1 });
    await until(() => entered.length === 1);
    const waiting = runtime.call(tool, { n: 2 });
    await until(async () => (await line(world)).length === 1);
    await clock.advance(60_000);
    open(1);
    await until(() => entered.length === 2);
    open(2);
    expect(await waiting).toMatchObject({ status: "success" });
    await holder;
  });

  it("a call that is aborted while it waits leaves the line, and leaves no outcome", async () => {
    const world = await createWorld();
    const { tool, entered, open } = createGated({ concurrency: { max: 1 } });
    const runtime = await world.runtime();
    const holder = runtime.call(tool, { n: 1 }, { runId: "r1" });
    await until(() => entered.length === 1);
    const stop = new AbortController();
    const waiting = runtime.call(tool, { n: 2 }, { runId: "r2", signal: stop.signal });
    await until(async () => (await line(world)).length === 1);
    stop.abort();
    expect(await waiting).toMatchObject({ status: "error", error: { code: "TOOL_ABORTED" } });
    expect(await world.log("r2")).toEqual([]);
    await until(async () => (await line(world)).length === 0);
    open(1);
    await holder;
    const next = runtime.call(tool, { n: 3 }, { runId: "r3" });
    await until(() => entered.length === 2);
    open(3);
    expect(await next).toMatchObject({ status: "success" });
  });

  it("a dead process frees its places", async () => {
    const world = await createWorld();
    const { tool, entered, open } = createGated({ concurrency: { max: 1 } });
    void (await world.runtime()).call(tool, { n: 1 }).catch(() => undefined);
    await until(() => entered.length === 1);
    await world.killAll();
    const waiting = (await world.runtime()).call(tool, { n: 2 });
    await until(() => entered.length === 2);
    open(2);
    expect(await waiting).toMatchObject({ status: "success" });
    expect(await places(world)).toEqual([]);
  });

  it("a process that died in the line keeps no other one waiting after the clock was set back", async () => {
    const world = await createWorld();
    const { tool, entered, open } = createGated({ concurrency: { max: 1 } });
    const holder = (await world.runtime()).call(tool, { n: 1 }, { runId: "r1" });
    await until(() => entered.length === 1);
    const own = await world.open();
    await own.transaction(
      () =>
        change(`INSERT INTO toolwright_limit_queue (name, owner_id, position, seen_until_ms)
          VALUES ('concurrency:gated', 'dead', 1, {now} + 3600000)`),
      "normal",
    );
    open(1);
    await holder;
    const next = (await world.runtime()).call(tool, { n: 2 }, { runId: "r2" });
    await until(() => entered.length === 2);
    open(2);
    expect(await next).toMatchObject({ status: "success" });
    expect(await line(world)).toEqual([]);
  });

  it("rule 24: replayed, cached and pending calls take no place", async () => {
    const world = await createWorld();
    const { tool, entered, open } = createGated({ concurrency: { max: 1 } });
    const runtime = await world.runtime();
    const once = (n: number) => runtime.run({ runId: `r${n}` }, () => tool.call({ n }));
    const first = once(1);
    await until(() => entered.length === 1);
    open(1);
    await first;
    const cached = defineTool({
      name: "cached",
      schema,
      cache: { scope: "global" },
      concurrency: { max: 1 },
      execute: () => "answer",
    });
    await runtime.call(cached, { n: 1 });
    // A dead process holds both places; nothing below asks for them.
    for (const name of ["gated", "cached", "asked"])
      await (
        await world.open()
      ).transaction(function* () {
        yield {
          kind: "change",
          sql: `INSERT INTO toolwright_reservations (run_id, name, call_key, owner_id, amount)
          SELECT '', 'concurrency:${name}', 'k', id, 1 FROM toolwright_owners LIMIT 1`,
          parameters: [],
        };
      }, "normal");
    expect(await once(1)).toBe(1);
    expect(await runtime.call(cached, { n: 1 })).toMatchObject({ output: "answer", fromCache: true });
    const asked = defineTool({
      name: "asked",
      schema,
      needsApproval: true,
      concurrency: { max: 1 },
      execute: () => 1,
    });
    expect(await runtime.call(asked, { n: 1 }, { runId: "p" })).toMatchObject({ status: "pending" });
    expect(entered).toEqual(["acme 1"]);
  });

  it("a call inside a call shares its place, and two tools that call each other do not block each other", async () => {
    const world = await createWorld();
    const limit = { concurrency: { max: 1 } };
    const tree: ReturnType<typeof defineTool> = defineTool({
      name: "tree",
      schema,
      ...limit,
      execute: async ({ n }: Args): Promise<unknown> => (n === 0 ? 0 : tree.call({ n: n - 1 })),
    });
    const runtime = await world.runtime();
    expect(await runtime.call(tree, { n: 3 })).toMatchObject({ status: "success", output: 0 });
    let inside = 0;
    const bothInside = Promise.withResolvers<void>();
    const ping: ReturnType<typeof defineTool> = defineTool({
      name: "ping",
      schema,
      ...limit,
      execute: ({ n }: Args): Promise<unknown> => cross(n, () => pong.call({ n: n - 1 })),
    });
    const pong: ReturnType<typeof defineTool> = defineTool({
      name: "pong",
      schema,
      ...limit,
      execute: ({ n }: Args): Promise<unknown> => cross(n, () => ping.call({ n: n - 1 })),
    });
    const cross = async (n: number, next: () => unknown): Promise<unknown> => {
      if (n === 0) return 0;
      if ((inside += 1) === 2) bothInside.resolve();
      await bothInside.promise;
      return next();
    };
    const outcomes = await Promise.all([runtime.call(ping, { n: 1 }), runtime.call(pong, { n: 1 })]);
    expect(outcomes.map(({ status }) => status)).toEqual(["success", "success"]);
    expect(await places(world)).toEqual([]);
  });

  it("processes whose tools wait inside each other in opposite orders do not block each other", async () => {
    const world = await createWorld();
    const begun = Promise.withResolvers<void>();
    let inside = 0;
    // Both hold their place before either asks for the other's.
    const meet = (): Promise<void> => {
      inside += 1;
      if (inside === 2) begun.resolve();
      return begun.promise;
    };
    const limited = (name: string, inner: () => Tool) =>
      defineTool({
        name,
        schema: z.object({ isInner: z.boolean() }),
        concurrency: { max: 1 },
        execute: async ({ isInner }): Promise<string> => {
          if (isInner) return name;
          await meet();
          return `${name} ${String(await inner().call({ isInner: true }))}`;
        },
      });
    const left: Tool = limited("left", () => right);
    const right: Tool = limited("right", () => left);
    const [one, other] = [await world.runtime(), await world.runtime()];
    const outcomes = await Promise.all([
      one.call(left, { isInner: false }),
      // A call that waits in front of the inner one, and is inside of no other.
      begun.promise.then(() => one.call(right, { isInner: true })),
      other.call(right, { isInner: false }),
    ]);
    expect(outcomes.map((outcome) => outcome.status === "success" && outcome.output)).toEqual([
      "left right",
      "right",
      "right left",
    ]);
    expect(await places(world)).toEqual([]);
  });

  it("rule 8: the place and the intent are one transaction, and so are the outcome and the release", async () => {
    const world = await createWorld();
    const commits: (readonly string[])[] = [];
    const store = watchStore(await world.open(), { onCommit: (statements) => commits.push(statements) });
    const work = defineTool({
      name: "work",
      schema,
      sideEffect: true,
      concurrency: { max: 1 },
      rate: { max: 5, perMs: 1_000 },
      execute: () => 1,
    });
    await (await world.runtime({ store })).call(work, { n: 1 });
    const withPlace = commits.filter((sqls) => sqls.some((sql) => sql.includes("toolwright_reservations")));
    expect(withPlace).toHaveLength(2);
    expect(withPlace[0]?.some((sql) => sql.startsWith("INSERT INTO toolwright_calls"))).toBe(true);
    expect(withPlace[0]?.some((sql) => sql.startsWith("INSERT INTO toolwright_rate_starts"))).toBe(true);
    expect(withPlace[1]?.some((sql) => sql.startsWith("UPDATE toolwright_calls"))).toBe(true);
  });
});

describe("rate", () => {
  it("rule 24: no more than `max` calls begin within `perMs`, in several runtimes", async () => {
    const world = await createWorld();
    const perMs = 300;
    const begun: number[] = [];
    const work = defineTool({
      name: "work",
      schema,
      rate: { max: 2, perMs },
      execute: () => void begun.push(Date.now()),
    });
    const [one, other] = [await world.runtime(), await world.runtime()];
    const from = Date.now();
    await Promise.all([1, 2, 3, 4, 5].map((n) => (n % 2 === 0 ? one : other).call(work, { n })));
    expect(begun).toHaveLength(5);
    // The third pair begins after two whole periods. A millisecond for the clocks of this process and the database.
    expect(Math.max(...begun) - from).toBeGreaterThanOrEqual(2 * perMs - 1);
  });

  it("keys have their own rates, and a waiting call can be aborted", async () => {
    const world = await createWorld();
    const work = defineTool({
      name: "work",
      schema,
      rate: { max: 1, perMs: 86_400_000, key: ({ customer }) => customer },
      execute: ({ n }) => n,
    });
    const runtime = await world.runtime();
    expect(await runtime.call(work, { n: 1, customer: "a" })).toMatchObject({ output: 1 });
    expect(await runtime.call(work, { n: 2, customer: "b" })).toMatchObject({ output: 2 });
    const stop = new AbortController();
    const waiting = runtime.call(work, { n: 3, customer: "a" }, { signal: stop.signal });
    setImmediate(() => stop.abort());
    expect(await waiting).toMatchObject({ error: { code: "TOOL_ABORTED" } });
    expect(await world.rows("SELECT name FROM toolwright_rate_starts")).toHaveLength(2);
  });

  it("retention deletes the leftover rows of limits", async () => {
    const world = await createWorld();
    const work = defineTool({
      name: "work",
      schema,
      rate: { max: 1, perMs: 1 },
      concurrency: { max: 1, key: ({ n }) => String(n) },
      execute: () => 1,
    });
    const runtime = await world.runtime();
    for (const n of [1, 2, 3]) await runtime.call(work, { n });
    const left = () => world.rows("SELECT name FROM toolwright_tool_limits");
    expect(await left()).toHaveLength(4);
    await until(async () => {
      await runtime.gc();
      return (await left()).length === 0;
    });
    expect(await world.rows("SELECT name FROM toolwright_rate_starts")).toEqual([]);
  });
});

it("refuses wrong limits by name, and a key that is not a string", async () => {
  const withLimits = (policies: object) => () =>
    defineTool({ name: "t", schema, execute: () => 1, ...policies });
  expect(withLimits({ concurrency: {} })).toThrow('"t": concurrency.max is missing.');
  expect(withLimits({ concurrency: { max: 0 } })).toThrow(
    "concurrency.max must be an integer of at least 1, not 0",
  );
  expect(withLimits({ concurrency: 3 })).toThrow("concurrency must be an object, not 3");
  expect(withLimits({ concurrency: { max: 1, keyFn: String } })).toThrow(
    'unknown option "keyFn" of "concurrency"',
  );
  expect(withLimits({ rate: { max: 1 } })).toThrow("rate.perMs is missing.");
  expect(withLimits({ rate: { max: 1, perMs: "1s" } })).toThrow("rate.perMs must be a number");
  const world = await createWorld();
  const bad = withLimits({ concurrency: { max: 1, key: () => 7 } })();
  expect(await (await world.runtime()).call(bad, { n: 1 })).toMatchObject({
    status: "error",
    error: {
      code: "TOOL_EXECUTION_FAILED",
      effect: "none",
      message: expect.stringContaining("non-empty string"),
    },
  });
});
