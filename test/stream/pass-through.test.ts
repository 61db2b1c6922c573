/** Recorded models stream: what they say passes immediately; calls and the end wait for the commit. */
import { isStepCount, streamText, ToolLoopAgent } from "ai";
import { createRuntime, createSmartAgent, createSmithers, defineTool, runWorkflow } from "toolwright";
import { recordModel } from "toolwright/ai-sdk";
import { runAgentLoop } from "toolwright/anthropic";
import { jsx } from "toolwright/jsx-runtime";
import { expect, test } from "vitest";
import { z } from "zod";
import { createStorePath, rowsOf } from "../workflow/harness.ts";
import { createLiveModel } from "./live-model.ts";

/** The rows that the tool found in the store when it started. */
function createOrder(store: string) {
  const responses: string[] = [];
  const order = defineTool({
    name: "order",
    schema: z.object({ sku: z.string() }),
    idempotent: true,
    sideEffect: true,
    async execute({ sku }) {
      const rows = await rowsOf(store, "SELECT response_json FROM toolwright_responses");
      responses.push(...rows.map((row) => String(row["response_json"])));
      return { ordered: sku };
    },
  });
  return { order, responses };
}

test("rule 7: a recorded model passes deltas immediately, and its calls when the response is committed", async () => {
  const store = createStorePath();
  const { order, responses } = createOrder(store);
  const live = createLiveModel();
  await using runtime = createRuntime({ store });
  const seen: string[] = [];
  const running = runtime.run({ runId: "r" }, async () => {
    const { stream } = streamText({
      model: recordModel(live.model),
      tools: { order },
      prompt: "Order apples",
      stopWhen: isStepCount(3),
    });
    for await (const part of stream) {
      seen.push(part.type);
      onPart.resolve();
    }
  });
  let onPart = Promise.withResolvers<void>();
  const until = async (type: string): Promise<void> => {
    while (!seen.includes(type)) {
      onPart = Promise.withResolvers<void>();
      if (!seen.includes(type)) await onPart.promise;
    }
  };
  const first = await live.next();
  first.say("I ", "order");
  await until("text-delta");
  first.send({ type: "text-end", id: "t" }, { type: "reasoning-start", id: "x" });
  first.send({ type: "reasoning-delta", id: "x", delta: "hm" }, { type: "reasoning-end", id: "x" });
  await until("reasoning-delta");
  first.call("order", { sku: "apple" }, "a");
  // The input of the second call passes although the first call is held.
  first.call("order", { sku: "pear" }, "b");
  await until("tool-input-delta");
  expect(seen).not.toContain("tool-call");
  expect(await rowsOf(store, "SELECT 1 AS one FROM toolwright_responses")).toEqual([]);
  first.finish("tool-calls");
  const second = await live.next();
  expect(responses).toHaveLength(2);
  expect(responses[0]).toContain("pear");
  second.say("Done");
  second.send({ type: "text-end", id: "t" });
  second.finish();
  await running;
  expect(live.requests).toBe(2);
});

test("a stream that breaks in the middle is an error, and is not recorded", async () => {
  const store = createStorePath();
  const live = createLiveModel();
  const go = async (): Promise<{ text: string; errors: unknown[] }> => {
    await using runtime = createRuntime({ store });
    return runtime.run({ runId: "r" }, async () => {
      const errors: unknown[] = [];
      const result = streamText({
        model: recordModel(live.model),
        prompt: "Hi",
        onError: ({ error }) => void errors.push(error),
      });
      let text = "";
      try {
        for await (const delta of result.textStream) text += delta;
      } catch (error) {
        errors.push(error);
      }
      return { text, errors };
    });
  };
  const failing = go();
  const first = await live.next();
  first.say("Hel");
  first.breakOff(new Error("connection reset"));
  expect((await failing).errors).toContainEqual(expect.objectContaining({ message: "connection reset" }));
  expect(await rowsOf(store, "SELECT 1 AS one FROM toolwright_responses")).toEqual([]);
  const retried = go();
  const second = await live.next();
  second.say("Hello");
  second.send({ type: "text-end", id: "t" });
  second.finish();
  expect(await retried).toMatchObject({ text: "Hello", errors: [] });
  expect(await go()).toMatchObject({ text: "Hello" });
  expect(live.requests).toBe(2);
});

test("rule 37: chunks of the provider pass, and are not stored", async () => {
  const live = createLiveModel();
  const store = createStorePath();
  await using runtime = createRuntime({ store, recording: "keep" });
  const seen: unknown[] = [];
  const running = runtime.run({ runId: "r" }, async () => {
    const model = recordModel(live.model);
    const { stream } = streamText({ model, prompt: "Pay", include: { rawChunks: true } });
    for await (const part of stream) if (part.type === "raw") seen.push(part.rawValue);
  });
  const request = await live.next();
  request.send({ type: "raw", rawValue: '{"card":"4242-' });
  request.say("Paid.");
  request.send({ type: "raw", rawValue: '4242"}' }, { type: "text-end", id: "t" });
  request.finish();
  await running;
  expect(seen).toEqual(['{"card":"4242-', '4242"}']);
  const rows = await rowsOf(store, "SELECT response_json FROM toolwright_responses");
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).toContain("Paid.");
  expect(JSON.stringify(rows)).not.toContain("4242");
});

test("an agent of a workflow is called through `stream`, and a broken stream fails its attempt", async () => {
  const store = createStorePath();
  const { order, responses } = createOrder(store);
  const live = createLiveModel();
  const { Workflow, Task, smithers, outputs } = createSmithers({ answer: z.string() }, { dbPath: store });
  const agent = new ToolLoopAgent({ model: live.model, tools: { order } });
  const workflow = smithers(() =>
    jsx(Workflow, {
      name: "w",
      children: jsx(Task, { id: "t", output: outputs.answer, agent, retries: 1, children: "Order apples" }),
    }),
  );
  const running = runWorkflow(workflow);
  const broken = await live.next();
  broken.say("Hel");
  broken.call("order", { sku: "never" });
  broken.breakOff();
  const first = await live.next();
  first.call("order", { sku: "apple" });
  first.finish("tool-calls");
  const second = await live.next();
  second.say("Done");
  second.send({ type: "text-end", id: "t" });
  second.finish();
  expect(await running).toMatchObject({ status: "finished" });
  expect(responses).toHaveLength(1);
  expect(responses[0]).toContain("apple");
});

test("a smart agent passes deltas immediately, and requests a broken response again", async () => {
  const store = createStorePath();
  const { order, responses } = createOrder(store);
  const live = createLiveModel();
  await using runtime = createRuntime({ store });
  const heard: string[] = [];
  let onText = Promise.withResolvers<void>();
  const agent = createSmartAgent({
    model: live.model,
    tools: [order],
    runtime,
    onEvent: (event) => {
      if (event.type !== "stream") return;
      heard.push(event.text);
      onText.resolve();
    },
  });
  const invoked = agent.invoke({ runId: "r", messages: [{ role: "user", content: "Hi" }] }, { stream: true });
  const first = await live.next();
  first.say("Hel");
  await onText.promise;
  expect(heard).toEqual(["Hel"]);
  first.breakOff(new Error("connection reset"));
  const second = await live.next();
  onText = Promise.withResolvers();
  second.say("Hello");
  await onText.promise;
  second.send({ type: "text-end", id: "t" });
  second.call("order", { sku: "apple" });
  second.finish("tool-calls");
  const third = await live.next();
  expect(responses).toHaveLength(1);
  third.say("Done");
  third.send({ type: "text-end", id: "t" });
  third.finish();
  expect(await invoked).toMatchObject({ status: "finished", content: "Done" });
});

test("the Anthropic loop passes deltas immediately, and runs calls when the response is committed", async () => {
  const store = createStorePath();
  const { order, responses } = createOrder(store);
  await using runtime = createRuntime({ store });
  const events: string[] = [];
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let requests = 0;
  const message = { id: "m", type: "message", role: "assistant", model: "x", content: [], usage: {} };
  const client = {
    messages: {
      create: () => {
        requests += 1;
        return requests === 1 ? firstResponse() : lastResponse();
      },
    },
  };
  async function* firstResponse() {
    yield { type: "message_start", message };
    yield { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } };
    yield { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "I order" } };
    await gates[0]?.promise;
    const call = { type: "tool_use", id: "c", name: "order", input: {} };
    yield { type: "content_block_start", index: 1, content_block: call };
    yield {
      type: "content_block_delta",
      index: 1,
      delta: { type: "input_json_delta", partial_json: '{"sku":"a"}' },
    };
    yield { type: "content_block_stop", index: 1 };
    yield { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: {} };
    yield { type: "message_stop" };
  }
  async function* lastResponse() {
    yield { type: "message_start", message };
    yield { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: {} };
    yield { type: "message_stop" };
  }
  const running = runAgentLoop({
    client: client as never,
    model: "x",
    messages: [{ role: "user", content: "Order" }],
    tools: [order],
    runtime,
    runId: "r",
    stream: true,
    onEvent: (event) => {
      events.push(event.type);
      if (event.type === "text-delta") gates[1]?.resolve();
    },
  });
  await gates[1]?.promise;
  expect(events).toEqual(["text-delta"]);
  gates[0]?.resolve();
  await running;
  expect(responses).toHaveLength(1);
});
