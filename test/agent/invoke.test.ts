import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  type AgentMessage,
  type AgentState,
  createSmartAgent,
  createTool,
  defineTool,
  type SmartAgent,
  ToolwrightError,
} from "toolwright";
import { ask, call, createAgent, createOrders, createWorld, eventsOf, openRuntime, user } from "./harness.ts";
import { createScriptedModel, type ScriptedTurn } from "toolwright/testing";
import { createFolder, until } from "../workflow/harness.ts";

/** The API as seen by callers without types. */
type Loose = Record<keyof SmartAgent, (...given: unknown[]) => unknown>;

const said = (part: object) => ({
  messages: [{ role: "user", content: [{ type: "text", text: "Hi.", part }] }],
});

function deep(levels: number): object {
  let value = {};
  for (let level = 0; level < levels; level += 1) value = { value };
  return value;
}

function circular(): object {
  const value: Record<string, unknown> = {};
  value["self"] = value;
  return value;
}

describe("invoke", () => {
  it("runs tools until the model answers, and returns the history", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders();
    const { agent, model, events } = await createAgent(
      world,
      [[call("order", { sku: "apple" }, "c1"), call("order", { sku: "pear" }, "c2")], "Both are ordered."],
      { tools: [order] },
    );
    const result = await agent.invoke(ask("Order apples and pears."));
    // They run concurrently: on a server either may be first.
    expect(placed.toSorted()).toEqual(["apple", "pear"]);
    const orderOf = (sku: string) => ({ order: placed.indexOf(sku) + 1, sku });
    expect(result).toMatchObject({ status: "finished", stop: "answer", content: "Both are ordered." });
    expect(result.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "tool",
      "assistant",
    ]);
    expect(model.requests[1]?.toolResults).toEqual([
      { toolName: "order", output: orderOf("apple") },
      { toolName: "order", output: orderOf("pear") },
    ]);
    expect(result.state.toolHistory).toMatchObject([
      {
        toolName: "order",
        args: { sku: "apple" },
        output: orderOf("apple"),
        status: "success",
        fromCache: false,
        tool_call_id: "c1",
      },
      { toolName: "order", args: { sku: "pear" }, status: "success", tool_call_id: "c2" },
    ]);
    const [first] = result.state.toolHistory;
    expect(Date.parse(first?.startedAt ?? "")).not.toBeNaN();
    expect(Date.parse(first?.finishedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(first?.startedAt ?? ""));
    expect(JSON.parse(JSON.stringify(result.state))).toEqual(result.state);
    expect(eventsOf(events, "tool_call").map(({ phase, name }) => `${phase} ${name}`)).toEqual(
      expect.arrayContaining(["start order", "success order"]),
    );
    expect(eventsOf(events, "finalAnswer")).toMatchObject([{ content: "Both are ordered." }]);
    expect((await world.log(result.runId)).map((row) => row["tool_name"])).toEqual(["order", "order"]);
  });

  it("returns the recorded result once it has ended, and refuses another input under its run id", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders();
    const first = await createAgent(world, [[call("order", { sku: "apple" })], "Done."], { tools: [order] });
    const done = await first.agent.invoke(ask("Order.", "r1"));
    const again = await createAgent(world, [], { tools: [order] });
    const repeated = await again.agent.invoke(ask("Order.", "r1"));
    expect(repeated).toEqual(done);
    expect(again.model.requests).toHaveLength(0);
    expect((await again.agent.invoke({ runId: "r1" })).content).toBe("Done.");
    expect((await again.agent.invoke(done.state)).content).toBe("Done.");
    expect(placed).toEqual(["apple"]);
    await expect(again.agent.invoke(ask("Something else.", "r1"))).rejects.toMatchObject({
      code: "TOOL_RUN_TAKEN",
    });
    await expect(again.agent.invoke({ runId: "missing" })).rejects.toMatchObject({
      code: "TOOL_RUN_NOT_FOUND",
    });
  });

  it("takes the run id that its input had when it was called", async () => {
    const world = await createWorld();
    const { agent } = await createAgent(world, ["One.", "Two."]);
    await agent.invoke(ask("First.", "r1"));
    await agent.invoke(ask("Second.", "r2"));
    const { agent: other } = await createAgent(world, []);
    const first = { runId: "r1" };
    const results = [other.invoke(first), agent.invoke(first)];
    first.runId = "r2";
    expect((await Promise.all(results)).map(({ content }) => content)).toEqual(["One.", "One."]);
  });

  it("resumes after its process dies: no response is requested twice, no call made twice", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders();
    const script = [
      [call("order", { sku: "apple" })],
      [call("order", { sku: "pear" })],
      new Error("power cut"),
    ] as const;
    const first = await createAgent(world, script, { tools: [order] });
    await expect(first.agent.invoke(ask("Order.", "r1"))).rejects.toMatchObject({
      code: "TOOL_MODEL_FAILED",
    });
    await world.killAll();
    const second = await createAgent(world, ["Both done."], { tools: [order] });
    const result = await second.agent.invoke({ runId: "r1" });
    expect(result.content).toBe("Both done.");
    expect(second.model.requests).toHaveLength(1);
    expect(placed).toEqual(["apple", "pear"]);
    expect(result.state.toolHistory).toHaveLength(2);
  });

  it("a new message after the end is a new invoke: plan and history stay, the same call runs again", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders();
    const plan = { operation: "write", todoList: [{ id: 1, title: "order" }] };
    const { agent, model } = await createAgent(
      world,
      [
        [call("manage_todo_list", plan)],
        [call("order", { sku: "apple" })],
        "One.",
        [call("order", { sku: "apple" })],
        [call("manage_todo_list", { operation: "read" })],
        "Two.",
      ],
      { tools: [order] },
    );
    const one = await agent.invoke(ask("Order."));
    const state = JSON.parse(JSON.stringify(one.state)) as typeof one.state;
    const two = await agent.invoke({ ...state, messages: [...state.messages, user("Once more.")] });
    expect(two.content).toBe("Two.");
    expect(two.runId).toBe(one.runId);
    expect(placed).toEqual(["apple", "apple"]);
    expect(model.requests[5]?.toolResults).toMatchObject([{ output: { version: 1, todoList: [{ id: 1 }] } }]);
    expect(two.state.toolHistory.map(({ toolName }) => toolName)).toEqual([
      "manage_todo_list",
      "order",
      "order",
      "manage_todo_list",
    ]);
    expect((await agent.invoke({ runId: one.runId })).messages).toEqual(two.messages);
  });

  it("the same message on the same state is the same invoke, after a crash and after the end", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders();
    const script = ["Hello.", [call("order", { sku: "apple" })], new Error("power cut")] as const;
    const first = await createAgent(world, script, { tools: [order] });
    const { state } = await first.agent.invoke(ask("Hi.", "r1"));
    const again = { ...(JSON.parse(JSON.stringify(state)) as typeof state) };
    const input = { ...again, messages: [...again.messages, user("Order.")] };
    await expect(first.agent.invoke(input)).rejects.toThrow("power cut");
    await world.killAll();
    const second = await createAgent(world, ["Ordered."], { tools: [order] });
    const done = await second.agent.invoke(input);
    expect(done).toMatchObject({ runId: "r1", content: "Ordered." });
    expect(await second.agent.invoke(input)).toEqual(done);
    expect(placed).toEqual(["apple"]);
    expect(second.model.requests).toHaveLength(1);
  });

  it("cache, breaker and budgets start fresh with each invoke", async () => {
    const world = await createWorld();
    let looks = 0;
    let fails = 0;
    const look = createTool({ name: "look", schema: z.object({}), cache: true, func: () => (looks += 1) });
    const fail = createTool({
      name: "fail",
      schema: z.object({ n: z.number() }),
      retry: { circuitBreakerThreshold: 1 },
      func: () => {
        fails += 1;
        throw new Error("no");
      },
    });
    const turn = [call("look", {}), call("fail", { n: 1 })];
    const { agent } = await createAgent(
      world,
      [turn, [call("look", {}), call("fail", { n: 2 })], "One.", turn, "Two."],
      {
        tools: [look, fail],
        limits: { maxToolCalls: 4 },
      },
    );
    const one = await agent.invoke(ask("Look."));
    expect([looks, fails]).toEqual([1, 1]);
    expect(one.state.toolHistory.map(({ fromCache, status }) => `${status} ${fromCache}`)).toEqual([
      "success false",
      "error false",
      "success true",
      "error false",
    ]);
    expect(Object.values(one.state.toolCache)).toEqual([{ toolName: "look", output: 1 }]);
    const two = await agent.invoke({ ...one.state, messages: [...one.state.messages, user("Again.")] });
    expect([looks, fails]).toEqual([2, 2]);
    expect(two.stop).toBe("answer");
    expect(Object.values(two.state.toolCache)).toEqual([{ toolName: "look", output: 2 }]);
  });

  it("the model receives an error for an unknown tool and for input that is not JSON, and continues", async () => {
    const world = await createWorld();
    const { order } = createOrders();
    const { agent, model } = await createAgent(
      world,
      [[call("nothing", {}), call("order", "{broken")], "I see."],
      { tools: [order] },
    );
    expect((await agent.invoke(ask("Go."))).content).toBe("I see.");
    expect(model.requests[1]?.toolResults).toMatchObject([
      { output: { is_error: true, error_type: "not_found" } },
      { output: { is_error: true, error_type: "input_invalid" } },
    ]);
  });

  it("an error in a listener ends nothing", async () => {
    const world = await createWorld();
    const { order } = createOrders();
    const { agent } = await createAgent(world, [[call("order", { sku: "a" })], "Done."], {
      tools: [order],
      onEvent: () => {
        throw new Error("bad listener");
      },
    });
    expect((await agent.invoke(ask("Go."))).content).toBe("Done.");
  });

  it("an abort ends it immediately, during a request and during a backoff, and it can be resumed", async () => {
    const world = await createWorld();
    const flaky = defineTool({
      name: "flaky",
      schema: z.object({}),
      retry: { maxRetries: 3, backoffMs: 600_000 },
      execute: () => {
        throw new Error("busy");
      },
    });
    const deaf = createScriptedModel([() => new Promise(() => undefined)]);
    const runtime = await openRuntime(world);
    const asking = new AbortController();
    const first = createSmartAgent({ model: deaf, runtime }).invoke(ask("Go.", "r1"), {
      signal: asking.signal,
    });
    await until(() => deaf.requests.length === 1);
    asking.abort(new Error("enough"));
    await expect(first).rejects.toMatchObject({ code: "TOOL_ABORTED" });
    const waiting = new AbortController();
    const { agent, events } = await createAgent(world, [[call("flaky", {})], "Over."], {
      tools: [flaky],
      runtime,
    });
    const second = agent.invoke(ask("Go.", "r2"), { signal: waiting.signal });
    await until(() => eventsOf(events, "call-retried").length === 1);
    waiting.abort(new Error("enough"));
    await expect(second).rejects.toMatchObject({ code: "TOOL_ABORTED" });
    const third = await createAgent(world, ["Fine."], { runtime });
    expect((await third.agent.invoke({ runId: "r1" })).content).toBe("Fine.");
  });

  it("later changes to the caller's messages have no effect, and the messages of a state are read-only", async () => {
    const world = await createWorld();
    const said = user("Hello.");
    const { agent } = await createAgent(world, ["Hi.", "Hi again."]);
    const part = { type: "text", text: "How are you?" };
    const messages: AgentMessage[] = [said, { role: "user", content: [part] }];
    const asked = agent.invoke({ messages });
    said.content = "Something else.";
    part.text = "Who are you?";
    messages.push(user("And more."));
    const one = await asked;
    expect(one.state.messages.map(({ content }) => content)).toEqual([
      "Hello.",
      [{ type: "text", text: "How are you?" }],
      "Hi.",
    ]);
    expect(() => Object.assign(one.state.messages[0] ?? {}, { content: "Forged." })).toThrow(TypeError);
    const two = await agent.invoke({ ...one.state, messages: [...one.state.messages, user("More.")] });
    expect(two).toMatchObject({ content: "Hi again.", runId: one.runId });
  });

  it("streams the parts of a response as events", async () => {
    const world = await createWorld();
    const { agent, events, model } = await createAgent(world, ["Hello there."]);
    const { content } = await agent.invoke(ask("Hi."), { stream: true });
    expect(content).toBe("Hello there.");
    expect(
      eventsOf(events, "stream")
        .map(({ text }) => text)
        .join(""),
    ).toBe("Hello there.");
    expect(model.requests[0]?.mode).toBe("stream");
  });

  it("reports invalid arguments", async () => {
    const world = await createWorld();
    const { order } = createOrders();
    const { agent } = await createAgent(world, [], { tools: [order] });
    await expect(agent.invoke({})).rejects.toThrow("needs messages");
    await expect(agent.invoke({ messages: [{ role: "robot", content: "" }] } as never)).rejects.toThrow(
      "message 0 has the role",
    );
    expect(() => createSmartAgent({ model: {} })).toThrow("createSmartAgent: model must be");
    expect(() => createSmartAgent({ model: createScriptedModel([]), tols: [] } as never)).toThrow(
      /Did you mean "tools"\?$/,
    );
    const taken = createTool({ name: "get_tool_response", schema: z.object({}), func: () => 1 });
    expect(() => createSmartAgent({ model: createScriptedModel([]), tools: [taken] })).toThrow(
      "built-in tool named",
    );
  });

  it.each<[what: string, give: (agent: Loose, state: AgentState) => unknown, said: string | RegExp]>([
    [
      "no options",
      (agent) => agent.invoke(ask("Hi."), null),
      "invoke: the options must be an object such as { … }, not null.",
    ],
    [
      "a misspelt run id",
      (agent) => agent.invoke({ ...ask("Hi."), runid: "r" }),
      'unknown field "runid". Did you mean "runId"?',
    ],
    ["a misspelt option", (agent) => agent.invoke(ask("Hi."), { sginal: 1 }), /Did you mean "signal"\?$/],
    [
      "an invalid listener",
      (agent) => agent.invoke(ask("Hi."), { onEvent: 3 }),
      "onEvent must be a function",
    ],
    ["a message with a function", (agent) => agent.invoke(said({ run: () => 1 })), "there is a function"],
    ["a message with a bigint", (agent) => agent.invoke(said({ count: 1n })), "there is a bigint"],
    ["a message that cannot be stored", (agent) => agent.invoke(said({ like: /a/ })), "is a RegExp"],
    ["a message that is too deep", (agent) => agent.invoke(said(deep(1_001))), "nested too deeply"],
    ["a message that holds itself", (agent) => agent.invoke(said(circular())), "only data"],
    [
      "a malformed call",
      (agent, state) => agent.invoke({ ...state, toolHistory: [null] }),
      "not a list of calls",
    ],
    [
      "a message of no provider",
      (agent) =>
        agent.invoke({ messages: [{ ...user("Hi."), provider: { kind: "ai-sdk", content: [null] } }] }),
      "message 0 has a provider",
    ],
    [
      "the whole result",
      (agent, state) => agent.invoke({ ...ask("Hi."), state, stop: "answer" }),
      "its `state`",
    ],
    ["a snapshot of nothing", (agent) => agent.snapshot(undefined), "one that invoke has returned"],
    ["no snapshot", (agent) => agent.resume(undefined), "must be a value that snapshot(state) returned"],
    ["no decision", (agent, state) => agent.resolveToolApproval(state), "{ id, approved: true }"],
    [
      "an unknown option of a tool",
      (agent) => agent.asTool({ descripton: "" }),
      /Did you mean "description"\?$/,
    ],
    ["a tool without a name", (agent) => agent.asTool(), "needs a name"],
    ["nothing to generate from", (agent) => agent.generate(), "must have a prompt or messages"],
  ])("refuses %s with a message", async (_, give, problem) => {
    const { agent } = await createAgent(await createWorld(), ["Hi."]);
    const { state } = await agent.invoke(ask("Hello."));
    const given = async (): Promise<unknown> => give(agent as never, state);
    await expect(given()).rejects.toThrow(problem);
    await expect(given()).rejects.toBeInstanceOf(ToolwrightError);
  });
});

it("the inventory of a project's tools is in the system prompt, as of the start of the invoke", async () => {
  const rootDir = createFolder();
  const inventory = join(rootDir, ".toolwright/capabilities.md");
  mkdirSync(join(rootDir, ".toolwright"));
  writeFileSync(inventory, "---\nloading: always\n---\n# Mail and orders\n");
  const systems: unknown[] = [];
  const world = await createWorld();
  const stop = new AbortController();
  const look = defineTool({ name: "look", schema: z.object({}), execute: () => "seen" });
  const script: ScriptedTurn[] = [
    ({ prompt, turn }) => {
      systems.push(prompt[0]?.content);
      if (turn === 0) return [call("look", {})];
      if (systems.length > 2) return "Done.";
      stop.abort();
      return new Error("stopped");
    },
  ];
  const model = createScriptedModel(script, { atEnd: "repeat-last" });
  const runtime = await openRuntime(world, { rootDir });
  const agent = createSmartAgent({ model, tools: [look], runtime });
  await agent.invoke(ask("Look.", "r"), { signal: stop.signal }).catch(() => undefined);
  writeFileSync(inventory, "# Another\n");
  expect(await agent.invoke(ask("Look.", "r"))).toMatchObject({ content: "Done." });
  expect(systems).toHaveLength(3);
  expect(new Set(systems).size).toBe(1);
  expect(String(systems[0])).toContain("# Mail and orders");
  expect(String(systems[0])).not.toContain("loading: always");
});
