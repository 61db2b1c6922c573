/** The stored data of an agent run: its content, how long it is kept, and who may resume the run. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createSmartAgent, createTool, runAgentLoop } from "toolwright";
import { createFakeClock, createScriptedModel } from "toolwright/testing";
import { ask, call, createAgent, createOrders, createWorld, eventsOf, openRuntime, user } from "./harness.ts";

const DAY_MS = 86_400_000;

describe("the log", () => {
  it("model responses are deleted when the invoke has ended; the run with all its budgets when it is old", async () => {
    const world = await createWorld();
    const clock = createFakeClock();
    const runtime = await openRuntime(world, { clock });
    const look = createTool({ name: "look", schema: z.object({}), cache: true, func: () => 1 });
    const { agent } = await createAgent(world, [[call("look", {})], "One.", [call("look", {})], "Two."], {
      tools: [look],
      runtime,
      limits: { maxToolCalls: 5 },
    });
    const one = await agent.invoke(ask("Look."));
    await agent.invoke({ ...one.state, messages: [...one.state.messages, user("Again.")] });
    expect(await world.rows("SELECT * FROM toolwright_responses")).toEqual([]);
    expect(await world.rows("SELECT * FROM toolwright_cache")).toHaveLength(2);
    expect((await world.rows("SELECT * FROM toolwright_usage")).length).toBeGreaterThan(1);
    await clock.advance(40 * DAY_MS);
    expect(await runtime.gc()).toMatchObject({ deletedRuns: 1, deletedCalls: 2 });
    for (const table of ["usage", "cache", "turns", "turn_inputs", "calls", "breakers", "reservations"]) {
      expect(await world.rows(`SELECT * FROM toolwright_${table}`)).toEqual([]);
    }
    await expect(agent.invoke({ runId: one.runId })).rejects.toMatchObject({ code: "TOOL_RUN_NOT_FOUND" });
    await expect(agent.invoke(ask("Look.", one.runId))).rejects.toMatchObject({ code: "TOOL_RUN_DELETED" });
  });

  it("an invoke that was abandoned long ago is given up, and reports it", async () => {
    const world = await createWorld();
    const clock = createFakeClock();
    const runtime = await openRuntime(world, { clock });
    const { order } = createOrders();
    const { agent } = await createAgent(world, [[call("order", { sku: "a" })], new Error("power cut")], {
      tools: [order],
      runtime,
    });
    await expect(agent.invoke(ask("Go.", "r1"))).rejects.toThrow("power cut");
    await clock.advance(8 * DAY_MS);
    expect(await runtime.gc()).toMatchObject({ clearedRuns: 1 });
    await expect(agent.invoke({ runId: "r1" })).rejects.toMatchObject({ code: "TOOL_RUN_DELETED" });
  });

  it("a run has one owner at a time", async () => {
    const world = await createWorld();
    const answered = Promise.withResolvers<string>();
    const first = await createAgent(world, [() => answered.promise]);
    const running = first.agent.invoke(ask("Go.", "r1"));
    while (first.model.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    const second = await createAgent(world, ["No."]);
    await expect(second.agent.invoke(ask("Go.", "r1"))).rejects.toMatchObject({ code: "TOOL_RUN_CONFLICT" });
    answered.resolve("Yes.");
    expect((await running).content).toBe("Yes.");
  });

  it("with other tools a resume continues live, and completed calls are not repeated", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders();
    const first = await createAgent(world, [[call("order", { sku: "apple" })], new Error("power cut")], {
      tools: [order],
    });
    await expect(first.agent.invoke(ask("Order.", "r1"))).rejects.toThrow("power cut");
    await world.killAll();
    const more = createTool({ name: "more", schema: z.object({}), func: () => 1 });
    const second = await createAgent(world, [[call("order", { sku: "apple" })], "Done."], {
      tools: [order, more],
    });
    expect((await second.agent.invoke({ runId: "r1" })).content).toBe("Done.");
    expect(eventsOf(second.events, "replay-diverged")).toMatchObject([{ position: 0 }]);
    expect(placed).toEqual(["apple"]);
  });

  it("an interrupted call in doubt waits for approval, and the approver may say that it happened", async () => {
    const world = await createWorld();
    const blind = createTool({
      name: "blind",
      schema: z.object({ n: z.number() }),
      sideEffect: true,
      func: () => new Promise<string>(() => undefined),
    });
    const first = await createAgent(world, [[call("blind", { n: 1 })]], { tools: [blind] });
    const stop = new AbortController();
    const cut = first.agent.invoke(ask("Go.", "r1"), { signal: stop.signal });
    while (eventsOf(first.events, "call-started").length === 0)
      await new Promise((resolve) => setTimeout(resolve, 2));
    stop.abort(new Error("killed"));
    await expect(cut).rejects.toMatchObject({ code: "TOOL_ABORTED" });
    expect(eventsOf(first.events, "cancelled")).toHaveLength(1);
    await world.killAll();
    const second = await createAgent(world, ["Good."], { tools: [blind] });
    const paused = await second.agent.invoke({ runId: "r1" });
    expect(paused.state.pendingApprovals).toMatchObject([
      { kind: "replay", toolName: "blind", args: { n: 1 } },
    ]);
    const id = paused.state.pendingApprovals[0]?.id ?? "";
    const decided = second.agent.resolveToolApproval(paused.state, {
      id,
      approved: true,
      happened: { output: "it did" },
    });
    expect((await second.agent.invoke(decided)).content).toBe("Good.");
    expect(second.model.requests[0]?.toolResults).toMatchObject([{ toolName: "blind" }]);
    expect(JSON.stringify(second.model.requests[0]?.toolResults)).toContain("it did");
  });

  it("the run id of another loop is refused, and so is an empty one", async () => {
    const world = await createWorld();
    const { agent, runtime } = await createAgent(world, []);
    const message = { content: [{ type: "text", text: "Hi." }], stop_reason: "end_turn" };
    const client = { messages: { create: () => Promise.resolve(message) } } as never;
    await runAgentLoop({ client, model: "m", messages: [user("Hi.")], tools: [], runtime, runId: "r1" });
    await expect(agent.invoke(ask("Hi.", "r1"))).rejects.toMatchObject({ code: "TOOL_RUN_TAKEN" });
    await expect(agent.invoke({ runId: "r1" })).rejects.toMatchObject({ code: "TOOL_RUN_NOT_FOUND" });
    await expect(agent.invoke(ask("Hi.", ""))).rejects.toMatchObject({ code: "TOOL_OPTION_INVALID" });
  });

  it("a run with any number of messages works, and is found by its id", async () => {
    const world = await createWorld();
    const runtime = await openRuntime(world);
    let asked = 0;
    const model = {
      ...createScriptedModel([]),
      doGenerate: async ({ prompt }: { prompt: unknown[] }) => {
        asked = prompt.length;
        return { content: [{ type: "text", text: "Read." }], finishReason: { unified: "stop" } };
      },
    };
    const agent = createSmartAgent({ model, runtime, limits: { maxContextTokens: 1e9 } });
    const messages = Array.from({ length: 200_001 }, (_, index) => ({
      role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
      content: "Hm.",
    }));
    expect((await agent.invoke({ messages, runId: "r1" })).content).toBe("Read.");
    expect(asked).toBe(200_002);
    expect((await agent.invoke({ runId: "r1" })).messages).toHaveLength(200_002);
  });
});
