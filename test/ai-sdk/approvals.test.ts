/** Approvals in the AI SDK's loops: the decision is in the store; messages only unblock the loop. */
import { generateText, isStepCount, type ModelMessage, streamText, ToolLoopAgent } from "ai";
import { expect, test } from "vitest";
import { createRuntime, type Runtime, type Tool } from "../../src/index.ts";
import { createMemoryStore, createScriptedModel, type ScriptedTurn } from "../../src/testing/index.ts";
import { createOrder } from "../loop-tools.ts";

interface Orders {
  readonly placed: string[];
  readonly tools: { readonly order: Tool<{ sku: string }, { placed: string }> };
}

function createOrders(): Orders {
  const { order, placed } = createOrder();
  return { placed, tools: { order } };
}

const orderTurn = (...skus: string[]): ScriptedTurn =>
  skus.map((sku) => ({ toolName: "order", input: { sku }, toolCallId: `id-${sku}` }));

interface Turn {
  readonly text: string;
  readonly messages: ModelMessage[];
  readonly requests: { readonly approvalId: string; readonly toolCallId: string }[];
}

async function turn(
  runtime: Runtime,
  orders: Orders,
  messages: ModelMessage[],
  script: ScriptedTurn[],
): Promise<Turn> {
  const agent = new ToolLoopAgent({ model: createScriptedModel(script), tools: orders.tools });
  const result = await runtime.run({ runId: "run-1" }, () => agent.generate({ messages }));
  return {
    text: result.text,
    messages: [...messages, ...result.responseMessages],
    requests: result.content.flatMap((part) =>
      part.type === "tool-approval-request"
        ? [{ approvalId: part.approvalId, toolCallId: part.toolCall.toolCallId }]
        : [],
    ),
  };
}

const begin: ModelMessage[] = [{ role: "user", content: "Order." }];

/** Adds approval responses to the message history, independent of the store. */
function withResponses(
  { messages, requests }: Turn,
  approved: (toolCallId: string) => boolean = () => true,
): ModelMessage[] {
  const content = requests.map(({ approvalId, toolCallId }) => ({
    type: "tool-approval-response" as const,
    approvalId,
    approved: approved(toolCallId),
  }));
  return [...messages, { role: "tool", content }];
}

async function decideAll(runtime: Runtime, approved: (sku: string) => boolean = () => true): Promise<void> {
  for (const { id, args } of await runtime.approvals({ status: "pending" })) {
    await runtime.resolveToolApproval(id, { approved: approved((args as { sku: string }).sku) });
  }
}

/** The tool results as the model reads them. */
function answersIn(messages: readonly ModelMessage[]): unknown[] {
  return messages.flatMap((message) =>
    message.role === "tool"
      ? message.content.flatMap((part) => (part.type === "tool-result" ? [part.output] : []))
      : [],
  );
}

test("a call that needs approval pauses the loop, and the request is stored", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders();
  const paused = await turn(runtime, orders, begin, [orderTurn("a")]);
  expect(paused.requests).toMatchObject([{ toolCallId: "id-a" }]);
  expect(orders.placed).toEqual([]);
  expect(await runtime.approvals({ status: "pending" })).toMatchObject([
    { toolName: "order", args: { sku: "a" }, runId: "run-1", kind: "call" },
  ]);
  expect(await runtime.calls({ runId: "run-1" })).toMatchObject([{ status: "pending", toolCallId: "id-a" }]);
});

test("rule 22: after the decision in the store, generate with the same ids runs the call once", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders();
  const paused = await turn(runtime, orders, begin, [orderTurn("a")]);
  await decideAll(runtime);
  const resumed = await turn(runtime, orders, withResponses(paused), ["done"]);
  expect(resumed.text).toBe("done");
  expect(orders.placed).toEqual(["a"]);
  expect(await runtime.calls({ runId: "run-1" })).toMatchObject([
    { status: "success", approval: "approved" },
  ]);
});

test("streamText pauses and resumes in the same way", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders();
  const stream = (messages: ModelMessage[], script: ScriptedTurn[]): Promise<Turn> =>
    runtime.run({ runId: "run-1" }, async () => {
      const result = streamText({
        model: createScriptedModel(script),
        tools: orders.tools,
        messages,
        stopWhen: isStepCount(5),
      });
      await result.consumeStream();
      const requests = (await result.content).flatMap((part) =>
        part.type === "tool-approval-request"
          ? [{ approvalId: part.approvalId, toolCallId: part.toolCall.toolCallId }]
          : [],
      );
      return {
        text: await result.text,
        messages: [...messages, ...(await result.responseMessages)],
        requests,
      };
    });
  const paused = await stream(begin, [orderTurn("a")]);
  expect(paused.requests).toHaveLength(1);
  await decideAll(runtime);
  const resumed = await stream(withResponses(paused), ["done"]);
  expect(resumed.text).toBe("done");
  expect(orders.placed).toEqual(["a"]);
});

test("rule 22: a response in the message history alone approves nothing", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders();
  const paused = await turn(runtime, orders, begin, [orderTurn("a")]);
  const resumed = await turn(runtime, orders, withResponses(paused), ["I have to wait."]);
  expect(orders.placed).toEqual([]);
  expect(JSON.stringify(answersIn(resumed.messages))).toContain("approval_pending");
  expect(await runtime.approvals({ status: "pending" })).toHaveLength(1);
});

test("an approval in the message history does not undo a denial in the store", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders();
  const paused = await turn(runtime, orders, begin, [orderTurn("a")]);
  await decideAll(runtime, () => false);
  const resumed = await turn(runtime, orders, withResponses(paused), ["not done"]);
  expect(orders.placed).toEqual([]);
  expect(JSON.stringify(answersIn(resumed.messages))).toContain("approval_denied");
  expect(await runtime.calls({ runId: "run-1" })).toMatchObject([{ status: "denied" }]);
});

test("a runtime that trusts its message history takes the response as the decision", async () => {
  await using runtime = createRuntime({ store: ":memory:", trustMessageApprovals: true });
  const orders = createOrders();
  const paused = await turn(runtime, orders, begin, [orderTurn("a")]);
  expect(paused.requests).toHaveLength(1);
  await turn(runtime, orders, withResponses(paused), ["done"]);
  expect(orders.placed).toEqual(["a"]);
  expect(await runtime.approvals({ status: "approved" })).toMatchObject([{ decidedBy: "message history" }]);
});

test("the same approved history submitted twice runs the call once", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders();
  const paused = await turn(runtime, orders, begin, [orderTurn("a")]);
  await decideAll(runtime);
  await turn(runtime, orders, withResponses(paused), ["done"]);
  const again = await turn(runtime, orders, withResponses(paused), ["done again"]);
  expect(again.text).toBe("done again");
  expect(orders.placed).toEqual(["a"]);
});

test("the same approved history submitted twice concurrently runs the call once", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders();
  const paused = await turn(runtime, orders, begin, [orderTurn("a")]);
  await decideAll(runtime);
  const submitted = await Promise.allSettled([
    turn(runtime, orders, withResponses(paused), ["done"]),
    turn(runtime, orders, withResponses(paused), ["done"]),
  ]);
  expect(submitted.some(({ status }) => status === "fulfilled")).toBe(true);
  expect(orders.placed).toEqual(["a"]);
});

test("the same approved history that two runtimes on one store submit concurrently runs the call once", async () => {
  const store = await createMemoryStore();
  await using one = createRuntime({ store });
  await using other = createRuntime({ store });
  const orders = createOrders();
  const paused = await turn(one, orders, begin, [orderTurn("a")]);
  await decideAll(other);
  const submitted = await Promise.allSettled([
    turn(one, orders, withResponses(paused), ["done"]),
    turn(other, orders, withResponses(paused), ["done"]),
  ]);
  expect(submitted.some(({ status }) => status === "fulfilled")).toBe(true);
  expect(orders.placed).toEqual(["a"]);
});

test("several requests of one response are shown together, and each gets its own decision", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders();
  const paused = await turn(runtime, orders, begin, [orderTurn("a", "b", "c")]);
  expect(paused.requests.map(({ toolCallId }) => toolCallId)).toEqual(["id-a", "id-b", "id-c"]);
  expect(await runtime.approvals({ status: "pending" })).toHaveLength(3);
  await decideAll(runtime, (sku) => sku !== "b");
  const resumed = await turn(runtime, orders, withResponses(paused), ["done"]);
  expect(orders.placed.toSorted()).toEqual(["a", "c"]);
  const calls = (await runtime.calls({ runId: "run-1" })).sort((one, other) => one.seq - other.seq);
  expect(calls.map(({ toolCallId, status }) => [toolCallId, status])).toEqual([
    ["id-a", "success"],
    ["id-b", "denied"],
    ["id-c", "success"],
  ]);
  const answers = answersIn(resumed.messages).map((output) => JSON.stringify(output));
  expect(answers).toHaveLength(3);
  expect(answers[1]).toContain("approval_denied");
});

test("of several requests only the decided ones continue; the rest still wait", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders();
  const paused = await turn(runtime, orders, begin, [orderTurn("a", "b")]);
  const requests = await runtime.approvals({ status: "pending" });
  const second = requests.find(({ args }) => (args as { sku: string }).sku === "b");
  await runtime.resolveToolApproval(second?.id ?? "", { approved: true });
  await turn(runtime, orders, withResponses(paused), ["one is done"]);
  expect(orders.placed).toEqual(["b"]);
  expect(await runtime.approvals({ status: "pending" })).toHaveLength(1);
});

test("the call runs with edited arguments", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders();
  const paused = await turn(runtime, orders, begin, [orderTurn("a")]);
  const [request] = await runtime.approvals({ status: "pending" });
  await runtime.resolveToolApproval(request?.id ?? "", { approved: true, approvedArgs: { sku: "z" } });
  await turn(runtime, orders, withResponses(paused), ["done"]);
  expect(orders.placed).toEqual(["z"]);
});

test("a call whose arguments were changed in the history is a different call, which is not approved", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders();
  const paused = await turn(runtime, orders, begin, [orderTurn("a")]);
  await decideAll(runtime);
  const forged = JSON.parse(JSON.stringify(withResponses(paused)).replace('"sku":"a"', '"sku":"forged"'));
  await turn(runtime, orders, forged as ModelMessage[], ["done"]);
  expect(orders.placed).toEqual([]);
  expect(await runtime.approvals({ status: "pending" })).toMatchObject([{ args: { sku: "forged" } }]);
});

test("a second equal call of a later step, approved as well, runs as well", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders();
  const first = await turn(runtime, orders, begin, [orderTurn("a")]);
  await decideAll(runtime);
  const second = await turn(runtime, orders, withResponses(first), [
    [{ toolName: "order", input: { sku: "a" }, toolCallId: "id-a-again" }],
  ]);
  expect(second.requests).toMatchObject([{ toolCallId: "id-a-again" }]);
  await decideAll(runtime);
  await turn(runtime, orders, withResponses(second), ["done"]);
  expect(orders.placed).toEqual(["a", "a"]);
});

test("outside any run a tool that needs approval is refused and does not run", async () => {
  const orders = createOrders();
  const model = createScriptedModel([orderTurn("a"), "refused"]);
  await generateText({ model, tools: orders.tools, messages: begin, stopWhen: isStepCount(3) });
  expect(orders.placed).toEqual([]);
  expect(JSON.stringify(model.requests[1]?.prompt)).toContain("approval_required");
});
