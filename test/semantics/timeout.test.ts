/** Timeouts: each try has its own, the tool's signal aborts, and a late result is stored but never used. */
import { defineTool, type RuntimeEvent } from "toolwright";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createClock, createWorld, never, settle, until } from "./harness.ts";
import { createCharge } from "./tools.ts";

const task = { runId: "r1" };

describe("a try that takes too long", () => {
  it("fails with an error that names tool and time, is retryable, and aborts ctx.signal", async () => {
    const world = await createWorld();
    const clock = createClock();
    const signals: AbortSignal[] = [];
    const slow = defineTool({
      name: "slow",
      schema: z.object({}),
      timeoutMs: 500,
      execute: (_args, ctx) => {
        signals.push(ctx.signal);
        return never<string>();
      },
    });
    const call = (await world.runtime({ clock })).call(slow, {}, task);
    await until(() => signals.length === 1);
    await clock.advance(499);
    expect(signals[0]?.aborted).toBe(false);
    await clock.advance(1);
    const outcome = await call;
    expect(outcome).toMatchObject({
      status: "error",
      error: {
        code: "TOOL_TIMEOUT",
        message: 'Tool "slow" timed out after 500 ms.',
        retryable: true,
        details: { tool: "slow", timeoutMs: 500 },
      },
    });
    expect(signals[0]?.aborted).toBe(true);
    expect(signals[0]?.reason).toMatchObject({ code: "TOOL_TIMEOUT" });
    expect(await world.log("r1")).toMatchObject([{ status: "error", tries: 1 }]);
  });

  it("aborts the signal even if the tool reads it only afterwards", async () => {
    const world = await createWorld();
    const clock = createClock();
    const gate = Promise.withResolvers<undefined>();
    const seen: boolean[] = [];
    let entered = false;
    const slow = defineTool({
      name: "slow",
      schema: z.object({}),
      timeoutMs: 100,
      execute: async (_args, ctx) => {
        entered = true;
        await gate.promise;
        seen.push(ctx.signal.aborted);
      },
    });
    const call = (await world.runtime({ clock })).call(slow, {}, task);
    await until(() => entered);
    await clock.advance(100);
    await call;
    gate.resolve(undefined);
    await until(() => seen.length === 1);
    expect(seen).toEqual([true]);
  });

  it("has its own timeout: the second try gets the full time again", async () => {
    const world = await createWorld();
    const clock = createClock();
    const { charge, effects } = createCharge(
      { timeoutMs: 100, retry: { maxRetries: 1, backoffMs: 0 } },
      (count) => (count === 1 ? never() : clock.sleep(90)),
    );
    const call = (await world.runtime({ clock })).call(charge, { amount: 1 }, task);
    await until(() => effects.length === 1);
    await clock.advance(100);
    await until(() => effects.length === 2);
    await clock.advance(90);
    expect(await call).toMatchObject({ status: "success", output: { id: "ch_2" } });
    expect(await world.log("r1")).toMatchObject([{ status: "success", tries: 2 }]);
  });

  it("never uses a late result, not even as the result of a retry that is still running", async () => {
    const world = await createWorld();
    const clock = createClock();
    const answers = [Promise.withResolvers<{ id: string }>(), Promise.withResolvers<{ id: string }>()];
    const { charge, effects } = createCharge(
      { timeoutMs: 100, retry: { maxRetries: 1, backoffMs: 0 } },
      (count) => answers[count - 1]?.promise,
    );
    const runtime = await world.runtime({ clock });
    const events: RuntimeEvent[] = [];
    runtime.subscribe((event) => events.push(event));
    const call = runtime.call(charge, { amount: 1 }, task);
    await until(() => effects.length === 1);
    await clock.advance(100);
    await until(() => effects.length === 2);
    answers[0]?.resolve({ id: "late" });
    await settle();
    answers[1]?.resolve({ id: "second" });
    expect(await call).toMatchObject({ status: "success", output: { id: "second" } });
    await until(() => events.some(({ type }) => type === "call-late"));
    expect(await world.log("r1")).toMatchObject([{ status: "success", output_json: '{"id":"second"}' }]);
    expect(await runtime.fullOutput((await call).key ?? "")).toEqual({ id: "second" });
  });

  it("emits an event when a late result arrives", async () => {
    const world = await createWorld();
    const clock = createClock();
    const answer = Promise.withResolvers<{ id: string }>();
    const { charge, effects } = createCharge({ timeoutMs: 100 }, () => answer.promise);
    const runtime = await world.runtime({ clock });
    const events: RuntimeEvent[] = [];
    runtime.subscribe((event) => events.push(event));
    const call = runtime.call(charge, { amount: 1 }, task);
    await until(() => effects.length === 1);
    await clock.advance(100);
    await call;
    answer.resolve({ id: "late" });
    await until(() => events.some(({ type }) => type === "call-late"));
    expect(events.map(({ type }) => type)).toEqual(["call-started", "call-finished", "call-late"]);
  });
});

describe("long times", () => {
  it("a timeout of Infinity means no timeout", async () => {
    const world = await createWorld();
    const tool = defineTool({
      name: "patient",
      schema: z.object({}),
      timeoutMs: Infinity,
      execute: () => new Promise((resolve) => setTimeout(() => resolve("done"), 30)),
    });
    expect(await (await world.runtime()).call(tool, {}, task)).toMatchObject({ output: "done" });
  });

  it("a timeout of thirty days does not fire immediately", async () => {
    const world = await createWorld();
    const tool = defineTool({
      name: "patient",
      schema: z.object({}),
      timeoutMs: 30 * 24 * 3_600_000,
      execute: () => new Promise((resolve) => setTimeout(() => resolve("done"), 30)),
    });
    expect(await (await world.runtime()).call(tool, {}, task)).toMatchObject({ output: "done" });
  });

  it.each([30 * 24 * 3_600_000, Infinity])(
    "a time budget of %d ms does not end immediately",
    async (maxWallClockMs) => {
      const world = await createWorld();
      const tool = defineTool({
        name: "patient",
        schema: z.object({}),
        execute: () => new Promise((resolve) => setTimeout(() => resolve("done"), 30)),
      });
      const runtime = await world.runtime({ limits: { maxWallClockMs } });
      expect(await runtime.call(tool, {}, task)).toMatchObject({ output: "done" });
    },
  );

  it("a service with a Retry-After of thirty days is not called again immediately", async () => {
    const world = await createWorld();
    const controller = new AbortController();
    let tries = 0;
    const tool = defineTool({
      name: "closed",
      schema: z.object({}),
      retry: { maxRetries: 1 },
      execute() {
        tries += 1;
        throw Object.assign(new Error("429"), { headers: { "retry-after": String(30 * 24 * 3_600) } });
      },
    });
    const call = (await world.runtime()).call(tool, {}, { ...task, signal: controller.signal });
    await until(() => tries > 0);
    await new Promise((resolve) => setTimeout(resolve, 60));
    controller.abort();
    await call;
    expect(tries).toBe(1);
  });
});

describe("outside any run", () => {
  it("a try times out too", async () => {
    const slow = defineTool({
      name: "slow",
      schema: z.object({}),
      timeoutMs: 10,
      execute: () => never<string>(),
    });
    await expect(slow.execute({})).rejects.toMatchObject({ code: "TOOL_TIMEOUT" });
  });

  it("an abort signal of the caller ends it", async () => {
    const controller = new AbortController();
    const slow = defineTool({ name: "slow", schema: z.object({}), execute: () => never<string>() });
    const call = slow.execute({}, { abortSignal: controller.signal });
    controller.abort(new Error("stop"));
    await expect(call).rejects.toMatchObject({ code: "TOOL_ABORTED" });
  });
});
