import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createTool, defineTool } from "toolwright";
import { ask, call, createAgent, createOrders, createWorld, eventsOf, openRuntime } from "./harness.ts";
import { createFakeClock } from "toolwright/testing";

const step = createTool({ name: "step", schema: z.object({ n: z.number() }), func: ({ n }) => n });
const steps = (...numbers: number[]) => numbers.map((n) => call("step", { n }));

describe("budgets", () => {
  it("parallel calls cannot exceed them; then one response is requested without tools", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders();
    const { agent, model, events } = await createAgent(
      world,
      [["a", "b", "c", "d", "e"].map((sku) => call("order", { sku })), "Two were ordered."],
      { tools: [order], limits: { maxToolCalls: 2 } },
    );
    const result = await agent.invoke(ask("Order five."));
    expect(placed).toHaveLength(2);
    expect(result).toMatchObject({
      status: "finished",
      stop: "budget",
      budget: "maxToolCalls",
      content: "Two were ordered.",
    });
    expect(model.requests.map(({ toolNames }) => toolNames.length)).toEqual([3, 0]);
    expect(JSON.stringify(model.requests[1]?.prompt[0])).toContain("maxToolCalls is spent");
    expect(
      model.requests[1]?.toolResults.filter(({ output }) => (output as { is_error?: true }).is_error),
    ).toHaveLength(3);
    expect(eventsOf(events, "budget")).toMatchObject([{ budget: "maxToolCalls" }]);
  });

  it("tool calls of a model after a budget is spent do not run", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders();
    const { agent } = await createAgent(
      world,
      [[call("order", { sku: "a" })], { text: "One more!", toolCalls: [call("order", { sku: "b" })] }],
      {
        tools: [order],
        limits: { maxToolCalls: 1 },
      },
    );
    expect(await agent.invoke(ask("Order."))).toMatchObject({ stop: "budget", content: "One more!" });
    expect(placed).toEqual(["a"]);
  });

  it("survive a resume: usage before a crash counts", async () => {
    const world = await createWorld();
    const limits = { maxToolCalls: 3, maxTotalOutputTokens: 1_000 };
    const first = await createAgent(world, [steps(1, 2), new Error("power cut")], { tools: [step], limits });
    await expect(first.agent.invoke(ask("Go.", "r1"))).rejects.toThrow("power cut");
    await world.killAll();
    const second = await createAgent(world, [steps(3, 4), "Enough."], { tools: [step], limits });
    const result = await second.agent.invoke({ runId: "r1" });
    expect(result).toMatchObject({ budget: "maxToolCalls", content: "Enough." });
    expect(result.state.toolHistory.map(({ status }) => status).toSorted()).toEqual([
      "error",
      "success",
      "success",
      "success",
    ]);
  });

  it("tokens: counts the tokens of logged responses across a resume", async () => {
    const world = await createWorld();
    // Each response of the scripted model has 5 tokens.
    const limits = { maxTotalOutputTokens: 15 };
    const first = await createAgent(world, [steps(1), steps(2), new Error("power cut")], {
      tools: [step],
      limits,
    });
    await expect(first.agent.invoke(ask("Go.", "r1"))).rejects.toThrow("power cut");
    await world.killAll();
    const second = await createAgent(world, [steps(3), "Enough."], { tools: [step], limits });
    const result = await second.agent.invoke({ runId: "r1" });
    expect(result).toMatchObject({
      budget: "maxTotalOutputTokens",
      content: "Enough.",
      metadata: { usage: { requests: 4, outputTokens: 20 } },
    });
  });

  it("cost: adds the estimated cost of responses and the reported cost of tools", async () => {
    const world = await createWorld();
    const pay = defineTool({
      name: "pay",
      schema: z.object({ n: z.number() }),
      execute: (_, ctx) => {
        ctx.reportCost(0.4);
        return "paid";
      },
    });
    const asked: unknown[] = [];
    const { agent, model } = await createAgent(
      world,
      [[call("pay", { n: 1 })], [call("pay", { n: 2 })], "Enough."],
      {
        tools: [pay],
        limits: { maxCostUsd: 1 },
        costOf: (answer) => {
          asked.push(answer);
          return 0.1;
        },
      },
    );
    const result = await agent.invoke(ask("Pay."));
    expect(result).toMatchObject({ budget: "maxCostUsd", content: "Enough." });
    expect(result.state.usage.costUsd).toBeCloseTo(0.3);
    expect(asked[0]).toEqual({
      model: "scripted",
      usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0 },
    });
    expect(model.requests).toHaveLength(3);
  });

  it("tokens: the agent counts them if the model does not report them", async () => {
    const world = await createWorld();
    let asked = 0;
    const model = {
      invoke: (messages: readonly { content: string }[]) => {
        asked += 1;
        if (asked > 9 || JSON.stringify(messages).includes("is spent")) return "Enough.";
        return {
          content: "word ".repeat(200),
          tool_calls: [{ id: `c${asked}`, name: "step", args: { n: asked } }],
        };
      },
      bindTools: () => model,
    };
    const { agent } = await createAgent(world, [], {
      model,
      tools: [step],
      limits: { maxTotalOutputTokens: 1_000 },
      costOf: ({ usage }) => usage.inputTokens + usage.outputTokens,
    });
    const result = await agent.invoke(ask("Go."));
    expect(result).toMatchObject({ budget: "maxTotalOutputTokens", content: "Enough." });
    expect(asked).toBeLessThan(6);
    expect(result.state.usage.costUsd).toBeGreaterThan(1_000);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("no price");
      },
      "threw: no price",
    ],
    ["gives no number", () => Number.NaN, "returned NaN"],
    ["gives less than nothing", () => -1, "returned -1"],
    ["gives a promise", () => Promise.resolve(1), "returned a promise"],
  ])(
    "an estimator that %s fails the invoke but not the run: the response is stored",
    async (_, costOf, said) => {
      const world = await createWorld();
      const limits = { maxCostUsd: 1 };
      const first = await createAgent(world, [steps(1)], { tools: [step], limits, costOf: costOf as never });
      await expect(first.agent.invoke(ask("Go.", "r1"))).rejects.toMatchObject({
        code: "TOOL_OPTION_INVALID",
        message: expect.stringContaining(said) as string,
      });
      await world.killAll();
      const second = await createAgent(world, ["Done."], { tools: [step], limits, costOf: () => 0.1 });
      expect((await second.agent.invoke({ runId: "r1" })).content).toBe("Done.");
      expect(second.model.requests).toHaveLength(1);
    },
  );

  it("time: adds the time of models and tools, without downtime", async () => {
    const world = await createWorld();
    const clock = createFakeClock();
    const limits = { maxWallClockMs: 10_000 };
    const wait = createTool({
      name: "wait",
      schema: z.object({ ms: z.number() }),
      func: async ({ ms }) => {
        await clock.advance(ms);
        return "waited";
      },
    });
    const first = await createAgent(
      world,
      [
        async () => {
          await clock.advance(3_000);
          return [call("wait", { ms: 4_000 })];
        },
        new Error("power cut"),
      ],
      { tools: [wait], limits, runtime: await openRuntime(world, { clock }) },
    );
    await expect(first.agent.invoke(ask("Go.", "r1"))).rejects.toThrow("power cut");
    await world.killAll();
    await clock.advance(1_000_000);
    const second = await createAgent(
      world,
      [[call("wait", { ms: 1_000 })], [call("wait", { ms: 2_500 })], "Enough."],
      { tools: [wait], limits, runtime: await openRuntime(world, { clock }) },
    );
    const result = await second.agent.invoke({ runId: "r1" });
    expect(result).toMatchObject({ budget: "maxWallClockMs", content: "Enough." });
    expect(second.model.requests).toHaveLength(3);
  });

  it("bytes: adds the sizes of all results", async () => {
    const world = await createWorld();
    const big = createTool({ name: "big", schema: z.object({ n: z.number() }), func: () => "x".repeat(600) });
    const { agent } = await createAgent(
      world,
      [[call("big", { n: 1 })], [call("big", { n: 2 })], "Enough."],
      {
        tools: [big],
        limits: { maxTotalOutputBytes: 1_000 },
      },
    );
    expect(await agent.invoke(ask("Go."))).toMatchObject({
      budget: "maxTotalOutputBytes",
      content: "Enough.",
    });
  });

  it("maxParallelTools is enforced", async () => {
    const world = await createWorld();
    let now = 0;
    let most = 0;
    const met = Promise.withResolvers<void>();
    const slow = createTool({
      name: "slow",
      schema: z.object({ n: z.number() }),
      func: async () => {
        most = Math.max(most, (now += 1));
        if (most === 2) met.resolve();
        await met.promise;
        // Enough time for a third call to start, if the limit did not work.
        await new Promise((resolve) => setTimeout(resolve, 5));
        now -= 1;
        return "ok";
      },
    });
    const { agent } = await createAgent(
      world,
      [[1, 2, 3, 4, 5, 6].map((n) => call("slow", { n })), "Done."],
      {
        tools: [slow],
        limits: { maxParallelTools: 2 },
      },
    );
    await agent.invoke(ask("Go."));
    expect(most).toBe(2);
  });

  it("an open breaker lets no parallel call through, and equal cached calls run once", async () => {
    const world = await createWorld();
    let runs = 0;
    let looks = 0;
    const broken = createTool({
      name: "broken",
      schema: z.object({ n: z.number() }),
      retry: { circuitBreakerThreshold: 2 },
      func: async () => {
        runs += 1;
        throw new Error("no");
      },
    });
    const look = createTool({
      name: "look",
      schema: z.object({ at: z.coerce.date() }),
      cache: true,
      func: async ({ at }) => {
        looks += 1;
        return at.toISOString();
      },
    });
    const at = (day: number) => call("look", { at: `2026-01-0${day}T00:00:00Z` });
    const { agent, model } = await createAgent(
      world,
      [
        [1, 2].map((n) => call("broken", { n })),
        [3, 4, 5, 6, 7, 8].map((n) => call("broken", { n })),
        [at(1), at(1), at(1), at(2)],
        "Done.",
      ],
      { tools: [broken, look] },
    );
    await agent.invoke(ask("Go."));
    expect(runs).toBe(2);
    expect(looks).toBe(2);
    expect(
      model.requests[2]?.toolResults.every(
        ({ output }) => (output as { error_type: string }).error_type === "circuit_open",
      ),
    ).toBe(true);
    expect(model.requests[3]?.toolResults.map(({ output }) => output)).toEqual([
      "2026-01-01T00:00:00.000Z",
      "2026-01-01T00:00:00.000Z",
      "2026-01-01T00:00:00.000Z",
      "2026-01-02T00:00:00.000Z",
    ]);
  });
});
