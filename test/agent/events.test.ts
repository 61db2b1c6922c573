import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createRuntime, createTool, type SmartAgentEvent, type Store } from "toolwright";
import type { ScriptedTurn } from "toolwright/testing";
import { ask, call, createAgent, createWorld, eventsOf } from "./harness.ts";

describe("events", () => {
  it("are copies: a listener that changes them affects nothing", async () => {
    const world = await createWorld();
    const ran: unknown[] = [];
    const look = createTool({
      name: "look",
      schema: z.object({ at: z.object({ place: z.string() }) }),
      func: ({ at }) => {
        ran.push(at);
        return { at };
      },
    });
    const onEvent = (event: SmartAgentEvent): void => spoil(event);
    const plan = { operation: "write", todoList: [{ id: 1, title: "look" }] };
    const { agent, model } = await createAgent(
      world,
      [
        [call("look", { at: { place: "here" } }), call("manage_todo_list", plan)],
        [call("response", { found: { it: "yes" } })],
      ],
      { tools: [look], onEvent, outputSchema: z.object({ found: z.object({ it: z.string() }) }) },
    );
    const { output, state } = await agent.invoke(ask("Look."));
    expect(ran).toEqual([{ place: "here" }]);
    expect(model.requests[1]?.toolResults).toMatchObject([
      { output: { at: { place: "here" } } },
      { output: { todoList: [{ title: "look" }] } },
    ]);
    expect(output).toEqual({ found: { it: "yes" } });
    expect(state.plan).toMatchObject({ todoList: [{ title: "look" }] });
  });

  it("no response is reported before it is stored", async () => {
    const world = await createWorld();
    const store = await world.open();
    let isFull = false;
    const full: Store = {
      dialect: store.dialect,
      secret: store.secret,
      read: (work) => store.read(work),
      close: () => store.close(),
      transaction: (work, level) =>
        isFull ? Promise.reject(new Error("disk full")) : store.transaction(work, level),
    };
    const runtime = createRuntime({ store: full });
    const script: ScriptedTurn[] = [
      () => {
        isFull = true;
        return "Hi.";
      },
    ];
    const { agent, events } = await createAgent(world, script, { runtime });
    await expect(agent.invoke(ask("Hi."))).rejects.toThrow("disk full");
    expect(eventsOf(events, "metadata")).toEqual([]);
    isFull = false;
    await runtime[Symbol.asyncDispose]();
  });

  it("of an agent used as a tool reach the listeners of its caller under its own name", async () => {
    const world = await createWorld();
    const heard: string[] = [];
    const plan = { operation: "write", todoList: [{ id: 1, title: "look" }] };
    const inner = await createAgent(world, [[call("manage_todo_list", plan)], "Found it."], {
      name: "scout",
      onEvent: ({ type }) => heard.push(type),
    });
    const outer = await createAgent(world, [[call("scout", { input: "Look." })], "Done."], {
      tools: [inner.agent],
    });
    const { state } = await outer.agent.invoke(ask("Look."), { stream: true });
    const told = eventsOf(outer.events, "sub_agent");
    expect(new Set(told.map(({ name, executionId }) => `${name} ${executionId}`))).toEqual(
      new Set([`scout ${state.toolHistory[0]?.executionId}`]),
    );
    expect(told.map(({ event }) => event.type)).toEqual(heard);
    expect(told.map(({ event }) => event)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: "plan", version: 1 }),
        expect.objectContaining({ type: "finalAnswer", content: "Found it." }),
      ]),
    );
    // It streams because its caller does.
    expect(inner.model.requests[0]?.mode).toBe("stream");
    expect(eventsOf(outer.events, "finalAnswer")).toMatchObject([{ content: "Done." }]);
    expect(eventsOf(outer.events, "plan")).toEqual([]);
  });

  it("do not show redacted values, even if the arguments are nested in a field", async () => {
    const world = await createWorld();
    const pay = createTool({
      name: "pay",
      schema: z.union([z.object({ card: z.string() }), z.object({ cash: z.number() })]),
      redact: { input: ["card"] },
      func: () => "paid",
    });
    const { agent, events } = await createAgent(
      world,
      [[call("pay", { input: { card: "4111-1111" } })], "Paid."],
      {
        tools: [pay],
      },
    );
    await agent.invoke(ask("Pay."));
    expect(eventsOf(events, "tool_call")[0]?.args).toEqual({
      card: expect.stringContaining("[redacted sha256:") as string,
    });
    expect(JSON.stringify(events)).not.toContain("4111-1111");
  });
});

/** Overwrites every text in it. */
function spoil(value: object): void {
  for (const [name, item] of Object.entries(value)) {
    if (typeof item === "string" && name !== "type") Object.assign(value, { [name]: "spoilt" });
    else if (typeof item === "object" && item !== null) spoil(item as object);
  }
}
