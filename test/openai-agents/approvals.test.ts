/** Approvals in the loop of the OpenAI Agents SDK: the decision is in the store; the state of the loop only pauses. */
import { RunState } from "@openai/agents";
import { createRuntime, defineTool, type Runtime } from "toolwright";
import { createMemoryStore } from "toolwright/testing";
import { releaseMalformedCalls, toOpenAIAgentTool } from "toolwright/openai-agents";
import { expect, test } from "vitest";
import { z } from "zod";
import { createOrder } from "../loop-tools.ts";
import { answersIn, calls, runner, say, script, type Scripted, type State } from "./harness.ts";

type Turns = Parameters<typeof script> extends [unknown, ...infer Rest] ? Rest : never;

interface Orders extends Scripted {
  readonly placed: string[];
}

/** An agent with one tool that needs approval, and a script for all its turns. */
function createOrders(...turns: Turns): Orders {
  const { order, placed } = createOrder("shop.order");
  return { placed, ...script([toOpenAIAgentTool(order)], ...turns) };
}

const order = (...skus: string[]): Turns[number] =>
  calls(...skus.map((sku): [string, { sku: string }, string] => ["shop_order", { sku }, `id-${sku}`]));

interface Paused {
  readonly text: unknown;
  readonly state: State;
  readonly waiting: (string | undefined)[];
}

async function go(runtime: Runtime, { agent }: Scripted, input: string | State = "Order."): Promise<Paused> {
  const result = await runtime.run({ runId: "run-1" }, () => runner.run(agent, input));
  return {
    text: result.interruptions.length === 0 ? result.finalOutput : undefined,
    state: result.state,
    waiting: result.interruptions.map(({ rawItem }) => ("callId" in rawItem ? rawItem.callId : undefined)),
  };
}

/** Approves in the state of the loop, as programs without a store do. */
function approveInState(state: State): State {
  for (const interruption of state.getInterruptions()) state.approve(interruption);
  return state;
}

async function decideAll(runtime: Runtime, approved: (sku: string) => boolean = () => true): Promise<void> {
  for (const { id, args } of await runtime.approvals({ status: "pending" })) {
    await runtime.resolveToolApproval(id, { approved: approved((args as { sku: string }).sku) });
  }
}

const answers = ({ model }: Scripted): string => JSON.stringify(answersIn(model.lastCall?.request));

test("a call that needs approval pauses the loop, and the request is stored", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders(order("a"));
  expect((await go(runtime, orders)).waiting).toEqual(["id-a"]);
  expect(orders.placed).toEqual([]);
  expect(await runtime.approvals({ status: "pending" })).toMatchObject([
    { toolName: "shop.order", args: { sku: "a" }, runId: "run-1", kind: "call" },
  ]);
  expect(await runtime.calls({ runId: "run-1" })).toMatchObject([{ status: "pending", toolCallId: "id-a" }]);
});

test("after the decision in the store, the state resumes by itself and runs the call once", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders(order("a"), say("done"));
  const { state } = await go(runtime, orders);
  await decideAll(runtime);
  expect((await go(runtime, orders, state)).text).toBe("done");
  expect(orders.placed).toEqual(["a"]);
  expect(await runtime.calls({ runId: "run-1" })).toMatchObject([
    { status: "success", approval: "approved" },
  ]);
});

test("a serialised state resumes in another process", async () => {
  const store = await createMemoryStore();
  await using one = createRuntime({ store });
  const before = createOrders(order("a"));
  const written = JSON.stringify((await go(one, before)).state);
  await using other = createRuntime({ store });
  await decideAll(other);
  const after = createOrders(say("done"));
  const state = await RunState.fromString(after.agent, written);
  expect((await go(other, after, state)).text).toBe("done");
  expect(after.placed).toEqual(["a"]);
  expect(before.placed).toEqual([]);
});

test("a loop that is driven again from the start redeems the decision too", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  await go(runtime, createOrders(order("a")));
  await decideAll(runtime);
  const again = createOrders(calls(["shop_order", { sku: "a" }, "a-new-id"]), say("done"));
  expect((await go(runtime, again)).text).toBe("done");
  expect(again.placed).toEqual(["a"]);
});

test("without a decision the loop pauses again, and requests approval only once", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders(order("a"));
  const { state } = await go(runtime, orders);
  expect((await go(runtime, orders, state)).waiting).toEqual(["id-a"]);
  expect(orders.placed).toEqual([]);
  expect(await runtime.approvals({ status: "pending" })).toHaveLength(1);
});

test("an approval in the state alone approves nothing", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders(order("a"), say("I have to wait."));
  const { state } = await go(runtime, orders);
  await go(runtime, orders, approveInState(state));
  expect(orders.placed).toEqual([]);
  expect(answers(orders)).toContain("approval_pending");
  expect(await runtime.approvals({ status: "pending" })).toHaveLength(1);
});

test("an approval of all calls of a tool in the state approves nothing", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders(order("a"), order("b"), say("I have to wait."));
  const { state } = await go(runtime, orders);
  for (const interruption of state.getInterruptions()) state.approve(interruption, { alwaysApprove: true });
  await go(runtime, orders, state);
  expect(orders.placed).toEqual([]);
  expect(await runtime.approvals({ status: "pending" })).toHaveLength(2);
});

test("an approval in the state does not undo a denial in the store", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders(order("a"), say("not done"));
  const { state } = await go(runtime, orders);
  await decideAll(runtime, () => false);
  await go(runtime, orders, approveInState(state));
  expect(orders.placed).toEqual([]);
  expect(answers(orders)).toContain("approval_denied");
  expect(await runtime.calls({ runId: "run-1" })).toMatchObject([{ status: "denied" }]);
});

test("a rejection in the state prevents the call, even if the store has an approval", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders(order("a"), say("not done"));
  const { state } = await go(runtime, orders);
  await decideAll(runtime);
  for (const interruption of state.getInterruptions()) state.reject(interruption);
  expect((await go(runtime, orders, state)).text).toBe("not done");
  expect(orders.placed).toEqual([]);
});

test("a rejection in the state is stored as the denial of its request, with its message", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders(order("a"), say("not done"));
  const { state } = await go(runtime, orders);
  for (const item of state.getInterruptions()) state.reject(item, { message: "too expensive" });
  expect((await go(runtime, orders, state)).text).toBe("not done");
  expect(await runtime.approvals()).toMatchObject([
    { status: "denied", decidedBy: "message history", comment: "too expensive" },
  ]);
  expect(await runtime.calls({ runId: "run-1" })).toMatchObject([{ status: "denied" }]);
  // Another loop of the run makes the same call: the denial still applies.
  await go(runtime, createOrders(calls(["shop_order", { sku: "a" }, "later"]), say("done")));
  expect(orders.placed).toEqual([]);
  expect(await runtime.approvals({ status: "pending" })).toEqual([]);
});

test.each([
  ["redacted arguments", { card: "4111", amount: 1 }, { input: ["card"] }],
  ["an argument whose mark does not fit the schema", { card: "4111", amount: 1 }, { input: ["amount"] }],
  ["an input that is hidden altogether", { card: "4111", amount: 1 }, { input: ["*"] }],
  ["plain arguments", { card: "4111", amount: 1 }, undefined],
])("a rejected call with %s ends as denied, and emits it once", async (_kind, args, redact) => {
  await using runtime = createRuntime({ store: ":memory:" });
  const paid: unknown[] = [];
  const pay = defineTool({
    name: "pay",
    schema: z.object({ card: z.string(), amount: z.number() }),
    sideEffect: true,
    needsApproval: true,
    ...(redact === undefined ? {} : { redact }),
    execute: (input, ctx) => paid.push([input, ctx.idempotencyKey]),
  });
  const shop = script([toOpenAIAgentTool(pay)], calls(["pay", args, "id-1"]), say("not done"));
  const { state } = await go(runtime, shop);
  for (const item of state.getInterruptions()) state.reject(item);
  const ended: unknown[] = [];
  runtime.subscribe((event) => {
    if (event.type === "call-finished") ended.push([event.toolCallId, event.status]);
  });
  expect((await go(runtime, shop, state)).text).toBe("not done");
  expect(await runtime.approvals()).toMatchObject([{ status: "denied" }]);
  expect(await runtime.calls({ runId: "run-1" })).toMatchObject([{ status: "denied", approval: "denied" }]);
  expect(ended).toEqual([["id-1", "denied"]]);
  // The same call again is denied too.
  const again = script([toOpenAIAgentTool(pay)], calls(["pay", args, "id-2"]), say("not done"));
  expect((await go(runtime, again)).text).toBe("not done");
  expect(answers(again)).toContain("approval_denied");
  expect(paid).toEqual([]);
  expect(await runtime.approvals({ status: "pending" })).toEqual([]);
});

test("two equal calls that are both rejected both end as denied", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders(
    calls(["shop_order", { sku: "a" }, "id-1"], ["shop_order", { sku: "a" }, "id-2"]),
    say("not done"),
  );
  const { state } = await go(runtime, orders);
  for (const item of state.getInterruptions()) state.reject(item);
  expect((await go(runtime, orders, state)).text).toBe("not done");
  expect(await runtime.calls({ runId: "run-1" })).toMatchObject([{ status: "denied" }, { status: "denied" }]);
  expect(orders.placed).toEqual([]);
});

test("of two requests the rejected one is denied in the store, and the other still waits", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders(order("a", "b"), say("done"));
  const { state } = await go(runtime, orders);
  const [first] = state.getInterruptions();
  state.reject(first as NonNullable<typeof first>);
  const next = await go(runtime, orders, state);
  expect(next.waiting).toEqual(["id-b"]);
  expect(await runtime.approvals({ status: "denied" })).toMatchObject([{ args: { sku: "a" } }]);
  await decideAll(runtime);
  expect((await go(runtime, orders, next.state)).text).toBe("done");
  expect(orders.placed).toEqual(["b"]);
});

test("a rejection of all calls of a tool is stored in another process, even with its own isEnabled", async () => {
  const store = await createMemoryStore();
  await using one = createRuntime({ store });
  const written = JSON.stringify((await go(one, createOrders(order("a")))).state);
  await using other = createRuntime({ store });
  const { order: tool, placed } = createOrder("shop.order");
  const offered = toOpenAIAgentTool(tool, { isEnabled: () => true });
  const after = { placed, ...script([offered], say("not done")) };
  const state = await RunState.fromString(after.agent, written);
  for (const item of state.getInterruptions()) state.reject(item, { alwaysReject: true });
  expect((await go(other, after, state)).text).toBe("not done");
  expect(await other.approvals()).toMatchObject([{ status: "denied" }]);
  expect(placed).toEqual([]);
});

test("a runtime that trusts the state takes an approval in it as the decision", async () => {
  await using runtime = createRuntime({ store: ":memory:", trustMessageApprovals: true });
  const orders = createOrders(order("a"), say("done"));
  const { state } = await go(runtime, orders);
  await go(runtime, orders, approveInState(state));
  expect(orders.placed).toEqual(["a"]);
  expect(await runtime.approvals({ status: "approved" })).toMatchObject([{ decidedBy: "message history" }]);
});

test("the same approved state resumed twice runs the call once", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders(order("a"), say("done"), say("done again"));
  const written = JSON.stringify((await go(runtime, orders)).state);
  await decideAll(runtime);
  const resume = async () =>
    go(runtime, orders, approveInState(await RunState.fromString(orders.agent, written)));
  expect((await resume()).text).toBe("done");
  expect((await resume()).text).toBe("done again");
  expect(orders.placed).toEqual(["a"]);
});

test("the same approved state that two runtimes on one store resume at once runs the call once", async () => {
  const store = await createMemoryStore();
  await using one = createRuntime({ store });
  await using other = createRuntime({ store });
  const orders = createOrders(order("a"), say("done"), say("done"));
  const written = JSON.stringify((await go(one, orders)).state);
  await decideAll(other);
  const states = await Promise.all([1, 2].map(() => RunState.fromString(orders.agent, written)));
  const resumed = await Promise.allSettled(
    states.map((state, index) => go(index === 0 ? one : other, orders, approveInState(state))),
  );
  expect(resumed.some(({ status }) => status === "fulfilled")).toBe(true);
  expect(orders.placed).toEqual(["a"]);
});

test("several requests of one response are shown together, and each gets its own decision, in order", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders(order("a", "b", "c"), say("done"));
  const { state, waiting } = await go(runtime, orders);
  expect(waiting).toEqual(["id-a", "id-b", "id-c"]);
  expect(await runtime.approvals({ status: "pending" })).toHaveLength(3);
  await decideAll(runtime, (sku) => sku !== "b");
  await go(runtime, orders, state);
  expect(orders.placed.toSorted()).toEqual(["a", "c"]);
  const told = answersIn(orders.model.lastCall?.request);
  expect(told.map(([id]) => id)).toEqual(["id-a", "id-b", "id-c"]);
  expect(told[1]?.[1]).toContain("approval_denied");
});

test("of several requests only the decided ones continue; the rest still wait", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders(order("a", "b"), say("done"));
  const { state } = await go(runtime, orders);
  const requests = await runtime.approvals({ status: "pending" });
  const second = requests.find(({ args }) => (args as { sku: string }).sku === "b");
  await runtime.resolveToolApproval(second?.id ?? "", { approved: true });
  const next = await go(runtime, orders, state);
  expect(next.waiting).toEqual(["id-a"]);
  expect(orders.placed).toEqual(["b"]);
  await decideAll(runtime);
  expect((await go(runtime, orders, next.state)).text).toBe("done");
  expect(orders.placed).toEqual(["b", "a"]);
});

test("the call runs with edited arguments", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders(order("a"), say("done"));
  const { state } = await go(runtime, orders);
  const [request] = await runtime.approvals({ status: "pending" });
  await runtime.resolveToolApproval(request?.id ?? "", { approved: true, approvedArgs: { sku: "z" } });
  await go(runtime, orders, state);
  expect(orders.placed).toEqual(["z"]);
});

test("arguments that were changed in a serialised state are another call, which is not approved", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders(order("a"), say("done"));
  const written = JSON.stringify((await go(runtime, orders)).state);
  await decideAll(runtime);
  const forged = written.replaceAll(String.raw`\"sku\":\"a\"`, String.raw`\"sku\":\"forged\"`);
  expect(forged).not.toBe(written);
  const state = await RunState.fromString(orders.agent, forged);
  await go(runtime, orders, approveInState(state)).catch(() => undefined);
  expect(orders.placed).toEqual([]);
  const pending = await runtime.approvals({ status: "pending" });
  expect(pending.every(({ args }) => (args as { sku: string }).sku === "forged")).toBe(true);
});

test("outside any run a tool that needs approval is refused and does not run", async () => {
  const orders = createOrders(order("a"), say("refused"));
  const result = await runner.run(orders.agent, "Order.");
  expect(result.finalOutput).toBe("refused");
  expect(orders.placed).toEqual([]);
  expect(answers(orders)).toContain("approval_required");
});

test("invalid input is answered immediately, without an approval request", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders(calls(["shop_order", { sku: 5 }, "id-1"]), say("sorry"));
  expect((await go(runtime, orders)).text).toBe("sorry");
  expect(answers(orders)).toContain("input_invalid");
  expect(await runtime.approvals({ status: "pending" })).toEqual([]);
});

test("a pause for arguments that are not JSON has no approval; released, it runs nothing and the model is informed", async () => {
  await using runtime = createRuntime({ store: ":memory:" });
  const orders = createOrders(
    calls(
      ["shop_order", '{"sku": "a', "id-1"],
      ["shop_order", "[]", "id-2"],
      ["shop_order", { sku: "b" }, "id-3"],
    ),
    say("sorry"),
  );
  const { state, waiting } = await go(runtime, orders);
  expect(waiting).toEqual(["id-1", "id-2", "id-3"]);
  expect(await runtime.approvals({ status: "pending" })).toMatchObject([{ args: { sku: "b" } }]);
  expect(releaseMalformedCalls(state)).toBe(2);
  const next = await go(runtime, orders, state);
  expect(next.waiting).toEqual(["id-3"]);
  expect(orders.placed).toEqual([]);
  await decideAll(runtime);
  expect((await go(runtime, orders, next.state)).text).toBe("sorry");
  expect(orders.placed).toEqual(["b"]);
  const told = answersIn(orders.model.lastCall?.request);
  expect(Object.fromEntries(told)).toMatchObject({
    "id-1": expect.stringContaining("valid JSON"),
    "id-2": expect.stringContaining("input_invalid"),
    "id-3": '{"placed":"b"}',
  });
});

test("an interrupted call with an unknown outcome pauses the loop", async () => {
  const store = await createMemoryStore();
  const started = Promise.withResolvers<void>();
  let runs = 0;
  const blind = defineTool({
    name: "blind",
    schema: z.object({}),
    sideEffect: true,
    acceptsIdempotencyKey: false,
    execute: () => {
      runs += 1;
      started.resolve();
      return new Promise<string>(() => undefined);
    },
  });
  const loop = () => script([toOpenAIAgentTool(blind)], calls(["blind", {}, "id-1"]), say("done"));
  await using runtime = createRuntime({ store });
  const controller = new AbortController();
  const first = runtime.run({ runId: "run-1" }, () =>
    runner.run(loop().agent, "Go.", { signal: controller.signal }),
  );
  await started.promise;
  controller.abort(new Error("stop"));
  await expect(first).rejects.toThrow();
  expect((await go(runtime, loop())).waiting).toEqual(["id-1"]);
  expect(await runtime.approvals({ status: "pending" })).toMatchObject([{ kind: "replay" }]);
  expect(runs).toBe(1);
});
