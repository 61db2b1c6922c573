/** Messages that are inserted between turns, and loops that are aborted. */
import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool, runAgentLoop, type AgentLoopEvent } from "toolwright";
import { createStorePath } from "../workflow/harness.ts";
import { call, createOrders, eventsOf, openRuntime, serve, user } from "./harness.ts";

const model = "claude-test";
const messages = [user("Order.")];

test("messages are inserted before a request, and a resume inserts the same ones, not others", async () => {
  const { order } = createOrders();
  const store = createStorePath();
  const queue = [[], [user("And be quick."), user("Really.")], []];
  const { server, client } = await serve([
    [call("shop_order", { sku: "a" }, "a")],
    { status: 500 },
    [call("shop_order", { sku: "b" }, "b")],
    "Done.",
  ]);
  const options = { client, model, messages, tools: [order], runId: "r" };
  const failed = await runAgentLoop({ ...options, runtime: openRuntime(store), steer: () => queue.shift() });
  expect(failed.messages.slice(-2)).toEqual([user("And be quick."), user("Really.")]);
  const events: AgentLoopEvent[] = [];
  const result = await runAgentLoop({
    ...options,
    runtime: openRuntime(store),
    // The message was taken before the request failed, so it is stored.
    steer: async () => queue.shift(),
    onEvent: (event) => events.push(event),
  });
  expect(result.status).toBe("complete");
  expect(server.refused).toEqual([]);
  expect(server.requests[2]?.body.messages).toEqual(server.requests[1]?.body.messages);
  const [, , said] = server.requests[2]?.body.messages ?? [];
  expect(said?.content).toMatchObject([
    { type: "tool_result", tool_use_id: "a" },
    { type: "text", text: "And be quick." },
    { type: "text", text: "Really." },
  ]);
  expect(server.requests[3]?.body.messages).toHaveLength(5);
  expect(eventsOf(events, "messages-steered")).toMatchObject([{ turn: 2, replayed: true }]);
});

test("a response that was logged without steering is not requested again when the program steers now", async () => {
  const { order } = createOrders();
  const { server, client } = await serve([[call("shop_order", { sku: "a" })], { status: 500 }, "Done."]);
  const options = { client, model, messages, tools: [order], runtime: openRuntime(), runId: "r" };
  await runAgentLoop(options);
  let asked = 0;
  const result = await runAgentLoop({
    ...options,
    steer: () => {
      asked += 1;
      return [user("Hurry.")];
    },
  });
  expect(result.status).toBe("complete");
  expect(asked).toBe(1);
  expect(server.requests).toHaveLength(3);
});

test("only user messages can be inserted", async () => {
  const { client, server } = await serve(["Hello."]);
  const options = { client, model, messages, tools: [], runtime: openRuntime() };
  for (const steered of [[{ role: "assistant", content: "I agree." }], "Hurry.", [{ content: 1 }]]) {
    await expect(runAgentLoop({ ...options, steer: () => steered as never })).rejects.toMatchObject({
      code: "TOOL_OPTION_INVALID",
      message: expect.stringContaining("steer"),
    });
  }
  expect(server.requests).toEqual([]);
});

test("an abort in the middle of a stream throws, leaves nothing of the response, and the run can be resumed", async () => {
  const { placed, order } = createOrders();
  const { server, client } = await serve([
    {
      text: "I will order a great many apples",
      toolCalls: [call("shop_order", { sku: "many" })],
      holdAfter: 5,
    },
    [call("shop_order", { sku: "one" })],
    "Done.",
  ]);
  const events: AgentLoopEvent[] = [];
  const stop = new AbortController();
  const options = {
    client,
    model,
    messages,
    tools: [order],
    runtime: openRuntime(),
    runId: "r",
    stream: true,
  };
  const aborted = runAgentLoop({
    ...options,
    signal: stop.signal,
    onEvent: (event) => {
      events.push(event);
      if (event.type === "text-delta") stop.abort(new Error("enough"));
    },
  });
  await expect(aborted).rejects.toMatchObject({ code: "TOOL_ABORTED", cause: { message: "enough" } });
  expect(events.at(-1)).toMatchObject({ type: "response-discarded", turn: 1 });
  expect(await runAgentLoop(options)).toMatchObject({ status: "complete", reason: "Done." });
  expect(placed).toEqual(["one"]);
  expect(server.requests).toHaveLength(3);
});

test("an abort reaches the running tool, and the run resumes with that call", async () => {
  const { server, client } = await serve([[call("slow", {})], "Done."]);
  const stop = new AbortController();
  const reasons: unknown[] = [];
  let runs = 0;
  const slow = defineTool({
    name: "slow",
    schema: z.object({}),
    execute: async (_, ctx) => {
      runs += 1;
      if (runs > 1) return "at last";
      stop.abort(new Error("enough"));
      await new Promise<void>((resolve) => {
        ctx.signal.addEventListener("abort", () => resolve());
        if (ctx.signal.aborted) resolve();
      });
      reasons.push(ctx.signal.aborted);
      throw new Error("stopped");
    },
  });
  const options = { client, model, messages, tools: [slow], runtime: openRuntime(), runId: "r" };
  await expect(runAgentLoop({ ...options, signal: stop.signal })).rejects.toMatchObject({
    code: "TOOL_ABORTED",
  });
  expect(reasons).toEqual([true]);
  expect(await runAgentLoop(options)).toMatchObject({ status: "complete" });
  expect(runs).toBe(2);
  expect(server.requests).toHaveLength(2);
  await expect(
    runAgentLoop({ ...options, runId: "other", signal: AbortSignal.abort(new Error("before it began")) }),
  ).rejects.toMatchObject({ code: "TOOL_ABORTED" });
  expect(server.requests).toHaveLength(2);
});
