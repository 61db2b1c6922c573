/** How the loop handles each stop reason of a response. */
import { expect, test } from "vitest";
import { runAgentLoop } from "toolwright";
import { call, createOrders, jsonOf, openRuntime, resultsIn, serve, user } from "./harness.ts";

const model = "claude-test";
const messages = [user("Order.")];

test.each([
  ["max_tokens", "failed", "max-tokens"],
  ["model_context_window_exceeded", "failed", "context-window"],
  ["stop_sequence", "complete", "end-turn"],
  ["something_new", "complete", "end-turn"],
] as const)("a text that ended by %s is %s", async (stopReason, status, stop) => {
  const { client } = await serve([{ text: "Half a sen", stopReason }]);
  const runtime = openRuntime();
  const options = { client, model, messages, tools: [], runtime, runId: "r" };
  const result = await runAgentLoop(options);
  expect(result).toMatchObject({ status, stop });
  expect(result.messages).toHaveLength(2);
  expect(await runAgentLoop(options)).toEqual(result);
});

test.each([false, true])(
  "calls of a truncated response do not run, and the model is informed (stream: %s)",
  async (stream) => {
    const { placed, order } = createOrders();
    const { server, client } = await serve([
      {
        toolCalls: [call("shop_order", { sku: "apple" }, "a"), call("shop_order", { sku: "half a pe" }, "b")],
        stopReason: "max_tokens",
      },
      [call("shop_order", { sku: "apple" }, "c")],
      "Done.",
    ]);
    const result = await runAgentLoop({
      client,
      model,
      messages,
      tools: [order],
      runtime: openRuntime(),
      stream,
    });
    expect(result.status).toBe("complete");
    expect(placed).toEqual(["apple"]);
    const results = resultsIn(server.requests[1]?.body.messages[2]);
    expect(results.map((block) => jsonOf(block))).toMatchObject([
      { is_error: true, message: expect.stringContaining("cut off") },
      { is_error: true },
    ]);
  },
);

test("a refusal fails the loop, runs nothing, and leaves messages that can be sent", async () => {
  const { placed, order } = createOrders();
  const { client } = await serve([
    { text: "I", toolCalls: [call("shop_order", { sku: "poison" })], stopReason: "refusal" },
  ]);
  const result = await runAgentLoop({ client, model, messages, tools: [order], runtime: openRuntime() });
  expect(result).toMatchObject({ status: "failed", stop: "refusal", messages });
  expect(result.reason).toContain("refusal");
  expect(placed).toEqual([]);
});

test("a turn that the API paused is sent back unchanged", async () => {
  const search = { type: "server_tool_use", id: "srv_1", name: "web_search", input: { query: "apples" } };
  const { server, client } = await serve([{ content: [search], stopReason: "pause_turn" }, "Found."]);
  const result = await runAgentLoop({
    client,
    model,
    messages,
    tools: [],
    runtime: openRuntime(),
    params: { tools: [{ type: "web_search_20250305", name: "web_search" }], temperature: 0 } as never,
  });
  expect(result).toMatchObject({ status: "complete", reason: "Found." });
  expect(server.requests[1]?.body.messages).toMatchObject([
    ...messages,
    { role: "assistant", content: [search] },
  ]);
  expect(server.requests[1]?.body).toMatchObject({ temperature: 0, tools: [{ name: "web_search" }] });
});

test("an empty answer ends the loop and leaves no message", async () => {
  const { client } = await serve([{ content: [{ type: "text", text: " " }] }]);
  const result = await runAgentLoop({ client, model, messages, tools: [], runtime: openRuntime() });
  expect(result).toMatchObject({ status: "complete", reason: "The model ended its turn.", messages });
});
