/** The loop as its caller and the model see it: requests, results, ends. */
import { expect, test } from "vitest";
import { z } from "zod";
import {
  type AgentLoopEvent,
  createRegistry,
  createRuntime,
  defineTool,
  runAgentLoop,
  runChatTurn,
} from "toolwright";
import { taskTools } from "toolwright/tools";
import { createStorePath } from "../workflow/harness.ts";
import { call, createOrders, eventsOf, jsonOf, openRuntime, resultsIn, serve, user } from "./harness.ts";

const model = "claude-test";

test.each([false, true])("calls tools and ends with the model's last text (stream: %s)", async (stream) => {
  const { placed, order } = createOrders();
  const { server, client } = await serve([
    { text: "Let me order.", toolCalls: [call("shop_order", { sku: "apple" })] },
    "Ordered one apple.",
  ]);
  const result = await runAgentLoop({
    client,
    model,
    system: "You order things.",
    messages: [user("Order an apple.")],
    tools: [order],
    runtime: openRuntime(),
    runId: "monday",
    stream,
  });
  expect(result).toMatchObject({
    status: "complete",
    reason: "Ordered one apple.",
    stop: "end-turn",
    runId: "monday",
  });
  expect(placed).toEqual(["apple"]);
  expect(result.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  expect(jsonOf(resultsIn(result.messages[2])[0])).toEqual({ order: 1, sku: "apple" });
  expect(server.requests.map(({ body }) => [body.stream, body["system"], body.tools])).toEqual(
    Array.from({ length: 2 }, () => [
      stream,
      "You order things.",
      [expect.objectContaining({ name: "shop_order", description: "Order something" })],
    ]),
  );
  expect(server.requests[1]?.body.messages).toEqual(JSON.parse(JSON.stringify(result.messages.slice(0, 3))));
});

test("a tool receives the id of its call and a signal, and its call is logged", async () => {
  const seen: unknown[] = [];
  const look = defineTool({
    name: "look",
    schema: z.object({}),
    execute: (_, ctx) => {
      seen.push([ctx.toolCallId, ctx.runId, ctx.signal instanceof AbortSignal]);
      return "nothing";
    },
  });
  const { client } = await serve([[call("look", {}, "toolu_1")], "Nothing there."]);
  const runtime = openRuntime();
  const { messages } = await runAgentLoop({
    client,
    model,
    messages: [user("Look.")],
    tools: { look },
    runtime,
    runId: "r",
  });
  expect(seen).toEqual([["toolu_1", "r", true]]);
  expect(await runtime.calls({ runId: "r" })).toMatchObject([
    { toolName: "look", toolCallId: "toolu_1", status: "success", iteration: 0, seq: 1 },
  ]);
  expect(resultsIn(messages[2])).toEqual([
    { type: "tool_result", tool_use_id: "toolu_1", content: "nothing" },
  ]);
});

test("parallel calls run at the same time, no more than allowed, and their results keep the order", async () => {
  let running = 0;
  let most = 0;
  let expected = 0;
  let met = Promise.withResolvers<void>();
  const wait = defineTool({
    name: "wait",
    schema: z.object({ ms: z.number() }),
    execute: async ({ ms }) => {
      running += 1;
      most = Math.max(most, running);
      if (most === expected) met.resolve();
      await met.promise;
      await new Promise((resolve) => setTimeout(resolve, ms));
      running -= 1;
      return ms;
    },
  });
  const script = [[60, 5, 30, 1, 20].map((ms) => call("wait", { ms }, `id-${ms}`)), "Done."];
  for (const limits of [undefined, { maxParallelTools: 2 }, { maxParallelTools: 1 }]) {
    most = 0;
    expected = limits?.maxParallelTools ?? 5;
    met = Promise.withResolvers();
    const { client } = await serve(script);
    const { messages } = await runAgentLoop({
      client,
      model,
      messages: [user("Wait.")],
      tools: [wait],
      runtime: openRuntime(),
      limits,
    });
    expect(most).toBe(expected);
    expect(resultsIn(messages[2]).map(({ tool_use_id: id, content }) => [id, content])).toEqual(
      [60, 5, 30, 1, 20].map((ms) => [`id-${ms}`, String(ms)]),
    );
  }
});

test("at most eight calls run at once by default", async () => {
  let running = 0;
  let most = 0;
  const met = Promise.withResolvers<void>();
  const wait = defineTool({
    name: "wait",
    schema: z.object({ n: z.number() }),
    execute: async () => {
      running += 1;
      most = Math.max(most, running);
      if (most === 8) met.resolve();
      await met.promise;
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
    },
  });
  const calls = Array.from({ length: 30 }, (_, n) => call("wait", { n }));
  const { client } = await serve([calls, "Done."]);
  const { messages } = await runAgentLoop({
    client,
    model,
    messages: [user("Wait.")],
    tools: [wait],
    runtime: openRuntime(),
  });
  expect(most).toBe(8);
  // A tool that returns nothing still has a result.
  expect(resultsIn(messages[2]).map(({ content }) => content)).toEqual(calls.map(() => "null"));
});

test.each([false, true])(
  "an invalid call is reported to the model in the standard shape, and the others run (stream: %s)",
  async (stream) => {
    const { placed, order } = createOrders();
    const broken = defineTool({
      name: "broken",
      schema: z.object({}),
      execute: () => {
        throw new Error("out of paper");
      },
    });
    const { server, client } = await serve([
      [
        call("no_such_tool", {}, "a"),
        call("shop_order", { sku: 7 }, "b"),
        call("broken", {}, "c"),
        call("shop_order", { sku: "pear" }, "d"),
        call("shop_order", '["pear"]', "e"),
      ],
      "I see.",
    ]);
    const runtime = openRuntime();
    const result = await runAgentLoop({
      client,
      model,
      messages: [user("Go.")],
      tools: [order, broken],
      runtime,
      runId: "r",
      stream,
    });
    expect(result.status).toBe("complete");
    const results = resultsIn(server.requests[1]?.body.messages[2]);
    expect(results.map(({ tool_use_id: id, is_error: isError }) => [id, isError])).toEqual([
      ["a", true],
      ["b", true],
      ["c", true],
      ["d", undefined],
      ["e", true],
    ]);
    const shape = (type: string, message: string) => ({
      is_error: true,
      error_type: type,
      message: expect.stringContaining(message),
      next_action_hint: expect.any(String),
    });
    expect(jsonOf(results[0])).toEqual(shape("not_found", "Available: shop_order, broken."));
    expect(jsonOf(results[1])).toEqual(shape("input_invalid", "sku"));
    expect(jsonOf(results[2])).toEqual(shape("execution_failed", "out of paper"));
    expect(jsonOf(results[4])).toEqual(shape("input_invalid", "expected object"));
    expect(placed).toEqual(["pear"]);
    expect(server.refused).toEqual([]);
  },
);

test("input that is not JSON is logged and answered, is never guessed, and the loop continues", async () => {
  const { placed, order } = createOrders();
  const secret = defineTool({
    name: "secret",
    schema: z.object({ card: z.string() }),
    redact: { input: ["card"] },
    execute: () => "paid",
  });
  const { server, client } = await serve([
    [
      // A lenient parser would accept this as a complete order.
      call("shop_order", '{"sku": "pear"', "a"),
      call("shop_order", "not json", "b"),
      call("secret", '{"card": "4111 1111"', "c"),
      call("shop_order", "null", "d"),
    ],
    [call("shop_order", { sku: "pear" })],
    "Done.",
  ]);
  const runtime = openRuntime();
  const result = await runAgentLoop({
    client,
    model,
    messages: [user("Go.")],
    tools: [order, secret],
    runtime,
    runId: "r",
    stream: true,
  });
  expect(result.status).toBe("complete");
  expect(placed).toEqual(["pear"]);
  expect(server.refused).toEqual([]);
  const results = resultsIn(server.requests[1]?.body.messages[2]);
  expect(results.map((block) => jsonOf(block))).toEqual([
    ...Array.from({ length: 3 }, () =>
      expect.objectContaining({
        error_type: "input_invalid",
        message: expect.stringContaining("not valid JSON"),
      }),
    ),
    expect.objectContaining({ error_type: "input_invalid" }),
  ]);
  const rows = await runtime.calls({ runId: "r" });
  expect(rows.map(({ toolName, status }) => `${toolName} ${status}`).sort()).toEqual([
    "secret error",
    "shop.order error",
    "shop.order error",
    "shop.order error",
    "shop.order success",
  ]);
  expect(JSON.stringify(rows)).not.toContain("4111 1111");
});

test("a terminal tool stops the loop, after all calls of its response have run", async () => {
  const { placed, order } = createOrders();
  const { server, client } = await serve([
    [
      call("shop_order", { sku: "apple" }, "a"),
      call("complete_task", { summary: "all ordered" }, "b"),
      call("shop_order", { sku: "pear" }, "c"),
    ],
  ]);
  const result = await runAgentLoop({
    client,
    model,
    messages: [user("Order.")],
    tools: { ...taskTools, order },
    runtime: openRuntime(),
  });
  expect(result).toMatchObject({
    status: "complete",
    reason: "Task completed: all ordered",
    stop: "terminal-tool",
    terminal: {
      name: "complete_task",
      input: { summary: "all ordered" },
      output: { message: "Task completed: all ordered", is_error: false },
    },
  });
  expect(placed.toSorted()).toEqual(["apple", "pear"]);
  expect(resultsIn(result.messages.at(-1)).map(({ tool_use_id: id }) => id)).toEqual(["a", "b", "c"]);
  expect(server.requests).toHaveLength(1);
});

test.each([
  ["fail_task", "failed", "Task failed: no money"],
  ["wait_task", "waiting", "Task waiting: no money"],
])("%s ends the loop as %s", async (name, status, reason) => {
  const { client } = await serve([[call(name, { reason: "no money" })]]);
  const result = await runAgentLoop({
    client,
    model,
    messages: [user("Order.")],
    tools: taskTools,
    runtime: openRuntime(),
  });
  expect(result).toMatchObject({ status, reason, terminal: { name } });
});

test("any tool may be terminal; one that failed does not stop the loop, and an unknown status is refused", async () => {
  const submit = defineTool({
    name: "submit",
    schema: z.object({ answer: z.number() }),
    terminal: true,
    execute: ({ answer }) => (answer === 42 ? "right" : { is_error: true, message: "wrong" }),
  });
  const { server, client } = await serve([
    [call("submit", { answer: "many" })],
    [call("submit", { answer: 41 })],
    [call("submit", { answer: 42 })],
  ]);
  const result = await runAgentLoop({
    client,
    model,
    messages: [user("Guess.")],
    tools: [submit],
    runtime: openRuntime(),
  });
  expect(result).toMatchObject({ status: "complete", reason: "right", terminal: { output: "right" } });
  expect(
    server.requests.slice(1).map(({ body }) => resultsIn(body.messages.at(-1))[0]?.["is_error"]),
  ).toEqual([true, true]);
  const odd = defineTool({
    name: "odd",
    schema: z.object({}),
    terminal: { status: "done" },
    execute: () => 1,
  });
  await expect(
    runAgentLoop({ client, model, messages: [user("Go.")], tools: [odd], runtime: openRuntime() }),
  ).rejects.toMatchObject({ code: "TOOL_OPTION_INVALID", message: expect.stringContaining('"odd"') });
});

test("a registry can be offered, and a model works without tools", async () => {
  const { order, placed } = createOrders();
  const { client, server } = await serve([[call("shop_order", { sku: "fig" })], "Yes.", "Hello."]);
  const runtime = openRuntime();
  await runAgentLoop({ client, model, messages: [user("Go.")], tools: createRegistry([order]), runtime });
  expect(placed).toEqual(["fig"]);
  const result = await runChatTurn({ client, model, messages: [user("Hi.")], tools: [], runtime });
  expect(result.messages.at(-1)).toMatchObject({ role: "assistant", content: [{ text: "Hello." }] });
  expect(server.requests[2]?.body).not.toHaveProperty("tools");
});

test("the text of a stream is emitted as it arrives, and the response once it is logged", async () => {
  const events: AgentLoopEvent[] = [];
  const { order } = createOrders();
  const { client } = await serve([
    {
      content: [
        { type: "thinking", thinking: "Fruit is good for you.", signature: "sig" },
        { type: "text", text: "Ordering an apple." },
        { type: "tool_use", id: "toolu_1", name: "shop_order", inputJson: '{"sku":"apple"}' },
      ],
    },
    "Done.",
  ]);
  const runtime = openRuntime();
  const { messages } = await runAgentLoop({
    client,
    model,
    messages: [user("Go.")],
    tools: [order],
    runtime,
    stream: true,
    onEvent: (event) => {
      events.push(event);
      throw new Error("a listener that throws does no harm");
    },
  });
  const firstTurn = eventsOf(events, "text-delta").filter(({ turn }) => turn === 1);
  expect(firstTurn.map(({ text }) => text).join("")).toBe("Ordering an apple.");
  expect(
    eventsOf(events, "thinking-delta")
      .map(({ thinking }) => thinking)
      .join(""),
  ).toBe("Fruit is good for you.");
  expect(eventsOf(events, "call-finished")).toMatchObject([
    { toolName: "shop.order", toolCallId: "toolu_1" },
  ]);
  const order1 = events.map(({ type }) => type);
  expect(order1.indexOf("response-received")).toBeLessThan(order1.indexOf("call-started"));
  expect(messages[1]).toMatchObject({
    content: [
      { type: "thinking", signature: "sig" },
      { text: "Ordering an apple." },
      { input: { sku: "apple" } },
    ],
  });
});

test("an invalid option is refused before the first request", async () => {
  const { client, server } = await serve([]);
  const good = { client, model, messages: [user("Go.")], tools: [] };
  for (const [bad, word] of [
    [{ client: {} }, "client"],
    [{ model: "" }, "model"],
    [{ messages: [] }, "messages"],
    [{ messages: [{ role: "user" }] }, "messages"],
    [{ maxTurns: 0 }, "maxTurns"],
    [{ runId: "" }, "runId"],
    [{ maxturns: 3 }, "maxturns"],
    [{ signal: {} }, "signal"],
  ] as const) {
    await expect(runAgentLoop({ ...good, ...bad } as never)).rejects.toMatchObject({
      code: "TOOL_OPTION_INVALID",
      message: expect.stringContaining(word),
    });
  }
  expect(server.requests).toEqual([]);
});

test("a runtime that is disposed immediately stays open for the loop that has started", async () => {
  const { placed, order } = createOrders();
  const { client } = await serve([[call("shop_order", { sku: "fig" })], "Done."]);
  const begin = async () => {
    await using runtime = createRuntime({ store: createStorePath() });
    // Not awaited here: the runtime is disposed while the loop runs.
    return runAgentLoop({ client, model, messages: [user("Go.")], tools: [order], runtime });
  };
  expect(await begin()).toMatchObject({ status: "complete" });
  expect(placed).toEqual(["fig"]);
});

test.each([false, true])("input that is nested too deeply does no harm (stream: %s)", async (stream) => {
  const { placed, order } = createOrders();
  const deep = `${'{"sku":'.repeat(2_000)}1${"}".repeat(2_000)}`;
  const { client, server } = await serve([
    [call("shop_order", deep, "a"), call("shop_order", { sku: "fig" }, "b")],
    "Done.",
  ]);
  const runtime = openRuntime();
  const options = { client, model, messages: [user("Go.")], tools: [order], runtime, runId: "r", stream };
  expect(await runAgentLoop(options)).toMatchObject({ status: "complete" });
  expect(placed).toEqual(["fig"]);
  const [first] = resultsIn(server.requests[1]?.body.messages[2]);
  expect(jsonOf(first)).toMatchObject({
    error_type: "input_invalid",
    message: expect.stringContaining("too deeply"),
  });
});

test("a result that ends in half a character is sent well-formed", async () => {
  const cut = defineTool({ name: "cut", schema: z.object({}), execute: () => "apple \ud83c" });
  const { client, server } = await serve([[call("cut", {})], "Done."]);
  await runAgentLoop({ client, model, messages: [user("Go.")], tools: [cut], runtime: openRuntime() });
  expect(resultsIn(server.requests[1]?.body.messages[2])[0]?.["content"]).toBe("apple \ufffd");
});
