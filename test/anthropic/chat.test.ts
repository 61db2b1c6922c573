/** Turns of a chat: each has a number, and a repeated message repeats its calls. */
import { expect, test } from "vitest";
import { runChatTurn } from "toolwright";
import { createStorePath, rowsOf, until } from "../workflow/harness.ts";
import { call, createOrders, openRuntime, serve, user } from "./harness.ts";

const model = "claude-test";

test("rule 3: the same order in the next turn is a second order; the same turn again returns the stored result", async () => {
  const { placed, order } = createOrders();
  const store = createStorePath();
  const { server, client } = await serve([
    [call("shop_order", { sku: "apple" })],
    "Ordered.",
    [call("shop_order", { sku: "apple" })],
    "Ordered again.",
  ]);
  const options = { client, model, tools: [order], runId: "chat" };
  const first = await runChatTurn({ ...options, messages: [user("An apple.")], runtime: openRuntime(store) });
  const next = [...first.messages, user("Send it again.")];
  const second = await runChatTurn({ ...options, messages: next, runtime: openRuntime(store) });
  expect(placed).toEqual(["apple", "apple"]);
  expect(second.messages).toHaveLength(8);
  expect(server.requests).toHaveLength(4);
  expect(
    await runChatTurn({ ...options, messages: [user("An apple.")], runtime: openRuntime(store) }),
  ).toEqual(first);
  expect(await runChatTurn({ ...options, messages: next, runtime: openRuntime(store) })).toEqual(second);
  expect(server.requests).toHaveLength(4);
  expect(await rowsOf(store, "SELECT turn, kind FROM toolwright_turns ORDER BY turn")).toEqual([
    { turn: 1, kind: "chat" },
    { turn: 2, kind: "chat" },
  ]);
});

test("another message abandons a waiting turn: its approval request is void and it cannot be resumed", async () => {
  const { placed, order } = createOrders(true);
  const runtime = openRuntime();
  const { client } = await serve([[call("shop_order", { sku: "apple" })], "Never mind, then."]);
  const options = { client, model, tools: [order], runtime, runId: "chat" };
  const messages = [user("An apple.")];
  const waiting = await runChatTurn({ ...options, messages });
  expect(waiting).toMatchObject({ status: "waiting", messages });
  const [request] = await runtime.approvals({ status: "pending" });
  const after = await runChatTurn({ ...options, messages: [...waiting.messages, user("Forget it.")] });
  expect(after).toMatchObject({ status: "complete", reason: "Never mind, then." });
  await expect(runtime.resolveToolApproval(request?.id ?? "", { approved: true })).rejects.toMatchObject({
    code: "TOOL_APPROVAL_SETTLED",
  });
  await expect(runChatTurn({ ...options, messages })).rejects.toMatchObject({ code: "TOOL_RUN_TAKEN" });
  expect(placed).toEqual([]);
});

test("a chat continues from its first messages, and from no others", async () => {
  const { client } = await serve(["Hello.", "Fine."]);
  const options = { client, model, tools: [], runtime: openRuntime(), runId: "chat" };
  const { messages } = await runChatTurn({ ...options, messages: [user("Hi.")] });
  await expect(runChatTurn({ ...options, messages: [user("Who are you?")] })).rejects.toMatchObject({
    code: "TOOL_RUN_TAKEN",
  });
  expect(await runChatTurn({ ...options, messages: [...messages, user("How are you?")] })).toMatchObject({
    reason: "Fine.",
  });
});

test("the next turn cannot start while one is running, here or in another process", async () => {
  const running = Promise.withResolvers<void>();
  const { server, client } = await serve([
    async () => {
      await running.promise;
      return "Hello.";
    },
    "Fine.",
  ]);
  const store = createStorePath();
  const options = { client, model, tools: [], runId: "chat" };
  const runtime = openRuntime(store);
  const first = runChatTurn({ ...options, messages: [user("Hi.")], runtime });
  await until(() => server.requests.length === 1);
  for (const other of [runtime, openRuntime(store)]) {
    await expect(
      runChatTurn({ ...options, messages: [user("Hi."), user("Hello?")], runtime: other }),
    ).rejects.toMatchObject({ code: "TOOL_RUN_CONFLICT", message: expect.stringContaining("Turn 1") });
  }
  running.resolve();
  expect(await first).toMatchObject({ reason: "Hello." });
});
