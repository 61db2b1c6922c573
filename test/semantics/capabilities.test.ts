/** Capabilities: what a tool gets in its context, for as long as the call lasts. */
import {
  createRuntime,
  createTool,
  defineTool,
  type RuntimeOptions,
  sharedCapability,
  type ToolContext,
} from "toolwright";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { createWorld, never, until } from "./harness.ts";

const task = { runId: "r1" };

interface Connection {
  query(text: string): string;
}

/** Connections that are counted. */
function createPool() {
  const log: string[] = [];
  let opened = 0;
  const connect = (): Connection & AsyncDisposable => {
    opened += 1;
    const id = opened;
    log.push(`open ${id}`);
    return {
      query: (text) => `${id}: ${text}`,
      [Symbol.asyncDispose]: async () => void log.push(`close ${id}`),
    };
  };
  return { log, connect };
}

const ask = createTool({
  name: "ask",
  schema: z.object({ text: z.string() }),
  func: ({ text }, ctx: ToolContext<{ conn: Connection }>) => ctx.conn.query(text),
});

describe("an object", () => {
  it("is passed to every call as it is, and is never disposed", async () => {
    const world = await createWorld();
    const { log, connect } = createPool();
    const runtime = await world.runtime({ capabilities: { conn: connect(), projectDir: "project" } });
    expect(await runtime.call(ask, { text: "a" }, task)).toMatchObject({ output: "1: a" });
    expect(await runtime.call(ask, { text: "b" }, task)).toMatchObject({ output: "1: b" });
    await runtime[Symbol.asyncDispose]();
    expect(log).toEqual(["open 1"]);
  });

  it("is not passed to tools of a runtime without it", async () => {
    const world = await createWorld();
    const seen: unknown[] = [];
    const tool = defineTool({
      name: "looks",
      schema: z.object({}),
      execute: (_args, ctx) => void seen.push("conn" in ctx),
    });
    await (await world.runtime()).call(tool, {}, task);
    expect(seen).toEqual([false]);
  });
});

describe("a function", () => {
  it("is called for each call, with run and tool, and its values are disposed after the call", async () => {
    const world = await createWorld();
    const { log, connect } = createPool();
    const asked: unknown[] = [];
    const capabilities: RuntimeOptions["capabilities"] = async (call) => {
      asked.push(call);
      return { conn: connect() };
    };
    const runtime = await world.runtime({ capabilities });
    expect(await runtime.call(ask, { text: "a" }, task)).toMatchObject({ output: "1: a" });
    expect(await runtime.call(ask, { text: "b" }, task)).toMatchObject({ output: "2: b" });
    expect(asked).toEqual([
      { runId: "r1", toolName: "ask" },
      { runId: "r1", toolName: "ask" },
    ]);
    expect(log).toEqual(["open 1", "close 1", "open 2", "close 2"]);
  });

  it("is not called for a call that does not run", async () => {
    const world = await createWorld();
    const { log, connect } = createPool();
    const runtime = await world.runtime({ capabilities: () => ({ conn: connect() }) });
    await runtime.call(ask, { text: 5 } as never, task);
    await runtime.call(ask, { text: "a" }, task);
    await (await world.runtime({ capabilities: () => ({ conn: connect() }) })).call(ask, { text: "a" }, task);
    expect(log).toEqual(["open 1", "close 1"]);
  });

  it.each<[string, (text: string, signal: AbortSignal) => unknown, object]>([
    [
      "throws",
      () => {
        throw new Error("down");
      },
      {},
    ],
    ["returns what cannot be stored", () => () => 1, {}],
    [
      "times out and ends on abort",
      (_text, signal) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped")))),
      { timeoutMs: 10 },
    ],
  ])("its values are disposed when the tool %s", async (_how, behave, policies) => {
    const world = await createWorld();
    const { log, connect } = createPool();
    const tool = defineTool({
      name: "odd",
      schema: z.object({}),
      ...policies,
      execute: (_args, ctx) => behave("", ctx.signal),
    });
    const runtime = await world.runtime({ capabilities: () => ({ conn: connect() }) });
    expect(await runtime.call(tool, {}, task)).toMatchObject({ status: "error" });
    await until(() => log.length === 2);
    expect(log).toEqual(["open 1", "close 1"]);
  });

  it("its values are disposed when an abort ends the call", async () => {
    const world = await createWorld();
    const { log, connect } = createPool();
    const controller = new AbortController();
    const tool = defineTool({
      name: "stops",
      schema: z.object({}),
      execute: (_args, ctx) =>
        new Promise((_, reject) => ctx.signal.addEventListener("abort", () => reject(new Error("stopped")))),
    });
    const runtime = await world.runtime({ capabilities: () => ({ conn: connect() }) });
    const call = runtime.call(tool, {}, { ...task, signal: controller.signal });
    await until(() => log.length === 1);
    controller.abort();
    await call;
    await until(() => log.length === 2);
    expect(log).toEqual(["open 1", "close 1"]);
  });

  it("its values stay open while a tool that timed out still uses them", async () => {
    const world = await createWorld();
    const { log, connect } = createPool();
    const tool = defineTool({ name: "hangs", schema: z.object({}), timeoutMs: 10, execute: () => never() });
    const runtime = await world.runtime({ capabilities: () => ({ conn: connect() }) });
    expect(await runtime.call(tool, {}, task)).toMatchObject({ error: { code: "TOOL_TIMEOUT" } });
    expect(log).toEqual(["open 1"]);
  });

  it("an object that can be disposed as a whole is disposed as a whole", async () => {
    const world = await createWorld();
    const log: string[] = [];
    const runtime = await world.runtime({
      capabilities: () => ({
        conn: { query: (text: string) => text, [Symbol.dispose]: () => void log.push("part") },
        [Symbol.dispose]: () => void log.push("whole"),
      }),
    });
    await runtime.call(ask, { text: "a" }, task);
    expect(log).toEqual(["whole"]);
  });

  it("that throws fails that call with a message before anything runs, and the next call works", async () => {
    const world = await createWorld();
    let asked = 0;
    const runtime = await world.runtime({
      capabilities: () => {
        asked += 1;
        if (asked === 1) throw new Error("no database");
        return { conn: { query: (text: string) => text } };
      },
    });
    expect(await runtime.call(ask, { text: "a" }, task)).toMatchObject({
      status: "error",
      error: { code: "TOOL_EXECUTION_FAILED", message: expect.stringContaining('capabilities for "ask"') },
    });
    expect(await world.log("r1")).toMatchObject([{ status: "error", effect: "none" }]);
    expect(await runtime.call(ask, { text: "b" }, task)).toMatchObject({ output: "b" });
  });
});

describe("disposal", () => {
  const touch = defineTool({ name: "touch", schema: z.object({}), execute: () => "touched" });

  function warnings(): string[] {
    const spy = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    onTestFinished(() => spy.mockRestore());
    return spy.mock.calls as unknown as string[];
  }

  it("disposes every value, last first, even when disposers throw, and warns once about all of them", async () => {
    const warned = warnings();
    const world = await createWorld();
    const log: string[] = [];
    const failing = (name: string) => ({
      [Symbol.asyncDispose]: () => {
        log.push(name);
        return Promise.reject(new Error(`${name} is broken`));
      },
    });
    const runtime = await world.runtime({
      capabilities: () => ({
        first: { [Symbol.dispose]: () => void log.push("first") },
        second: failing("second"),
        third: failing("third"),
        fourth: { [Symbol.asyncDispose]: async () => void log.push("fourth") },
      }),
    });
    expect(await runtime.call(touch, {}, task)).toMatchObject({ status: "success" });
    expect(log).toEqual(["fourth", "third", "second", "first"]);
    expect(warned).toHaveLength(1);
    expect(String(warned[0])).toMatch(/after "touch": third: third is broken; second: second is broken/);
  });

  it.each([
    ["close()", "close", { close: true }],
    ["end()", "end", { end: true }],
    ["close() before end()", "close", { end: true, close: true }],
    ["Symbol.dispose before close()", "dispose", { close: true, dispose: true }],
    ["release() of a value from a pool, not end()", "release", { end: true, release: true }],
  ])("calls %s", async (_what, called, has: Record<string, boolean>) => {
    const world = await createWorld();
    const log: string[] = [];
    const value: Record<string | symbol, unknown> = {};
    for (const name of Object.keys(has)) {
      value[name === "dispose" ? Symbol.dispose : name] = () => void log.push(name);
    }
    const runtime = await world.runtime({ capabilities: () => ({ value }) });
    await runtime.call(touch, {}, task);
    expect(log).toEqual([called]);
  });

  it("leaves a lone release(), plain values and shared values alone", async () => {
    const warned = warnings();
    const world = await createWorld();
    const log: string[] = [];
    const pool = { query: (text: string) => `pool: ${text}`, end: () => void log.push("end") };
    const runtime = await world.runtime({
      capabilities: () => ({
        conn: sharedCapability(pool),
        deploy: { release: () => void log.push("release") },
        name: "x",
        none: null,
      }),
    });
    expect(await runtime.call(ask, { text: "a" }, task)).toMatchObject({ output: "pool: a" });
    expect(await runtime.call(ask, { text: "b" }, task)).toMatchObject({ output: "pool: b" });
    expect(log).toEqual([]);
    expect(warned).toEqual([]);
  });

  it("disposes a value with two names once", async () => {
    const world = await createWorld();
    const log: string[] = [];
    const runtime = await world.runtime({
      capabilities: () => {
        const one = { close: () => void log.push("close") };
        return { one, same: one };
      },
    });
    await runtime.call(touch, {}, task);
    expect(log).toEqual(["close"]);
  });

  it("never disposes a value that another call still uses, and warns when a disposed one is given again", async () => {
    const warned = warnings();
    const world = await createWorld();
    const log: string[] = [];
    const gate = Promise.withResolvers<void>();
    const wait = defineTool({
      name: "wait",
      schema: z.object({ n: z.number() }),
      execute: async ({ n }) => {
        log.push(`enter ${n}`);
        if (n === 1) await gate.promise;
      },
    });
    const client = { close: () => void log.push("close") };
    const runtime = await world.runtime({ capabilities: () => ({ client }) });
    const first = runtime.call(wait, { n: 1 }, task);
    await until(() => log.length === 1);
    await runtime.call(wait, { n: 2 }, task);
    expect(log).toEqual(["enter 1", "enter 2"]);
    gate.resolve();
    await first;
    expect(log).toEqual(["enter 1", "enter 2", "close"]);
    expect(warned).toEqual([]);
    await runtime.call(wait, { n: 3 }, task);
    expect(String(warned[0])).toContain('capability "client" was disposed after an earlier call');
  });

  it("a disposer that never settles does not keep its call from ending", async () => {
    const warned = warnings();
    const world = await createWorld();
    const runtime = await world.runtime({
      capabilities: () => ({ stuck: { close: () => never() } }),
    });
    expect(await runtime.call(touch, {}, task)).toMatchObject({ status: "success" });
    expect(String(warned[0])).toContain("stuck: it was not disposed within 5000 ms");
  });
});

describe("names", () => {
  it("of an object that are fields of the context are refused when the runtime is created", () => {
    for (const name of ["runId", "signal", "log", "idempotencyKey", "rootDir"]) {
      expect(() => createRuntime({ store: ":memory:", capabilities: { [name]: 1 } })).toThrow(
        expect.objectContaining({
          code: "TOOL_OPTION_INVALID",
          message: expect.stringContaining(`capabilities.${name} `),
        }),
      );
    }
  });

  it("of a function's result fail the call by name before it runs, and the rest is disposed", async () => {
    const world = await createWorld();
    const { log, connect } = createPool();
    const ran: string[] = [];
    const tool = defineTool({ name: "runs", schema: z.object({}), execute: () => void ran.push("ran") });
    const runtime = await world.runtime({ capabilities: () => ({ conn: connect(), runId: "mine" }) });
    expect(await runtime.call(tool, {}, task)).toMatchObject({
      status: "error",
      error: {
        code: "TOOL_EXECUTION_FAILED",
        effect: "none",
        message: expect.stringContaining("capabilities.runId"),
      },
    });
    expect(ran).toEqual([]);
    expect(log).toEqual(["open 1", "close 1"]);
  });

  it("a function that returns no object fails the call, and the error shows the returned value", async () => {
    const world = await createWorld();
    const runtime = await world.runtime({ capabilities: () => undefined as never });
    expect(await runtime.call(ask, { text: "a" }, task)).toMatchObject({
      error: { message: expect.stringContaining("must return an object such as { conn }, not undefined") },
    });
  });
});

describe("the other functions of a tool", () => {
  const policies = {
    schema: z.object({ amount: z.number() }),
    sideEffect: true,
    idempotent: false,
  } as const;

  it("needsApproval and approvalPrompt receive them too", async () => {
    const world = await createWorld();
    const tool = defineTool({
      name: "spend",
      ...policies,
      execute: ({ amount }, ctx: ToolContext<{ config: { most: number } }>) => [
        amount,
        ctx.idempotencyKey === null,
      ],
      needsApproval: ({ amount }, ctx) => amount > ctx.config.most,
      approvalPrompt: ({ amount }, ctx) => `Spend ${amount} of ${ctx.config.most}?`,
    });
    const runtime = await world.runtime({ capabilities: { config: { most: 10 } } });
    expect(await runtime.call(tool, { amount: 5 }, task)).toMatchObject({ status: "success" });
    expect(await runtime.call(tool, { amount: 50 }, task)).toMatchObject({
      status: "pending",
      approval: { prompt: "Spend 50 of 10?" },
    });
  });

  it("reconcile receives them too, since it has to query the outside world", async () => {
    const world = await createWorld();
    const entered: number[] = [];
    const tool = defineTool({
      name: "spend",
      ...policies,
      settleMs: 0,
      execute: ({ amount }, ctx: ToolContext<{ conn: Connection }>) => {
        entered.push(amount);
        return ctx.idempotencyKey === "" ? "" : never<string>();
      },
      reconcile: ({ amount }, ctx) => ({ happened: true, output: ctx.conn.query(String(amount)) }),
    });
    const { log, connect } = createPool();
    const options = { capabilities: () => ({ conn: connect() }) };
    void (await world.runtime(options)).call(tool, { amount: 3 }, task);
    await until(() => entered.length === 1);
    await world.killAll();
    expect(await (await world.runtime(options)).call(tool, { amount: 3 }, task)).toMatchObject({
      status: "success",
      output: "2: 3",
    });
    expect(entered).toEqual([3]);
    expect(log).toEqual(["open 1", "open 2", "close 2"]);
  });
});
