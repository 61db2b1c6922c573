/** The same run id resumes a loop: logged responses are not requested again, and logged calls are not repeated. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import {
  type AgentLoopEvent,
  createSmithers,
  defineTool,
  runAgentLoop,
  runChatTurn,
  runWorkflow,
} from "toolwright";
import { taskTools } from "toolwright/tools";
import { jsx } from "toolwright/jsx-runtime";
import { createStorePath, endAllOwners, rowsOf, until } from "../workflow/harness.ts";
import { call, createOrders, eventsOf, jsonOf, openRuntime, resultsIn, serve, user } from "./harness.ts";

const model = "claude-test";
const messages = [user("Order.")];

test.each([false, true])(
  "resumes after an error of the API, and then returns the stored result (stream: %s)",
  async (stream) => {
    const { placed, order } = createOrders();
    const store = createStorePath();
    const { server, client } = await serve([
      [call("shop_order", { sku: "apple" }, "a")],
      { status: 529 },
      [call("shop_order", { sku: "apple" }, "b")],
      "Two apples.",
    ]);
    const options = { client, model, messages, tools: [order], runId: "r", stream };
    const failed = await runAgentLoop({ ...options, runtime: openRuntime(store) });
    expect(failed).toMatchObject({ status: "failed", stop: "api-error", error: { status: 529 } });
    expect(failed.reason).toContain("overloaded_error");
    expect(failed.messages).toHaveLength(3);

    const events: AgentLoopEvent[] = [];
    const runtime = openRuntime(store);
    const result = await runAgentLoop({ ...options, runtime, onEvent: (event) => events.push(event) });
    expect(result).toMatchObject({ status: "complete", reason: "Two apples." });
    // The second apple is a second order; the first is not repeated.
    expect(placed).toEqual(["apple", "apple"]);
    expect(server.requests).toHaveLength(4);
    expect(eventsOf(events, "response-received").map(({ replayed }) => replayed)).toEqual([
      true,
      false,
      false,
    ]);

    expect(await runAgentLoop({ ...options, runtime: openRuntime(store) })).toEqual(result);
    expect(server.requests).toHaveLength(4);
    expect(await rowsOf(store, "SELECT * FROM toolwright_responses")).toEqual([]);
  },
);

test("the client retries by itself", async () => {
  const { server, client } = await serve(
    [
      { status: 429, headers: { "retry-after-ms": "1" } },
      { status: 500, headers: { "retry-after-ms": "1" } },
      "Hello.",
    ],
    { maxRetries: 2 },
  );
  const result = await runAgentLoop({ client, model, messages, tools: [], runtime: openRuntime() });
  expect(result).toMatchObject({ status: "complete", reason: "Hello." });
  expect(server.requests).toHaveLength(3);
});

test.each([
  ["a stream that breaks off", { text: "I will order a lot", cutAfter: 5 }, true],
  ["a body that breaks off", { text: "I will order a lot", cutAfter: 1 }, false],
  ["a stream of garbage", { garbage: "event: message_start\ndata: {{{\n\n" }, true],
  [
    "an incomplete stream",
    { garbage: 'event: message_start\ndata: {"type":"message_start","message":{"content":[]}}\n\n' },
    true,
  ],
  ["a body of garbage", { garbage: "<html>" }, false],
  ["a body that is not a message", { garbage: '{"content": [{"type": "tool_use"}]}' }, false],
] as const)("%s leaves nothing, and the run can be resumed", async (_, answer, stream) => {
  const events: AgentLoopEvent[] = [];
  const { server, client } = await serve([answer, "Hello."]);
  const options = { client, model, messages, tools: [], runtime: openRuntime(), runId: "r", stream };
  const failed = await runAgentLoop({ ...options, onEvent: (event) => events.push(event) });
  expect(failed).toMatchObject({ status: "failed", stop: "api-error", messages });
  expect(events.some(({ type }) => type === "response-discarded")).toBe(
    events.some(({ type }) => type === "text-delta"),
  );
  expect(await runAgentLoop(options)).toMatchObject({ status: "complete", reason: "Hello." });
  expect(server.requests).toHaveLength(2);
});

test("a run id that belongs to another input is refused", async () => {
  const { server, client } = await serve(["One.", "Two."]);
  const runtime = openRuntime();
  const options = { client, model, tools: [], runtime, runId: "r" };
  await runAgentLoop({ ...options, messages });
  const taken = { code: "TOOL_RUN_TAKEN", message: expect.stringContaining('Run "r"') };
  await expect(runAgentLoop({ ...options, messages: [user("Something else.")] })).rejects.toMatchObject(
    taken,
  );
  await expect(runChatTurn({ ...options, messages })).rejects.toMatchObject(taken);
  expect(server.requests).toHaveLength(1);
});

test("a resume uses the original system prompt", async () => {
  const { server, client } = await serve([{ status: 500 }, "Hello."]);
  const options = { client, model, messages, tools: [], runtime: openRuntime(), runId: "r" };
  await runAgentLoop({ ...options, system: "It is Monday." });
  await runAgentLoop({ ...options, system: "It is Tuesday." });
  expect(server.requests.map(({ body }) => body["system"])).toEqual(["It is Monday.", "It is Monday."]);
});

test("with other tools, the loop continues live, reports it, and repeats no effect", async () => {
  const { placed, order } = createOrders();
  const { server, client } = await serve([
    [call("shop_order", { sku: "apple" }, "a")],
    { status: 500 },
    [call("shop_order", { sku: "apple" }, "z")],
    "Done.",
  ]);
  const options = { client, model, messages, runtime: openRuntime(), runId: "r" };
  await runAgentLoop({ ...options, tools: [order] });
  const events: AgentLoopEvent[] = [];
  const result = await runAgentLoop({
    ...options,
    tools: { order, ...taskTools },
    onEvent: (event) => events.push(event),
  });
  expect(result.status).toBe("complete");
  expect(eventsOf(events, "replay-diverged")).toMatchObject([{ position: 0, turn: 1 }]);
  expect(placed).toEqual(["apple"]);
  expect(server.requests).toHaveLength(4);
});

test("a loop that continues live is warned about earlier calls that it has not repeated, and a resume repeats the warning", async () => {
  const { placed, order } = createOrders();
  const inner = createOrders();
  const bundle = defineTool({
    name: "bundle",
    schema: z.object({}),
    idempotent: true,
    sideEffect: true,
    execute: () => inner.order.invoke({ sku: "nuts" }),
  });
  const { server, client } = await serve([
    [call("shop_order", { sku: "apple" }, "a"), call("bundle", {}, "b")],
    [call("shop_order", { sku: "pear" }, "c")],
    { status: 500 },
    [call("shop_order", { sku: "plum" }, "d")],
    { status: 500 },
    "Done.",
  ]);
  const options = { client, model, messages, runtime: openRuntime(), runId: "r" };
  await runAgentLoop({ ...options, tools: [order, bundle] });
  const changed = { ...options, params: { tool_choice: { type: "any" as const } }, tools: [order, bundle] };
  await runAgentLoop(changed);
  const told = JSON.stringify(server.requests[3]?.body.messages);
  for (const sku of ["apple", "nuts", "pear"]) expect(told).toContain(sku);
  const events: AgentLoopEvent[] = [];
  const result = await runAgentLoop({ ...changed, onEvent: (event) => events.push(event) });
  expect(result).toMatchObject({ status: "complete" });
  expect(eventsOf(events, "messages-steered")[0]).toMatchObject({
    turn: 1,
    replayed: true,
    messages: [{ content: expect.stringContaining("must not be repeated") as string }],
  });
  expect(placed).toEqual(["apple", "pear", "plum"]);
});

test("the end of maxTurns is reported, and a higher one resumes the loop", async () => {
  const { placed, order } = createOrders();
  const { server, client } = await serve([
    [call("shop_order", { sku: "a" })],
    [call("shop_order", { sku: "b" })],
    "Done.",
  ]);
  const options = { client, model, messages, tools: [order], runtime: openRuntime(), runId: "r" };
  const stopped = await runAgentLoop({ ...options, maxTurns: 1 });
  expect(stopped).toMatchObject({ status: "failed", stop: "max-turns" });
  expect(await runAgentLoop({ ...options, maxTurns: 1 })).toEqual(stopped);
  expect(server.requests).toHaveLength(1);
  expect(await runAgentLoop({ ...options, maxTurns: 5 })).toMatchObject({
    status: "complete",
    reason: "Done.",
  });
  expect(placed).toEqual(["a", "b"]);
  expect(server.requests).toHaveLength(3);
});

test("of two concurrent loops with one run id, one runs and the other is refused", async () => {
  const { placed, order } = createOrders();
  const refused = Promise.withResolvers<void>();
  const { client } = await serve([
    async () => {
      // A loop that starts after the end would return the stored result.
      await refused.promise;
      return [call("shop_order", { sku: "a" })];
    },
    "Done.",
  ]);
  const store = createStorePath();
  const run = () =>
    runAgentLoop({ client, model, messages, tools: [order], runtime: openRuntime(store), runId: "r" });
  const loops = [run(), run()];
  for (const loop of loops) loop.catch(() => refused.resolve());
  const both = await Promise.allSettled(loops);
  expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(both.find(({ status }) => status === "rejected")).toMatchObject({
    reason: { code: "TOOL_RUN_CONFLICT" },
  });
  expect(placed).toEqual(["a"]);
});

test("a process whose run was taken over logs nothing and runs nothing", async () => {
  const { placed, order } = createOrders();
  const store = createStorePath();
  const held = Promise.withResolvers<void>();
  const { server, client } = await serve([
    async () => {
      await held.promise;
      return [call("shop_order", { sku: "stale" })];
    },
    [call("shop_order", { sku: "fresh" })],
    "Done.",
  ]);
  const run = () =>
    runAgentLoop({ client, model, messages, tools: [order], runtime: openRuntime(store), runId: "r" });
  const first = run();
  const refused = expect(first).rejects.toMatchObject({ code: "TOOL_RUN_FENCED" });
  await until(() => server.requests.length === 1);
  await endAllOwners(store);
  expect(await run()).toMatchObject({ status: "complete" });
  held.resolve();
  await refused;
  expect(placed).toEqual(["fresh"]);
});

test("inside a run a loop is part of it, and resumes with it", async () => {
  const { placed, order } = createOrders();
  const { server, client } = await serve([[call("shop_order", { sku: "a" })], { status: 500 }, "Done."]);
  const store = createStorePath();
  const run = () => {
    const runtime = openRuntime(store);
    return runtime.run({ runId: "outer", nodeId: "buy" }, () =>
      runAgentLoop({ client, model, messages, tools: [order], runtime }),
    );
  };
  expect(await run()).toMatchObject({ status: "failed", runId: "outer" });
  expect(await run()).toMatchObject({ status: "complete", runId: "outer" });
  expect(placed).toEqual(["a"]);
  expect(server.requests).toHaveLength(3);
  expect(await openRuntime(store).calls({ runId: "outer" })).toMatchObject([
    { nodeId: "buy", status: "success" },
  ]);
});

test("a run id of a workflow cannot be used for a loop", async () => {
  const { Workflow, Task, smithers, outputs } = createSmithers(
    { output: z.object({ n: z.number() }) },
    { store: ":memory:" },
  );
  const runtime = openRuntime();
  const workflow = smithers(() =>
    jsx(Workflow, {
      name: "w",
      children: jsx(Task, { id: "t", output: outputs.output, children: { n: 1 } }),
    }),
  );
  await runWorkflow(workflow, { runtime, runId: "r", input: {} });
  const { client } = await serve([]);
  await expect(
    runAgentLoop({ client, model, messages, tools: [], runtime, runId: "r" }),
  ).rejects.toMatchObject({
    code: "TOOL_RUN_TAKEN",
  });
});

test("redacted values are stored nowhere once the loop has ended, and a resume works with the marks", async () => {
  const pay = defineTool({
    name: "pay",
    schema: z.object({ card: z.string() }),
    redact: { input: ["card"], output: ["token"] },
    execute: ({ card }) => ({ token: `token of ${card}`, paid: true }),
  });
  const { server, client } = await serve([
    [call("pay", { card: "4111-1111" }, "a")],
    [call("pay", { card: "4222-2222" }, "b")],
    { status: 500 },
    "Paid.",
  ]);
  const store = createStorePath();
  const options = { client, model, messages, tools: [pay], runId: "r" };
  await runAgentLoop({ ...options, runtime: openRuntime(store) });
  // The live request had the clear values; the second response is found although the resume only has the marks.
  expect(jsonOf(resultsIn(server.requests[1]?.body.messages[2])[0])).toMatchObject({
    token: "token of 4111-1111",
  });
  const result = await runAgentLoop({ ...options, runtime: openRuntime(store) });
  expect(result).toMatchObject({ status: "complete", reason: "Paid." });
  expect(result.messages).toHaveLength(6);
  expect(server.requests).toHaveLength(4);
  const kept = JSON.stringify([
    await rowsOf(store, "SELECT * FROM toolwright_turns"),
    await rowsOf(store, "SELECT * FROM toolwright_responses"),
    await rowsOf(store, "SELECT * FROM toolwright_calls"),
  ]);
  expect(kept).not.toMatch(/4111-1111|4222-2222/);
  const again = await runAgentLoop({ ...options, runtime: openRuntime(store) });
  expect(JSON.stringify(again.messages)).toContain("[redacted sha256:");
});

test("no byte of redacted values is left in the file once the loop has ended and its runtime is closed", async () => {
  const pay = defineTool({
    name: "pay",
    schema: z.object({ card: z.string() }),
    redact: { input: ["card"], output: ["token"] },
    needsApproval: true,
    execute: ({ card }) => ({ token: `token of ${card}`, paid: true }),
  });
  const card = "4111-1111-".repeat(1_000);
  const { client } = await serve([[call("pay", { card }, "a"), call("pay", "4111-1111", "b")], "Paid."]);
  const store = createStorePath();
  const options = { client, model, messages, tools: [pay], runId: "r" };
  for (const status of ["waiting", "complete"]) {
    const runtime = openRuntime(store);
    expect(await runAgentLoop({ ...options, runtime })).toMatchObject({ status });
    for (const { id } of await runtime.approvals({ status: "pending" })) {
      await runtime.resolveToolApproval(id, { approved: true });
    }
    await runtime[Symbol.asyncDispose]();
  }
  expect(readFileSync(store).includes("4111-1111")).toBe(false);
});

test("the responses of a loop inside of a tool are deleted once the tool has ended", async () => {
  const { client } = await serve([[call("pay", { card: "4111-1111" }, "a")], "Paid."]);
  const pay = defineTool({
    name: "pay",
    schema: z.object({ card: z.string() }),
    redact: { input: ["card"] },
    execute: () => "paid",
  });
  const shop = defineTool({
    name: "shop",
    schema: z.object({}),
    execute: async () => (await runAgentLoop({ client, model, messages, tools: [pay] })).reason,
  });
  const store = createStorePath();
  const runtime = openRuntime(store);
  expect(await runtime.run({ runId: "r" }, () => shop.invoke({}))).toBe("Paid.");
  expect(await rowsOf(store, "SELECT * FROM toolwright_responses")).toEqual([]);
});

test("a default that differs in every process is not a change of the tool", async () => {
  const placed: unknown[] = [];
  // As a second process would define it.
  const define = () =>
    defineTool({
      name: "order",
      schema: z.object({ sku: z.string(), id: z.string().default(() => crypto.randomUUID()) }),
      needsApproval: true,
      execute: ({ sku }) => placed.push(sku),
    });
  const { server, client } = await serve([[call("order", { sku: "apple" }, "a")], "Done."]);
  const store = createStorePath();
  const events: AgentLoopEvent[] = [];
  const options = {
    client,
    model,
    messages,
    runId: "r",
    onEvent: (event: AgentLoopEvent) => events.push(event),
  };
  const before = openRuntime(store);
  await runAgentLoop({ ...options, tools: [define()], runtime: before });
  for (const { id } of await before.approvals({ status: "pending" })) {
    await before.resolveToolApproval(id, { approved: true });
  }
  const result = await runAgentLoop({ ...options, tools: [define()], runtime: openRuntime(store) });
  expect(result).toMatchObject({ status: "complete" });
  expect(eventsOf(events, "replay-diverged")).toEqual([]);
  expect([placed, server.requests.length]).toEqual([["apple"], 2]);
});

test("without a runtime one is opened on toolwright.db and closed, and without a run id each run is new", async () => {
  const { placed, order } = createOrders();
  const { client } = await serve([
    [call("shop_order", { sku: "a" })],
    "Done.",
    [call("shop_order", { sku: "a" })],
    "Done.",
  ]);
  const before = process.cwd();
  process.chdir(createStorePath().replace(/\/[^/]*$/, ""));
  try {
    const one = await runAgentLoop({ client, model, messages, tools: [order] });
    const other = await runAgentLoop({ client, model, messages, tools: [order] });
    expect(one.runId).not.toBe(other.runId);
    expect(placed).toEqual(["a", "a"]);
    expect(await rowsOf("toolwright.db", "SELECT DISTINCT run_id FROM toolwright_turns")).toHaveLength(2);
  } finally {
    process.chdir(before);
  }
});
