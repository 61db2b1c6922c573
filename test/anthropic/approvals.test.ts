/** Calls that wait for approval end the loop; the same run id resumes it after the decision. */
import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool, runAgentLoop } from "toolwright";
import { taskTools } from "toolwright/tools";
import { createStorePath } from "../workflow/harness.ts";
import { call, createOrders, jsonOf, openRuntime, resultsIn, serve, user } from "./harness.ts";

const model = "claude-test";
const messages = [user("Order.")];

test("requests of one response are shown together; approved ones run, denied ones are answered, in order", async () => {
  const { placed, order } = createOrders(true);
  const look = defineTool({ name: "look", schema: z.object({}), execute: () => "seen" });
  const store = createStorePath();
  const { server, client } = await serve([
    [
      call("shop_order", { sku: "apple" }, "a"),
      call("look", {}, "b"),
      call("shop_order", { sku: "pear" }, "c"),
      call("shop_order", { sku: "fig" }, "d"),
    ],
    "Done.",
  ]);
  const options = { client, model, messages, tools: [order, look], runId: "r" };
  const runtime = openRuntime(store);
  const waiting = await runAgentLoop({ ...options, runtime });
  expect(waiting).toMatchObject({ status: "waiting", stop: "approval", messages });
  const asked = waiting.approvals ?? [];
  expect(asked.map(({ args }) => args)).toEqual([{ sku: "apple" }, { sku: "pear" }, { sku: "fig" }]);
  await runtime.resolveToolApproval(asked[0]?.id ?? "", { approved: true });
  await runtime.resolveToolApproval(asked[1]?.id ?? "", { approved: false, comment: "no pears" });

  const still = await runAgentLoop({ ...options, runtime: openRuntime(store) });
  expect(still.approvals?.map(({ args }) => args)).toEqual([{ sku: "fig" }]);
  expect(placed).toEqual(["apple"]);

  const last = openRuntime(store);
  await last.resolveToolApproval(asked[2]?.id ?? "", { approved: true, approvedArgs: { sku: "fig tree" } });
  const result = await runAgentLoop({ ...options, runtime: last });
  expect(result.status).toBe("complete");
  expect(placed).toEqual(["apple", "fig tree"]);
  expect(server.requests).toHaveLength(2);
  const results = resultsIn(server.requests[1]?.body.messages[2]);
  expect(results.map(({ tool_use_id: id }) => id)).toEqual(["a", "b", "c", "d"]);
  expect(jsonOf(results[2])).toMatchObject({
    is_error: true,
    error_type: "approval_denied",
    message: expect.stringContaining("no pears"),
  });
  // The model reads that the arguments were edited.
  expect(jsonOf(results[3])).toMatchObject({
    note: expect.stringMatching(/edited the arguments.*{"sku":"fig tree"}/),
    result: { sku: "fig tree" },
  });
});

test("a terminal tool next to a waiting call ends the loop after the decision", async () => {
  const { placed, order } = createOrders(true);
  const { server, client } = await serve([
    [call("complete_task", { summary: "ordered" }), call("shop_order", { sku: "apple" })],
  ]);
  const runtime = openRuntime();
  const options = { client, model, messages, tools: { ...taskTools, order }, runtime, runId: "r" };
  const waiting = await runAgentLoop(options);
  expect(waiting).toMatchObject({ status: "waiting", stop: "approval" });
  expect(waiting.terminal).toBeUndefined();
  await runtime.resolveToolApproval(waiting.approvals?.[0]?.id ?? "", { approved: true });
  expect(await runAgentLoop(options)).toMatchObject({
    status: "complete",
    terminal: { name: "complete_task" },
  });
  expect(placed).toEqual(["apple"]);
  expect(server.requests).toHaveLength(1);
});

test("a call that waits in a loop inside a tool makes the enclosing call wait, and both resume", async () => {
  const { placed, order } = createOrders(true);
  const inner = await serve([[call("shop_order", { sku: "apple" })], "Bought."]);
  const delegate = defineTool({
    name: "delegate",
    schema: z.object({ what: z.string() }),
    execute: async ({ what }) => {
      const { status, reason } = await runAgentLoop({
        client: inner.client,
        model,
        messages: [user(what)],
        tools: [order],
      });
      return `${status}: ${reason}`;
    },
  });
  const outer = await serve([[call("delegate", { what: "Buy." })], "All done."]);
  const runtime = openRuntime();
  const options = { client: outer.client, model, messages, tools: [delegate], runtime, runId: "r" };
  const waiting = await runAgentLoop(options);
  expect(waiting).toMatchObject({ status: "waiting", approvals: [{ toolName: "shop.order" }] });
  await runtime.resolveToolApproval(waiting.approvals?.[0]?.id ?? "", { approved: true });
  const result = await runAgentLoop(options);
  expect(result).toMatchObject({ status: "complete", reason: "All done." });
  expect(resultsIn(result.messages[2])[0]?.["content"]).toBe("complete: Bought.");
  expect(placed).toEqual(["apple"]);
  expect([inner.server.requests.length, outer.server.requests.length]).toEqual([2, 2]);
});

test("two parallel loops inside one tool never use each other's responses", async () => {
  const { placed, order } = createOrders(true);
  const said = (request: { body: { messages: readonly { content: unknown }[] } }): string =>
    JSON.stringify(request.body.messages[0]?.content);
  const inner = await serve(
    [
      ({ body }) =>
        body.messages.length > 1
          ? `Got the ${said({ body })}`
          : [call("shop_order", { sku: said({ body }).includes("pear") ? "pear" : "apple" })],
    ],
    { atEnd: "repeat-last" },
  );
  const both = defineTool({
    name: "both",
    schema: z.object({}),
    execute: async () => {
      const buy = (what: string) =>
        runAgentLoop({ client: inner.client, model, messages: [user(what)], tools: [order] });
      const [one, other] = await Promise.all([buy("apple"), buy("pear")]);
      return [one.reason, other.reason];
    },
  });
  const outer = await serve([[call("both", {})], "All done."]);
  const runtime = openRuntime();
  const options = { client: outer.client, model, messages, tools: [both], runtime, runId: "r" };
  await runAgentLoop(options);
  for (const { id } of await runtime.approvals({ status: "pending" })) {
    await runtime.resolveToolApproval(id, { approved: true });
    await runAgentLoop(options);
  }
  const result = await runAgentLoop(options);
  expect(jsonOf(resultsIn(result.messages[2])[0])).toEqual(['Got the "apple"', 'Got the "pear"']);
  expect(placed.toSorted()).toEqual(["apple", "pear"]);
  expect(inner.server.requests).toHaveLength(4);
});

test.each([
  {
    how: "in one response",
    script: [[call("shop_order", { sku: "apple" }, "a"), call("shop_order", { sku: "apple" }, "a")], "Done."],
  },
  {
    how: "in the next response",
    script: [
      [call("shop_order", { sku: "apple" }, "a")],
      [call("shop_order", { sku: "apple" }, "a")],
      "Done.",
    ],
  },
])(
  "equal calls with the id of another one, $how, are two calls, each with its own approval",
  async (given) => {
    const { placed, order } = createOrders(true);
    const { client } = await serve(given.script);
    const store = createStorePath();
    const asked = new Set<string>();
    for (;;) {
      const runtime = openRuntime(store);
      const { status } = await runAgentLoop({ client, model, messages, tools: [order], runtime, runId: "r" });
      const waiting = await runtime.approvals({ status: "pending" });
      for (const { id } of waiting) {
        asked.add(id);
        await runtime.resolveToolApproval(id, { approved: true });
      }
      await runtime[Symbol.asyncDispose]();
      if (status === "complete") break;
      expect(waiting).not.toEqual([]);
    }
    expect(placed).toEqual(["apple", "apple"]);
    expect(asked.size).toBe(2);
  },
);

test("several calls with one id, in one response and in the next, are different calls with an approval each", async () => {
  const { placed, order } = createOrders(true);
  const store = createStorePath();
  const again = call("shop_order", { sku: "apple" }, "x");
  const { client } = await serve([[again, again], [again], "Done."]);
  let approved = 0;
  for (let stop = ""; stop !== "complete";) {
    const runtime = openRuntime(store);
    const result = await runAgentLoop({ client, model, messages, tools: [order], runId: "r", runtime });
    for (const { id } of result.approvals ?? []) {
      await runtime.resolveToolApproval(id, { approved: true });
      approved += 1;
    }
    stop = result.status;
    await runtime[Symbol.asyncDispose]();
  }
  expect(placed).toHaveLength(3);
  expect(approved).toBe(3);
});
