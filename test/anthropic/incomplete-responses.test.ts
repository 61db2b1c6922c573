/** Incomplete answers of the API: containers, paused turns, and truncated thinking and calls of server tools. */
import type { MessageParam } from "@anthropic-ai/sdk/resources/messages";
import { expect, test } from "vitest";
import { type AgentLoopEvent, runAgentLoop, runChatTurn } from "toolwright";
import { createStorePath } from "../workflow/harness.ts";
import { call, createOrders, eventsOf, openRuntime, serve, user } from "./harness.ts";

const model = "claude-test";
const messages = [user("Order.")];
const later = "2999-01-01T00:00:00Z";
const codeTool = { type: "code_execution_20250825", name: "code_execution" } as const;

const thinking = (text: string, signature = "sig") => ({ type: "thinking", thinking: text, signature });
const search = (id: string) => ({
  type: "server_tool_use",
  id,
  name: "web_search",
  input: { query: "apples" },
});
const found = (id: string) => ({ type: "web_search_tool_result", tool_use_id: id, content: [] });
const text = (said: string) => ({ type: "text", text: said });

function typesIn(message: { readonly content: unknown } | undefined): unknown[] {
  const content = message?.content;
  return Array.isArray(content) ? content.map((block) => (block as { type: string }).type) : [content];
}

test.each([false, true])(
  "the container of a response is sent with every later request (stream: %s)",
  async (stream) => {
    const { order } = createOrders();
    const { server, client } = await serve([
      { toolCalls: [call("shop_order", { sku: "a" })], container: { id: "c-1", expires_at: later } },
      [call("shop_order", { sku: "b" })],
      { toolCalls: [call("shop_order", { sku: "c" })], container: { id: "c-2", expires_at: later } },
      "Done.",
    ]);
    const result = await runAgentLoop({
      client,
      model,
      messages,
      tools: [order],
      runtime: openRuntime(),
      stream,
      params: { tools: [codeTool] },
    });
    expect(server.requests.map(({ body }) => body["container"])).toEqual([undefined, "c-1", "c-1", "c-2"]);
    expect(result.container).toMatchObject({ id: "c-2" });
  },
);

test("skills stay with the container, and an expired one is not sent", async () => {
  const { order } = createOrders();
  const skills = [{ type: "anthropic" as const, skill_id: "pptx" }];
  const { server, client } = await serve([
    { toolCalls: [call("shop_order", { sku: "a" })], container: { id: "c-1", expires_at: later } },
    {
      toolCalls: [call("shop_order", { sku: "b" })],
      container: { id: "c-2", expires_at: "2000-01-01T00:00:00Z" },
    },
    "Done.",
  ]);
  await runAgentLoop({
    client,
    model,
    messages,
    tools: [order],
    runtime: openRuntime(),
    params: { container: { skills } },
  });
  expect(server.requests.map(({ body }) => body["container"])).toEqual([
    { skills },
    { skills, id: "c-1" },
    { skills },
  ]);
});

test("a resumed loop sends the container of the stored response, and the next turn of a chat sends the previous turn's", async () => {
  const { order } = createOrders();
  const store = createStorePath();
  const { server, client } = await serve([
    { toolCalls: [call("shop_order", { sku: "a" })], container: { id: "c-1", expires_at: later } },
    { status: 500 },
    "Done.",
    "Hello again.",
  ]);
  const options = { client, model, tools: [order], runId: "r" };
  await runChatTurn({ ...options, messages, runtime: openRuntime(store) });
  const first = await runChatTurn({ ...options, messages, runtime: openRuntime(store) });
  expect(first.container).toMatchObject({ id: "c-1" });
  await runChatTurn({ ...options, messages: [...first.messages, user("And?")], runtime: openRuntime(store) });
  expect(server.requests.map(({ body }) => body["container"])).toEqual([undefined, "c-1", "c-1", "c-1"]);
});

const cut: Record<string, { content: object[]; left: unknown[] }> = {
  "thinking alone": { content: [thinking("Hm", "")], left: [] },
  "thinking after text": { content: [text("Well"), thinking("Hm", "")], left: ["text"] },
  "redacted thinking": { content: [{ type: "redacted_thinking", data: "x" }, thinking("Hm")], left: [] },
  "thinking before an empty text": { content: [thinking("Hm"), text("")], left: [] },
  "a search": { content: [text("I search."), search("s-1")], left: ["text"] },
  "a search after thinking": { content: [thinking("Hm"), search("s-1")], left: [] },
  "a second search": {
    content: [search("s-1"), found("s-1"), search("s-2")],
    left: ["server_tool_use", "web_search_tool_result"],
  },
  "a call of the MCP connector": {
    content: [text("I ask."), { type: "mcp_tool_use", id: "m-1", name: "ask", server_name: "s", input: {} }],
    left: ["text"],
  },
};

test.each(Object.entries(cut))(
  "a truncated %s leaves messages that the next turn can send",
  async (_name, { content, left }) => {
    for (const stream of [false, true]) {
      const { server, client } = await serve([{ content, stopReason: "max_tokens" }, "Fine."]);
      const options = { client, model, tools: [], runtime: openRuntime(), runId: "r", stream };
      const first = await runChatTurn({ ...options, messages });
      expect(first.stop).toBe("max-tokens");
      expect(first.messages.slice(1).flatMap((message) => typesIn(message))).toEqual(left);
      // The stored result is the same.
      expect((await runChatTurn({ ...options, messages })).messages).toEqual(first.messages);
      const second = await runChatTurn({ ...options, messages: [...first.messages, user("Go on.")] });
      expect(server.refused).toEqual([]);
      expect(second.status).toBe("complete");
    }
  },
);

test("an incomplete history from elsewhere is sent without the blocks that the API would reject", async () => {
  const { server, client } = await serve(["Fine."]);
  const history = [
    user("Hi."),
    { role: "assistant", content: [text("I search."), search("s-1")] },
    user("And?"),
    { role: "assistant", content: [thinking("Hm")] },
    user("Well?"),
  ] as MessageParam[];
  const result = await runAgentLoop({ client, model, messages: history, tools: [], runtime: openRuntime() });
  expect(result.status).toBe("complete");
  expect(server.refused).toEqual([]);
});

test("our calls in a response that was truncated in a search are answered, and the search is left out", async () => {
  const { order, placed } = createOrders();
  const { server, client } = await serve([
    {
      content: [{ type: "tool_use", id: "t-1", name: "shop_order", input: { sku: "a" } }, search("s-1")],
      stopReason: "max_tokens",
    },
    "Fine.",
  ]);
  const result = await runAgentLoop({ client, model, messages, tools: [order], runtime: openRuntime() });
  expect(result.status).toBe("complete");
  expect(server.refused).toEqual([]);
  expect(typesIn(server.requests[1]?.body.messages[1])).toEqual(["tool_use"]);
  expect(placed).toEqual([]);
});

test("code of the API that waits for one of our calls is kept with it", async () => {
  const { order, placed } = createOrders();
  const code = { type: "server_tool_use", id: "s-1", name: "code_execution", input: { code: "order()" } };
  const inside = {
    type: "tool_use",
    id: "t-1",
    name: "shop_order",
    input: { sku: "a" },
    caller: { type: "code_execution_20260120", tool_id: "s-1" },
  };
  const { server, client } = await serve([{ content: [code, inside] }, "Fine."]);
  const result = await runAgentLoop({ client, model, messages, tools: [order], runtime: openRuntime() });
  expect(result.status).toBe("complete");
  expect(server.refused).toEqual([]);
  expect(typesIn(server.requests[1]?.body.messages[1])).toEqual(["server_tool_use", "tool_use"]);
  expect(placed).toEqual(["a"]);
});

test.each([false, true])(
  "nothing is added after an answer that the API paused, even after a crash: %s",
  async (isResumed) => {
    const { order } = createOrders();
    const store = createStorePath();
    const { server, client } = await serve([
      { content: [text("I search."), search("s-1")], stopReason: "pause_turn" },
      ...(isResumed ? [{ status: 500 }] : []),
      { content: [found("s-1"), { type: "tool_use", id: "t-1", name: "shop_order", input: { sku: "a" } }] },
      "Fine.",
    ]);
    const queue = [[], [user("Hurry.")], [user("Really.")], []];
    const events: AgentLoopEvent[] = [];
    const go = () =>
      runAgentLoop({
        client,
        model,
        messages,
        tools: [order],
        runtime: openRuntime(store),
        runId: "r",
        steer: () => queue.shift(),
        onEvent: (event) => events.push(event),
      });
    if (isResumed) expect((await go()).stop).toBe("api-error");
    const result = await go();
    expect(server.refused).toEqual([]);
    expect(result.status).toBe("complete");
    const requests = server.requests.map(({ body }) => body.messages);
    expect(requests[1]?.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(typesIn(requests[1]?.[1])).toEqual(["text", "server_tool_use"]);
    // Steered messages follow as soon as the answer is complete.
    expect(requests.at(-1)?.at(-1)?.content).toMatchObject([
      { type: "tool_result", tool_use_id: "t-1" },
      { type: "text", text: "Hurry." },
    ]);
    expect(eventsOf(events, "messages-steered")).toHaveLength(1);
  },
);

test("a loop that stops after a pause returns messages that continue it, and that a chat can drop", async () => {
  const paused = { content: [text("I search."), search("s-1")], stopReason: "pause_turn" };
  const { server, client } = await serve([paused, "Found.", "Never mind."]);
  const options = { client, model, tools: [], runtime: openRuntime() };
  const stopped = await runChatTurn({ ...options, messages, runId: "r", maxTurns: 1 });
  expect(stopped.stop).toBe("max-turns");
  expect(typesIn(stopped.messages.at(-1))).toEqual(["text", "server_tool_use"]);
  const done = await runChatTurn({ ...options, messages, runId: "r" });
  expect(done.status).toBe("complete");
  await runAgentLoop({ ...options, messages: [...stopped.messages, user("Never mind.")] });
  expect(server.refused).toEqual([]);
  expect(typesIn(server.requests[2]?.body.messages[1])).toEqual(["text"]);
});

test("a pause whose continuation is truncated leaves no open call", async () => {
  const { server, client } = await serve([
    { content: [text("I search."), search("s-1")], stopReason: "pause_turn" },
    { content: [thinking("Hm")], stopReason: "max_tokens" },
    "Fine.",
  ]);
  const options = { client, model, tools: [], runtime: openRuntime(), runId: "r" };
  const first = await runChatTurn({ ...options, messages });
  expect(first.messages.slice(1).map((message) => typesIn(message))).toEqual([["text"]]);
  await runChatTurn({ ...options, messages: [...first.messages, user("And?")] });
  expect(server.refused).toEqual([]);
});

test("the streamed input of a call of the MCP connector is sent back complete", async () => {
  const used = {
    type: "mcp_tool_use",
    id: "m-1",
    name: "ask",
    server_name: "s",
    inputJson: '{"q":"apples"}',
  };
  const answered = { type: "mcp_tool_result", tool_use_id: "m-1", is_error: false, content: [text("yes")] };
  const { order } = createOrders();
  const { server, client } = await serve([
    {
      content: [
        used,
        answered,
        { type: "tool_use", id: "t-1", name: "shop_order", inputJson: '{"sku":"a"}' },
      ],
    },
    "Fine.",
  ]);
  await runAgentLoop({ client, model, messages, tools: [order], runtime: openRuntime(), stream: true });
  expect(server.requests[1]?.body.messages[1]?.content).toMatchObject([
    { type: "mcp_tool_use", input: { q: "apples" } },
    { type: "mcp_tool_result" },
    { type: "tool_use", input: { sku: "a" } },
  ]);
});
