import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createSmartAgent, defineTool, type AgentState, type SmartAgentOptions } from "toolwright";
import { createScriptedModel, type ScriptedTurn } from "toolwright/testing";
import { ask, call, createAgent, createOrders, createWorld } from "./harness.ts";

const schema = z.object({ ordered: z.string() });

describe("an agent as a tool of another", () => {
  it("does its work inside the call, logs it, and returns its output as the result", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders();
    const model = createScriptedModel([
      [call("order", { sku: "apple" })],
      [call("response", { ordered: "apple" })],
    ]);
    const buyer = createSmartAgent({ name: "buyer", model, tools: [order], outputSchema: schema });
    const outer = await createAgent(world, [[call("buyer", { input: "Buy an apple." })], "Bought."], {
      tools: [buyer],
    });
    const result = await outer.agent.invoke(ask("Buy."));
    expect(result.content).toBe("Bought.");
    expect(outer.model.requests[1]?.toolResults).toEqual([
      { toolName: "buyer", output: { ordered: "apple" } },
    ]);
    expect(model.requests[0]?.text).toBe("Buy an apple.");
    expect(placed).toEqual(["apple"]);
    const log = await world.log(result.runId);
    expect(log.map((row) => String(row["tool_name"])).toSorted()).toEqual(["buyer", "order", "response"]);
    expect(result.state.toolHistory.map(({ toolName }) => toolName)).toEqual(["buyer"]);
  });

  it("resumes after a crash: neither its responses nor its calls are repeated", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders();
    const inner = (script: ScriptedTurn[]) => {
      const model = createScriptedModel(script);
      return {
        model,
        buyer: createSmartAgent({ model, tools: [order] }).asTool({ name: "buyer", description: "Buys" }),
      };
    };
    const first = inner([[call("order", { sku: "apple" })], () => new Promise(() => undefined)]);
    const outer = await createAgent(world, [[call("buyer", { input: "Buy." })]], { tools: [first.buyer] });
    const stop = new AbortController();
    const stopped = outer.agent.invoke(ask("Buy.", "r1"), { signal: stop.signal });
    while (first.model.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    stop.abort(new Error("killed"));
    await expect(stopped).rejects.toMatchObject({ code: "TOOL_ABORTED" });
    await world.killAll();
    const second = inner(["It is bought."]);
    const again = await createAgent(world, ["Thanks."], { tools: [second.buyer] });
    expect((await again.agent.invoke({ runId: "r1" })).content).toBe("Thanks.");
    expect(placed).toEqual(["apple"]);
    expect(second.model.requests).toHaveLength(1);
    expect(again.model.requests).toHaveLength(1);
  });

  it("a pending call inside it is shown, makes the enclosing call wait, and resumes when it is decided", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders({ needsApproval: true });
    const model = createScriptedModel([[call("order", { sku: "apple" })], "I bought it."]);
    const buyer = createSmartAgent({ name: "buyer", model, tools: [order] });
    const outer = await createAgent(world, [[call("buyer", { input: "Buy." }, "c1")], "Thanks."], {
      tools: [buyer],
    });
    const paused = await outer.agent.invoke(ask("Buy."));
    expect(paused.status).toBe("waiting");
    expect(paused.state.pendingApprovals).toMatchObject([
      { toolName: "order", args: { sku: "apple" }, toolCallId: "c1" },
    ]);
    expect(paused.state.pendingApprovals[0]?.parentExecutionId).toBe(
      paused.state.toolHistory[0]?.executionId,
    );
    expect(paused.state.toolHistory).toMatchObject([{ toolName: "buyer", status: "pending" }]);
    const state = JSON.parse(JSON.stringify(paused.state)) as AgentState;
    const next = outer.agent.resolveToolApproval(state, {
      id: state.pendingApprovals[0]?.id ?? "",
      approved: true,
    });
    const done = await outer.agent.invoke(next);
    expect(done.content).toBe("Thanks.");
    expect(placed).toEqual(["apple"]);
    expect([model.requests.length, outer.model.requests.length]).toEqual([2, 2]);
    expect(outer.model.requests[1]?.toolResults).toEqual([{ toolName: "buyer", output: "I bought it." }]);
  });

  it("a deeply nested pending call is shown with the call of its agent, and each agent shows its own", async () => {
    const world = await createWorld();
    const { order } = createOrders({ needsApproval: true });
    const told: Record<string, unknown[]> = {};
    const agentOf = (name: string, script: ScriptedTurn[], tools: SmartAgentOptions["tools"]) =>
      createSmartAgent({
        name,
        tools,
        model: createScriptedModel(script),
        onEvent: (event) => {
          if (event.type === "tool_approval") (told[name] ??= []).push([event.args, event.toolCallId]);
        },
      });
    const skus = (...list: string[]) => [list.map((sku) => call("order", { sku }, `inner-${sku}`))];
    const far = agentOf("far", skus("apple"), [order]);
    const near = agentOf("near", [[call("far", { input: "Buy." }, "n1")]], [far]);
    const other = agentOf("other", skus("pear", "plum"), [order]);
    const outer = await createAgent(
      world,
      [[call("other", { input: "Buy." }, "c1"), call("near", { input: "Buy." }, "c2")]],
      { tools: [near, other] },
    );
    const { state } = await outer.agent.invoke(ask("Buy."));
    const waiting = state.pendingApprovals.map(({ args, toolCallId }) => [args, toolCallId]);
    // The approvals of one inner agent are requested concurrently: the store may list them in any order.
    expect(waiting.slice(0, 2)).toEqual(
      expect.arrayContaining([
        [{ sku: "pear" }, "c1"],
        [{ sku: "plum" }, "c1"],
      ]),
    );
    expect(waiting.slice(2)).toEqual([[{ sku: "apple" }, "c2"]]);
    expect(told).toEqual({
      far: [[{ sku: "apple" }, "inner-apple"]],
      near: [[{ sku: "apple" }, "n1"]],
      other: [
        [{ sku: "pear" }, "inner-pear"],
        [{ sku: "plum" }, "inner-plum"],
      ],
    });
  });

  it("shares the budgets of the run: calls and tokens inside count outside", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders();
    const skus = ["a", "b", "c", "d"];
    const model = createScriptedModel([skus.map((sku) => call("order", { sku })), "Some."]);
    const buyer = createSmartAgent({ name: "buyer", model, tools: [order] });
    const outer = await createAgent(world, [[call("buyer", { input: "Buy four." })], "Enough."], {
      tools: [buyer],
      limits: { maxToolCalls: 3 },
    });
    const result = await outer.agent.invoke(ask("Buy."));
    // One of them is the call of the buyer itself.
    expect(placed).toHaveLength(2);
    expect(result).toMatchObject({ budget: "maxToolCalls", content: "Enough." });
    expect(model.requests[1]?.toolNames).toEqual([]);
    const tokens = createScriptedModel([
      [call("order", { sku: "x" })],
      [call("order", { sku: "y" })],
      "Inside.",
    ]);
    const talker = createSmartAgent({ name: "talker", model: tokens, tools: [order] });
    const talking = await createAgent(world, [[call("talker", { input: "Talk." })], "Outside."], {
      tools: [talker],
      limits: { maxTotalOutputTokens: 15 },
    });
    expect(await talking.agent.invoke(ask("Talk."))).toMatchObject({ budget: "maxTotalOutputTokens" });
    expect(tokens.requests.map(({ toolNames }) => toolNames.length > 0)).toEqual([true, true, false]);
  });

  it("respects its own limits", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders();
    const model = createScriptedModel([["a", "b", "c"].map((sku) => call("order", { sku })), "One."]);
    const buyer = createSmartAgent({ name: "buyer", model, tools: [order], limits: { maxToolCalls: 1 } });
    const outer = await createAgent(
      world,
      [[call("buyer", { input: "Buy." })], [call("order", { sku: "z" })], "Done."],
      {
        tools: [buyer, order],
      },
    );
    expect(await outer.agent.invoke(ask("Buy."))).toMatchObject({ stop: "answer" });
    expect(placed).toEqual(["a", "z"]);
    expect(model.requests[1]?.toolNames).toEqual([]);
  });

  it("two in parallel do not swap responses", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders();
    const model = createScriptedModel(
      [
        ({ turn, text, toolResults }) =>
          turn === 0 ? [call("order", { sku: text })] : `Got ${JSON.stringify(toolResults[0]?.output)}.`,
      ],
      { atEnd: "repeat-last" },
    );
    const buyer = createSmartAgent({ name: "buyer", model, tools: [order] });
    const outer = await createAgent(
      world,
      [[call("buyer", { input: "apple" }), call("buyer", { input: "pear" })], "Done."],
      { tools: [buyer] },
    );
    await outer.agent.invoke(ask("Buy."));
    expect(outer.model.requests[1]?.toolResults.map(({ output }) => output)).toEqual([
      expect.stringContaining("apple"),
      expect.stringContaining("pear"),
    ]);
    expect(placed.toSorted()).toEqual(["apple", "pear"]);
  });

  it("an agent without a name cannot be a tool", async () => {
    const world = await createWorld();
    const nameless = createSmartAgent({ model: createScriptedModel([]) });
    await expect(createAgent(world, [], { tools: [nameless] })).rejects.toMatchObject({
      code: "TOOL_DEFINITION_INVALID",
    });
    expect(() => nameless.asTool({})).toThrow("needs a name");
  });

  it("is part of its caller's run, even if it was created with another runtime", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders({ needsApproval: true });
    const inner = await createAgent(world, [[call("order", { sku: "apple" })], "Bought."], {
      name: "buyer",
      tools: [order],
    });
    const outer = await createAgent(world, [[call("buyer", { input: "Buy." })], "Thanks."], {
      tools: [inner.agent],
    });
    const paused = await outer.agent.invoke(ask("Buy."));
    expect(paused).toMatchObject({ status: "waiting", state: { pendingApprovals: [{ toolName: "order" }] } });
    const id = paused.state.pendingApprovals[0]?.id ?? "";
    const done = await outer.agent.invoke(
      outer.agent.resolveToolApproval(paused.state, { id, approved: true }),
    );
    expect(done.content).toBe("Thanks.");
    expect(placed).toEqual(["apple"]);
    expect(outer.model.requests[1]?.toolResults).toEqual([{ toolName: "buyer", output: "Bought." }]);
  });

  it("cannot wait outside any run, and reports it", async () => {
    const world = await createWorld();
    const { order } = createOrders({ needsApproval: true });
    const { agent } = await createAgent(world, [[call("order", { sku: "apple" })]], { tools: [order] });
    await expect(agent.asTool({ name: "buyer" }).invoke({ input: "Buy." })).rejects.toMatchObject({
      code: "TOOL_APPROVAL_REQUIRED",
    });
  });

  it("has its own byte limit, separate from its caller's", async () => {
    const world = await createWorld();
    const look = defineTool({
      name: "look",
      schema: z.object({ n: z.number() }),
      execute: () => "x".repeat(1_000),
    });
    const script = [[call("look", { n: 1 })], [call("look", { n: 2 })], "That is all."];
    const inner = await createAgent(world, script, {
      name: "scout",
      tools: [look],
      limits: { maxTotalOutputBytes: 1_500 },
    });
    const outer = await createAgent(
      world,
      [[call("scout", { input: "Look." })], [call("look", { n: 3 })], "Done."],
      { tools: [inner.agent, look] },
    );
    expect((await outer.agent.invoke(ask("Look."))).content).toBe("Done.");
    expect(inner.model.requests.map(({ toolNames }) => toolNames.length > 0)).toEqual([true, true, false]);
    expect(outer.model.requests[2]?.toolResults).toMatchObject([{ toolName: "look" }]);
  });

  it("has the name of the agent, unless another is given", async () => {
    const { agent } = await createAgent(await createWorld(), [], { name: "buyer" });
    expect(agent.asTool({ description: "Buys." })).toMatchObject({ name: "buyer", description: "Buys." });
    expect(agent.asTool({ name: "shopper" }).name).toBe("shopper");
  });
});
