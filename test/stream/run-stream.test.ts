/** `runtime.stream`: the parts of a run, live in any process, with the same indexes for every reader. */
import { isStepCount, readUIMessageStream, streamText, ToolLoopAgent } from "ai";
import {
  createRuntime,
  createWorkflows,
  defineTool,
  type Runtime,
  runWorkflow,
  type StreamPart,
} from "toolwright";
import { recordModel, toUIMessageStream } from "toolwright/ai-sdk";
import { jsx } from "toolwright/jsx-runtime";
import { expect, test } from "vitest";
import { z } from "zod";
import { createStorePath, endAllOwners, rowsOf } from "../workflow/harness.ts";
import { collect, readAll, says, textOf } from "./collect-parts.ts";
import { createLiveModel, type LiveModel } from "./live-model.ts";

const order = defineTool({
  name: "order",
  schema: z.object({ sku: z.string() }),
  idempotent: true,
  sideEffect: true,
  execute: ({ sku }) => ({ ordered: sku }),
});

function ask(runtime: Runtime, live: LiveModel, runId = "r"): Promise<string> {
  return runtime.run({ runId }, async () => {
    const result = streamText({
      model: recordModel(live.model),
      tools: { order },
      prompt: "Order apples",
      stopWhen: isStepCount(4),
      onError: () => undefined,
    });
    let text = "";
    for await (const delta of result.textStream) text += delta;
    return text;
  });
}

function end(request: Awaited<ReturnType<LiveModel["next"]>>): void {
  request.send({ type: "text-end", id: "t" });
  request.finish();
}

function responseOf(part: StreamPart | undefined): string | undefined {
  return part === undefined || part.type === "ended" ? undefined : part.response;
}

test("two readers, here and in another runtime, receive the same parts with the same indexes", async () => {
  const store = createStorePath();
  const live = createLiveModel();
  await using runtime = createRuntime({ store });
  await using other = createRuntime({ store });
  const here = collect(runtime.stream("r"));
  const there = collect(other.stream("r"));
  const running = ask(runtime, live);
  const first = await live.next();
  first.say("I ", "order");
  await here.until(says("order"));
  // The other process reads it while the response is open.
  await there.until(says("order"));
  first.send({ type: "text-end", id: "t" });
  first.call("order", { sku: "apple" });
  await there.until(({ type }) => type === "tool-input-end");
  expect(here.parts.map(({ type }) => type)).not.toContain("tool-call");
  first.finish("tool-calls");
  const second = await live.next();
  second.say("Done");
  end(second);
  await running;
  const [own, others] = await Promise.all([here.done, there.done]);
  expect(own.map(({ type }) => type)).toEqual([
    "response-start",
    "text-start",
    "text-delta",
    "text-delta",
    "text-end",
    "tool-input-start",
    "tool-input-delta",
    "tool-input-end",
    "tool-call",
    "finish",
    "tool-result",
    "response-start",
    "text-start",
    "text-delta",
    "text-end",
    "finish",
    "ended",
  ]);
  expect(others).toEqual(own);
  const indexes = own.map(({ index }) => index);
  expect(indexes).toEqual([...new Set(indexes)].sort((one, two) => one - two));
  expect(own[0]).toMatchObject({ attempt: 1, nodeId: "main", response: expect.any(String) });
  // `from` is inclusive.
  const later = await collect(other.stream("r", { from: indexes[3] ?? 0 })).done;
  expect(later).toEqual(own.slice(3));
});

test("a late reader receives the earlier responses, which then get their indexes", async () => {
  const store = createStorePath();
  const live = createLiveModel();
  await using runtime = createRuntime({ store });
  await using other = createRuntime({ store });
  const running = ask(runtime, live);
  const first = await live.next();
  first.call("order", { sku: "apple" });
  first.finish("tool-calls");
  const second = await live.next();
  expect(await rowsOf(store, "SELECT * FROM toolwright_streams")).toEqual([]);
  expect(await rowsOf(store, "SELECT * FROM toolwright_stream_parts")).toEqual([]);
  second.say("Do");
  const there = collect(other.stream("r"));
  await there.until(says("Do"));
  const here = collect(runtime.stream("r"));
  second.send({ type: "text-delta", id: "t", delta: "ne" });
  end(second);
  await running;
  expect(textOf(await there.done)).toBe("Done");
  expect(await here.done).toEqual(there.parts);
  expect(there.parts.map(({ type }) => type)).toContain("tool-call");
});

test("nothing is written for a run without readers", async () => {
  const store = createStorePath();
  const live = createLiveModel();
  await using runtime = createRuntime({ store });
  const running = ask(runtime, live);
  const request = await live.next();
  request.say("Hello");
  end(request);
  expect(await running).toBe("Hello");
  for (const table of ["toolwright_streams", "toolwright_stream_parts", "toolwright_stream_readers"])
    expect(await rowsOf(store, `SELECT * FROM ${table}`)).toEqual([]);
  expect(await rowsOf(store, "SELECT parts_json FROM toolwright_responses")).toEqual([{ parts_json: null }]);
});

test("the commit of a response deletes its parts", async () => {
  const store = createStorePath();
  const live = createLiveModel();
  await using runtime = createRuntime({ store });
  await using other = createRuntime({ store });
  const there = collect(other.stream("r"));
  const running = ask(runtime, live);
  const first = await live.next();
  first.say("I order");
  await there.until(says("I order"));
  expect(await rowsOf(store, "SELECT response FROM toolwright_stream_parts")).not.toEqual([]);
  first.send({ type: "text-end", id: "t" });
  first.call("order", { sku: "apple" });
  first.finish("tool-calls");
  const second = await live.next();
  expect(await rowsOf(store, "SELECT response FROM toolwright_stream_parts WHERE response <> ''")).toEqual(
    [],
  );
  second.say("Done");
  end(second);
  await running;
  await there.done;
});

test("after a crash, `retracted` takes back the parts of the response that was not committed", async () => {
  const store = createStorePath();
  const live = createLiveModel();
  const dying = createRuntime({ store });
  await using reader = createRuntime({ store });
  const there = collect(reader.stream("r"));
  void ask(dying, live).catch(() => undefined);
  const lost = await live.next();
  lost.say("Hel");
  await there.until(says("Hel"));
  await endAllOwners(store);
  await using runtime = createRuntime({ store });
  const running = ask(runtime, live);
  const again = await live.next();
  again.say("Hello");
  end(again);
  expect(await running).toBe("Hello");
  const parts = await there.done;
  const retracted = parts.findIndex(({ type }) => type === "retracted");
  const responses = new Set(parts.flatMap((part) => ("response" in part ? [part.response] : [])));
  expect(responses.size).toBe(1);
  expect(textOf(parts.slice(0, retracted))).toBe("Hel");
  expect(textOf(parts.slice(retracted))).toBe("Hello");
  const indexes = parts.map(({ index }) => index);
  expect(indexes).toEqual([...new Set(indexes)].sort((one, two) => one - two));
  // A reader that left before the crash and returns after the commit receives the retraction too.
  const late = await collect(runtime.stream("r", { from: indexes[retracted] ?? 0 })).done;
  expect(late).toEqual(parts.slice(retracted));
});

test("a response that breaks off is retracted", async () => {
  const live = createLiveModel();
  await using runtime = createRuntime({ store: createStorePath() });
  const here = collect(runtime.stream("r"));
  const failing = ask(runtime, live).catch(() => undefined);
  const first = await live.next();
  first.say("Hel");
  await here.until(says("Hel"));
  first.breakOff();
  await failing;
  expect((await here.done).map(({ type }) => type)).toEqual([
    "response-start",
    "text-start",
    "text-delta",
    "retracted",
    "ended",
  ]);
});

test("a response that was aborted and is requested again in the same process is retracted", async () => {
  const live = createLiveModel();
  await using runtime = createRuntime({ store: createStorePath() });
  const here = collect(runtime.stream("r"));
  const model = recordModel(live.model);
  const running = runtime.run({ runId: "r" }, async () => {
    const impatient = new AbortController();
    const first = streamText({
      model,
      prompt: "Hi",
      abortSignal: impatient.signal,
      onError: () => undefined,
    });
    const reading = first.consumeStream();
    (await live.next()).say("old ");
    await here.until(says("old "));
    impatient.abort();
    await reading;
    const second = streamText({ model, prompt: "Hi" });
    const rest = second.consumeStream();
    const request = await live.next();
    request.say("new");
    end(request);
    await rest;
    return second.text;
  });
  expect(await running).toBe("new");
  const parts = await here.done;
  const retracted = parts.findIndex(({ type }) => type === "retracted");
  expect(parts[retracted]).toMatchObject({ response: responseOf(parts[0]) });
  expect(textOf(parts.slice(0, retracted))).toBe("old ");
  expect(textOf(parts.slice(retracted))).toBe("new");
});

test("the next attempt retracts a response of an attempt that timed out", async () => {
  const live = createLiveModel();
  const store = createStorePath();
  await using runtime = createRuntime({ store });
  await using other = createRuntime({ store });
  const { Workflow, Task, workflow } = createWorkflows({});
  const agent = new ToolLoopAgent({ model: live.model });
  const task = jsx(Task, { id: "t", agent, timeoutMs: 1_000, children: "Write." });
  const write = workflow(() => jsx(Workflow, { name: "w", children: task }));
  const here = collect(runtime.stream("r"));
  const there = collect(other.stream("r"));
  const shown = readAll(readUIMessageStream({ stream: toUIMessageStream(runtime, "r") }));
  const running = runWorkflow(write, { runtime, runId: "r", input: {} });
  (await live.next()).say("old ");
  await there.until(says("old "));
  const second = await live.next();
  second.say("new");
  end(second);
  expect((await running).status).toBe("finished");
  const [parts, others] = await Promise.all([here.done, there.done]);
  const retracted = parts.findIndex(({ type }) => type === "retracted");
  expect(parts[retracted]).toMatchObject({ attempt: 1, response: responseOf(parts[0]) });
  expect(textOf(parts.slice(retracted))).toBe("new");
  expect(others).toEqual(parts);
  const indexes = parts.map(({ index }) => index);
  expect(indexes).toEqual([...new Set(indexes)].sort((one, two) => one - two));
  expect((await shown).at(-1)?.parts.map(({ type }) => type)).toEqual(["step-start", "text"]);
});

test("a signal ends the stream, and closing the runtime does too", async () => {
  const live = createLiveModel();
  const runtime = createRuntime({ store: createStorePath() });
  const leaving = new AbortController();
  const one = collect(runtime.stream("r", { signal: leaving.signal }));
  const other = collect(runtime.stream("r"));
  const running = ask(runtime, live);
  const request = await live.next();
  request.say("Hi");
  await Promise.all([one.until(says("Hi")), other.until(says("Hi"))]);
  leaving.abort();
  expect((await one.done).map(({ type }) => type)).not.toContain("ended");
  end(request);
  await running;
  expect((await other.done).at(-1)).toMatchObject({ type: "ended", status: "finished" });
  const waiting = collect(runtime.stream("later"));
  const first = waiting.done;
  await runtime.ready();
  await runtime.close();
  expect(await first).toEqual([]);
});

test("wrong options are refused by name", async () => {
  await using runtime = createRuntime({ store: createStorePath() });
  const first = (from: unknown, more = {}) => runtime.stream("r", { from, ...more } as never).next();
  await expect(first(-1)).rejects.toThrow(/from/);
  await expect(first("2")).rejects.toThrow(/from/);
  await expect(first(0, { form: 1 })).rejects.toThrow(/form/);
  await expect(runtime.stream("..").next()).rejects.toThrow(/runId/);
});
