import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createSmartAgent, createTool, defineTool, fromTool, type AgentState } from "toolwright";
import { createScriptedModel } from "toolwright/testing";
import { createFolder, until } from "../workflow/harness.ts";
import { ask, call, createAgent, createOrders, createWorld, eventsOf, user } from "./harness.ts";

const copy = (state: AgentState): AgentState => JSON.parse(JSON.stringify(state)) as AgentState;

describe("approvals", () => {
  it("a risky call waits across a restart, and resumes when it is approved: by state and by run id", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders({ needsApproval: true });
    const first = await createAgent(world, [[call("order", { sku: "apple" }, "c1")]], { tools: [order] });
    const paused = await first.agent.invoke(ask("Order."));
    expect(paused).toMatchObject({ status: "waiting", stop: "approval" });
    expect(paused.state.pendingApprovals).toMatchObject([
      { toolName: "order", args: { sku: "apple" }, status: "pending", toolCallId: "c1" },
    ]);
    expect(eventsOf(first.events, "tool_approval")).toMatchObject([{ status: "pending", toolName: "order" }]);
    expect(placed).toEqual([]);
    await world.killAll();
    const second = await createAgent(world, ["Ordered."], { tools: [order] });
    const state = copy(paused.state);
    const next = second.agent.resolveToolApproval(state, {
      id: state.pendingApprovals[0]?.id ?? "",
      approved: true,
    });
    expect(next.pendingApprovals[0]?.status).toBe("approved");
    const done = await second.agent.invoke(next);
    expect(done).toMatchObject({ status: "finished", content: "Ordered." });
    expect(done.state.pendingApprovals).toEqual([]);
    expect(placed).toEqual(["apple"]);
    expect((await second.agent.invoke({ runId: paused.runId })).content).toBe("Ordered.");
    expect(placed).toEqual(["apple"]);
  });

  it("without a runtime they are stored in toolwright.db, like the run", async () => {
    const before = process.cwd();
    process.chdir(createFolder());
    try {
      const { placed, order } = createOrders({ needsApproval: true });
      const model = createScriptedModel([[call("order", { sku: "apple" })], "Ordered."]);
      const agent = createSmartAgent({ model, tools: [order] });
      const { state } = await agent.invoke(ask("Order."));
      const id = state.pendingApprovals[0]?.id ?? "";
      const done = await agent.invoke(agent.resolveToolApproval(state, { id, approved: true }));
      expect(done).toMatchObject({ status: "finished", content: "Ordered." });
      expect(placed).toEqual(["apple"]);
    } finally {
      process.chdir(before);
    }
  });

  it("can be awaited; a serialised state holds no decision; a tampered state approves nothing", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders({ needsApproval: true });
    const { agent } = await createAgent(world, [[call("order", { sku: "apple" })], "Done."], {
      tools: [order],
    });
    const { state } = await agent.invoke(ask("Order.", "r1"));
    const forged = copy(state);
    Object.assign(forged.pendingApprovals[0] ?? {}, {
      status: "approved",
      approvedArgs: { sku: "car" },
      decidedBy: "boss",
    });
    expect((await agent.invoke(forged)).status).toBe("waiting");
    expect((await agent.invoke({ ...copy(state), pendingApprovals: [], status: "finished" })).status).toBe(
      "waiting",
    );
    expect(placed).toEqual([]);
    const next = agent.resolveToolApproval(state, {
      id: state.pendingApprovals[0]?.id ?? "",
      approved: true,
    });
    expect(copy(next).pendingApprovals[0]?.status).toBe("pending");
    expect(structuredClone(next).pendingApprovals).toHaveLength(1);
    const awaited = await next;
    expect(awaited.runId).toBe("r1");
    expect((await agent.invoke(awaited)).content).toBe("Done.");
    expect(placed).toEqual(["apple"]);
  });

  it("a state of another run, or with different messages, is refused", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders({ needsApproval: true });
    const { agent } = await createAgent(
      world,
      [[call("order", { sku: "a" })], [call("order", { sku: "b" })]],
      { tools: [order] },
    );
    const one = await agent.invoke(ask("One.", "r1"));
    const two = await agent.invoke(ask("Two.", "r2"));
    await expect(agent.invoke({ ...one.state, runId: "r2" })).rejects.toMatchObject({
      code: "TOOL_RUN_TAKEN",
    });
    await expect(agent.invoke({ ...one.state, runId: "r3" })).rejects.toMatchObject({
      code: "TOOL_RUN_NOT_FOUND",
    });
    const id = two.state.pendingApprovals[0]?.id ?? "";
    expect(() => agent.resolveToolApproval(one.state, { id, approved: true })).toThrow(
      "must be the id of a pending approval",
    );
    const stolen = { ...one.state, pendingApprovals: two.state.pendingApprovals };
    await expect(
      agent.invoke(agent.resolveToolApproval(stolen, { id, approved: true })),
    ).rejects.toMatchObject({
      code: "TOOL_APPROVAL_NOT_FOUND",
    });
    expect(placed).toEqual([]);
  });

  it("two decisions on one paused state: one counts, the other gets an error, nothing runs twice", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders({ needsApproval: true });
    const { agent } = await createAgent(world, [[call("order", { sku: "apple" })], "Done."], {
      tools: [order],
    });
    const { state } = await agent.invoke(ask("Order."));
    const id = state.pendingApprovals[0]?.id ?? "";
    const yes = agent.resolveToolApproval(copy(state), { id, approved: true });
    const no = agent.resolveToolApproval(copy(state), { id, approved: false });
    const outcomes = await Promise.allSettled([agent.invoke(yes), agent.invoke(no)]);
    // On a server either may be first.
    const isApproved = outcomes[0].status === "fulfilled";
    const [counted, late] = isApproved ? outcomes : outcomes.toReversed();
    expect(counted).toMatchObject({ status: "fulfilled", value: { content: "Done." } });
    expect(late).toMatchObject({ status: "rejected", reason: { code: "TOOL_APPROVAL_SETTLED" } });
    expect(placed).toEqual(isApproved ? ["apple"] : []);
  });

  it("two branches from one paused state do not mix", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders({ needsApproval: true });
    const { agent, model } = await createAgent(
      world,
      [
        [call("order", { sku: "apple" })],
        ({ text }) => `Branch: ${text}`,
        ({ text }) => `Branch: ${text}`,
        "Ordered.",
      ],
      { tools: [order] },
    );
    const { state } = await agent.invoke(ask("Order.", "r1"));
    const saying = (text: string): AgentState => ({
      ...copy(state),
      messages: [...state.messages, user(text)],
    });
    const left = await agent.invoke(saying("left"));
    const right = await agent.invoke(saying("right"));
    expect([left.content, right.content]).toEqual(["Branch: left", "Branch: right"]);
    expect(new Set(["r1", left.runId, right.runId]).size).toBe(3);
    expect((await agent.invoke(saying("left"))).content).toBe("Branch: left");
    expect(model.requests).toHaveLength(3);
    const id = state.pendingApprovals[0]?.id ?? "";
    const approved = await agent.invoke(agent.resolveToolApproval(state, { id, approved: true }));
    expect(approved).toMatchObject({ content: "Ordered.", runId: "r1" });
    expect(placed).toEqual(["apple"]);
  });

  it("one id for several calls, in one response and in the next, is several calls with one approval each", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders({ needsApproval: true });
    const again = call("order", { sku: "apple" }, "x");
    const { agent, runtime } = await createAgent(world, [[again, again], [again], "Done."], {
      tools: [order],
    });
    let approved = 0;
    let result = await agent.invoke(ask("Order.", "r"));
    while (result.status === "waiting") {
      for (const { id } of await runtime.approvals({ status: "pending" })) {
        await runtime.resolveToolApproval(id, { approved: true });
        approved += 1;
      }
      result = await agent.invoke({ runId: "r" });
    }
    expect(placed).toHaveLength(3);
    expect(approved).toBe(3);
  });

  it("two concurrent invokes from one finished state are two branches", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders();
    const { agent } = await createAgent(
      world,
      ["Hello.", ...["a", "b", "c"].flatMap(() => [answerTo, answerTo])],
      { tools: [order] },
    );
    const { state } = await agent.invoke(ask("Hi."));
    const invoke = (sku: string) =>
      agent.invoke({ ...state, messages: [...state.messages, user(`Order ${sku}.`)] });
    const results = await Promise.all(["a", "b", "c"].map(invoke));
    expect(results.map(({ content }) => content)).toEqual(["ordered a", "ordered b", "ordered c"]);
    expect(new Set(results.map(({ runId }) => runId)).size).toBe(3);
    expect(placed.toSorted()).toEqual(["a", "b", "c"]);
    // Each of them is replayed, and nothing is ordered twice.
    const again = await Promise.all(["a", "b", "c"].map(invoke));
    expect(again.map(({ runId, content }) => [runId, content])).toEqual(
      results.map(({ runId, content }) => [runId, content]),
    );
    expect(placed).toHaveLength(3);
    // And each resumes by itself.
    expect(results.filter(({ runId }) => runId === state.runId)).toHaveLength(1);
  });

  it.each(["the run itself", "a branch"])(
    "concurrent invokes with the same input share one turn of %s",
    async (where) => {
      const world = await createWorld();
      const { placed, order } = createOrders();
      const { agent } = await createAgent(world, ["Hello.", answerTo, answerTo, answerTo, answerTo], {
        tools: [order],
      });
      const { state } = await agent.invoke(ask("Hi."));
      const invoke = (sku: string) =>
        agent.invoke({ ...state, messages: [...state.messages, user(`Order ${sku}.`)] });
      if (where === "a branch") await invoke("a");
      const results = await Promise.all(["b", "b", "b"].map(invoke));
      expect(results.map(({ content }) => content)).toEqual(["ordered b", "ordered b", "ordered b"]);
      expect(new Set(results.map(({ runId }) => runId)).size).toBe(1);
      expect(placed.filter((sku) => sku === "b")).toHaveLength(1);
    },
  );

  it("a branch finds the results of its origin, and has its own next invoke", async () => {
    const world = await createWorld();
    const { order } = createOrders();
    const risky = createOrders({ needsApproval: true });
    const { agent, model } = await createAgent(
      world,
      [
        [call("order", { sku: "apple" }, "early")],
        [call("risky", { sku: "car" })],
        [call("get_tool_response", { tool_call_id: "early" })],
        "Seen.",
        "And again.",
      ],
      { tools: [order, fromTool(risky.order, { name: "risky" })] },
    );
    const { state } = await agent.invoke(ask("Order.", "r1"));
    const branch = await agent.invoke({ ...state, messages: [...state.messages, user("Never mind.")] });
    expect(model.requests[3]?.toolResults).toMatchObject([
      { output: { content: '{"order":1,"sku":"apple"}' } },
    ]);
    const next = await agent.invoke({ ...branch.state, messages: [...branch.state.messages, user("And?")] });
    expect(next).toMatchObject({ content: "And again.", runId: branch.runId });
    expect(next.state.toolHistory.map(({ toolName }) => toolName)).toContain("get_tool_response");
  });

  it("one turn with approved, denied, pending, cached, failing and slow calls: each is independent, results are in order", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders({ needsApproval: true });
    let looks = 0;
    const look = createTool({
      name: "look",
      schema: z.object({ at: z.string() }),
      cache: true,
      func: async () => (looks += 1),
    });
    const fail = createTool({
      name: "fail",
      schema: z.object({}),
      func: () => Promise.reject(new Error("broken")),
    });
    const slow = createTool({
      name: "slow",
      schema: z.object({}),
      func: async () => {
        await new Promise((resolve) => setTimeout(resolve, 40));
        return "slow result";
      },
    });
    const turn = [
      call("slow", {}, "c1"),
      call("order", { sku: "apple" }, "c2"),
      call("look", { at: "x" }, "c3"),
      call("order", { sku: "pear" }, "c4"),
      call("fail", {}, "c5"),
      call("look", { at: "x" }, "c6"),
      call("order", { sku: "plum" }, "c7"),
    ];
    const { agent, model } = await createAgent(world, [turn, "All said."], {
      tools: [order, look, fail, slow],
    });
    const paused = await agent.invoke(ask("Go."));
    expect(paused.state.pendingApprovals.map(({ args }) => args)).toEqual([
      { sku: "apple" },
      { sku: "pear" },
      { sku: "plum" },
    ]);
    expect(paused.state.toolHistory.map(({ tool_call_id: id, status }) => `${id} ${status}`)).toEqual([
      "c1 success",
      "c2 pending",
      "c3 success",
      "c4 pending",
      "c5 error",
      "c6 success",
      "c7 pending",
    ]);
    const idOf = (sku: string): string =>
      paused.state.pendingApprovals.find(({ args }) => (args as { sku: string }).sku === sku)?.id ?? "";
    let state: AgentState = agent.resolveToolApproval(paused.state, { id: idOf("apple"), approved: true });
    state = agent.resolveToolApproval(state, { id: idOf("pear"), approved: false, comment: "too ripe" });
    const still = await agent.invoke(state);
    expect(still.status).toBe("waiting");
    expect(still.state.pendingApprovals.map(({ args }) => args)).toEqual([{ sku: "plum" }]);
    expect(placed).toEqual(["apple"]);
    expect(model.requests).toHaveLength(1);
    const done = await agent.invoke(
      agent.resolveToolApproval(still.state, {
        id: idOf("plum"),
        approved: true,
        approvedArgs: { sku: "prune" },
      }),
    );
    expect(done.content).toBe("All said.");
    expect(placed).toEqual(["apple", "prune"]);
    expect(looks).toBe(1);
    expect(model.requests[1]?.toolResults).toMatchObject([
      { output: "slow result" },
      { output: { sku: "apple" } },
      { output: 1 },
      { output: { is_error: true, error_type: "approval_denied" } },
      { output: { is_error: true, error_type: "execution_failed" } },
      { output: 1 },
      { output: { note: expect.stringMatching(/edited.*"prune"/), result: { sku: "prune" } } },
    ]);
    expect(
      done.state.toolHistory.map(({ tool_call_id, status, fromCache }) => [tool_call_id, status, fromCache]),
    ).toEqual([
      ["c1", "success", false],
      ["c2", "success", false],
      ["c3", "success", false],
      ["c4", "rejected", false],
      ["c5", "error", false],
      ["c6", "success", true],
      ["c7", "success", false],
    ]);
  });

  it("edited arguments are validated, and a reused call id with different arguments needs a new approval", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders({ needsApproval: true });
    const { agent } = await createAgent(
      world,
      [[call("order", { sku: "apple" }, "same")], [call("order", { sku: "diamond" }, "same")], "Done."],
      { tools: [order] },
    );
    const { state } = await agent.invoke(ask("Order."));
    const id = state.pendingApprovals[0]?.id ?? "";
    await expect(
      agent.invoke(agent.resolveToolApproval(state, { id, approved: true, approvedArgs: { sku: 7 } })),
    ).rejects.toMatchObject({ code: "TOOL_INPUT_INVALID" });
    const next = await agent.invoke(agent.resolveToolApproval(state, { id, approved: true }));
    expect(placed).toEqual(["apple"]);
    expect(next.state.pendingApprovals).toMatchObject([{ args: { sku: "diamond" }, status: "pending" }]);
    const denied = agent.resolveToolApproval(next.state, {
      id: next.state.pendingApprovals[0]?.id ?? "",
      approved: false,
    });
    expect((await agent.invoke(denied)).content).toBe("Done.");
    expect(placed).toEqual(["apple"]);
  });

  it("another process resumes a snapshot", async () => {
    const world = await createWorld();
    const { placed, order } = createOrders({ needsApproval: true });
    const first = await createAgent(world, [[call("order", { sku: "apple" })]], {
      tools: [order],
      name: "buyer",
    });
    const { state } = await first.agent.invoke(ask("Order."));
    const text = JSON.stringify(first.agent.snapshot(state));
    await first.runtime.resolveToolApproval(state.pendingApprovals[0]?.id ?? "", { approved: true });
    await world.killAll();
    const second = await createAgent(world, ["Ordered."], { tools: [order] });
    expect(
      (await second.agent.resume(JSON.parse(text) as ReturnType<typeof first.agent.snapshot>)).content,
    ).toBe("Ordered.");
    expect(placed).toEqual(["apple"]);
  });

  it.each([
    [{ resolution: "happened", output: { sku: "apple" } }, "approved", 1],
    [{ resolution: "run-again" }, "approved", 2],
    [{ resolution: "give-up" }, "rejected", 1],
  ] as const)("an interrupted call is settled by the decision %j", async (answer, status, effects) => {
    const world = await createWorld();
    let placed = 0;
    const order = createTool({
      name: "shop.order",
      schema: z.object({ sku: z.string() }),
      sideEffect: true,
      idempotent: false,
      acceptsIdempotencyKey: false,
      func: ({ sku }) => ((placed += 1) === 1 ? new Promise<{ sku: string }>(() => undefined) : { sku }),
    });
    const script = [[call("shop_order", { sku: "apple" })], "Done."];
    // Not disposed: its call never ends.
    const first = await createAgent(world, script, { tools: [order], runtime: await world.runtime() });
    void first.agent.invoke(ask("Order.", "r")).catch(() => undefined);
    await until(() => placed === 1);
    await world.killAll();
    const { agent, model } = await createAgent(world, ["Done."], { tools: [order] });
    const { state } = await agent.invoke(ask("Order.", "r"));
    const [pending] = state.pendingApprovals;
    expect(pending).toMatchObject({ kind: "replay", resolutions: ["happened", "run-again", "give-up"] });
    const id = pending?.id ?? "";
    // Returns immediately: nothing was decided, and no state says so.
    for (const approved of [true, false])
      expect(() => agent.resolveToolApproval(state, { id, approved })).toThrow(
        /"happened".*"run-again".*"give-up"/,
      );
    const decided = agent.resolveToolApproval(state, { id, ...answer });
    expect(decided.pendingApprovals).toMatchObject([{ id, status }]);
    expect((await agent.invoke(decided)).content).toBe("Done.");
    expect(placed).toBe(effects);
    const [result] = model.requests[0]?.toolResults ?? [];
    if (answer.resolution === "give-up")
      expect(result?.output).toMatchObject({
        is_error: true,
        message: expect.stringContaining("may have happened"),
      });
  });

  it("secrets are in no message, no state and no table", async () => {
    const world = await createWorld();
    const login = defineTool({
      name: "login",
      schema: z.object({ user: z.string(), password: z.string() }),
      redact: { input: ["password"], output: ["token"] },
      execute: ({ password }) => ({ token: `tok-${password}` }),
    });
    const { agent, model } = await createAgent(
      world,
      [[call("login", { user: "ann", password: "hunter22" })], "In."],
      { tools: [login] },
    );
    const result = await agent.invoke(ask("Log in."));
    expect(model.requests[1]?.toolResults).toEqual([
      { toolName: "login", output: { token: "tok-hunter22" } },
    ]);
    expect(JSON.stringify(result)).not.toContain("hunter22");
    expect(await world.dump()).not.toContain("hunter22");
    expect(JSON.stringify(await world.rows("SELECT * FROM toolwright_turns"))).not.toContain("hunter22");
  });
});

/** Orders the article that the last message names, then reports it. */
function answerTo({ text, toolResults }: { text: string; toolResults: readonly unknown[] }) {
  const sku = /Order (\w)/.exec(text)?.[1] ?? "";
  return toolResults.length === 0 ? [call("order", { sku })] : `ordered ${sku}`;
}
