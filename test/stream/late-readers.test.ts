/** Readers who come late, read slowly, or follow an agent inside of a tool: none of them misses a part. */
import { isStepCount, streamText } from "ai";
import { createRuntime, defineTool, type Runtime, type StreamPart } from "toolwright";
import { recordModel, toUIMessageStream } from "toolwright/ai-sdk";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { changeRows, createStorePath, rowsOf, until } from "../workflow/harness.ts";
import { collect, readAll, says, textOf } from "./collect-parts.ts";
import { createLiveModel, type LiveModel } from "./live-model.ts";

const order = defineTool({
  name: "order",
  schema: z.object({ sku: z.string() }),
  needsApproval: ({ sku }) => sku === "diamond",
  execute: ({ sku }) => {
    if (sku === "nothing") throw new Error("sold out");
    return { ordered: sku, at: new Date(0) };
  },
});

function ask(runtime: Runtime, { model }: LiveModel, tools: Record<string, typeof order> = { order }) {
  return runtime.run({ runId: "r" }, async () => {
    const result = streamText({ model: recordModel(model), tools, prompt: "Go", stopWhen: isStepCount(4) });
    let text = "";
    for await (const delta of result.textStream) text += delta;
    return text;
  });
}

function say(request: Awaited<ReturnType<LiveModel["next"]>>, ...pieces: string[]): void {
  request.say(...pieces);
  request.send({ type: "text-end", id: "t" });
  request.finish();
}

/** By the ids of the calls: calls of one response end in any order. */
const results = (parts: readonly StreamPart[]) =>
  parts
    .filter(({ type }) => /^tool-(result|error|approval-request)$/.test(type))
    .toSorted((one, other) => idOf(one).localeCompare(idOf(other)));
const idOf = (part: StreamPart): string => ("toolCallId" in part ? part.toolCallId : "");

test("a late reader receives the results of earlier calls, each once, after the response that made it", async () => {
  const store = createStorePath();
  const live = createLiveModel();
  await using runtime = createRuntime({ store });
  await using other = createRuntime({ store });
  const running = ask(runtime, live);
  const first = await live.next();
  first.call("order", { sku: "apple" }, "a");
  first.call("order", { sku: "nothing" }, "b");
  first.finish("tool-calls");
  const second = await live.next();
  second.call("order", { sku: "pear" }, "c");
  second.finish("tool-calls");
  const third = await live.next();
  third.say("Do");
  const there = collect(other.stream("r"));
  await there.until(says("Do"));
  const here = collect(runtime.stream("r"));
  third.send({ type: "text-delta", id: "t", delta: "ne" }, { type: "text-end", id: "t" });
  third.finish();
  await running;
  const parts = await there.done;
  expect(await here.done).toEqual(parts);
  const skipped = /^tool-(input-|call$)|^finish$/;
  const ends = { "tool-result": "a call ends", "tool-error": "a call ends" } as Readonly<
    Record<string, string>
  >;
  expect(parts.flatMap(({ type }) => (skipped.test(type) ? [] : [ends[type] ?? type]))).toEqual([
    "response-start",
    "a call ends",
    "a call ends",
    "response-start",
    "a call ends",
    "response-start",
    "text-start",
    "text-delta",
    "text-delta",
    "text-end",
    "ended",
  ]);
  expect(results(parts)).toMatchObject([
    { toolCallId: "a", toolName: "order", output: { ordered: "apple", at: "1970-01-01T00:00:00.000Z" } },
    { toolCallId: "b", error: { code: "TOOL_EXECUTION_FAILED", message: "sold out" } },
    { toolCallId: "c", output: { ordered: "pear" } },
  ]);
  const indexes = parts.map(({ index }) => index);
  expect(indexes).toEqual([...new Set(indexes)].sort((one, two) => one - two));
});

test("a late reader receives responses in the order in which they were made", async () => {
  const live = createLiveModel();
  await using runtime = createRuntime({ store: createStorePath() });
  const running = ask(runtime, live);
  const skus = ["apple", "pear", "plum"];
  for (const sku of skus) {
    const request = await live.next();
    request.call("order", { sku });
    request.finish("tool-calls");
  }
  say(await live.next(), "Done");
  await running;
  const parts = await readAll(runtime.stream("r"));
  const order = parts.flatMap((part) => {
    if (part.type === "tool-call") return [(part.input as { sku: string }).sku];
    if (part.type === "tool-result") return ["result"];
    return part.type === "text-delta" ? [part.delta] : [];
  });
  expect(order).toEqual([...skus.flatMap((sku) => [sku, "result"]), "Done"]);
});

test("a reader that comes while a tool runs receives its result, even if no request follows", async () => {
  const store = createStorePath();
  const live = createLiveModel();
  const started = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const wait = defineTool({
    name: "order",
    schema: z.object({ sku: z.string() }),
    execute: async ({ sku }) => {
      started.resolve();
      await go.promise;
      return { ordered: sku, at: new Date(0) };
    },
  });
  await using runtime = createRuntime({ store });
  await using other = createRuntime({ store });
  const running = runtime.run({ runId: "r" }, async () => {
    const result = streamText({
      model: recordModel(live.model),
      tools: { order: wait },
      prompt: "Go",
      stopWhen: isStepCount(1),
    });
    await result.consumeStream();
  });
  const first = await live.next();
  first.call("order", { sku: "apple" }, "a");
  first.finish("tool-calls");
  await started.promise;
  const there = collect(other.stream("r"));
  await there.until(({ type }) => type === "tool-call");
  go.resolve();
  await running;
  expect(results(await there.done)).toMatchObject([{ type: "tool-result", toolCallId: "a" }]);
});

test("a call that waits for approval is shown to a reader that comes later, and its stream pauses there", async () => {
  const store = createStorePath();
  const live = createLiveModel();
  await using runtime = createRuntime({ store });
  const running = ask(runtime, live);
  const first = await live.next();
  first.say("Shall I?");
  first.send({ type: "text-end", id: "t" });
  first.call("order", { sku: "diamond" }, "a");
  first.finish("tool-calls");
  await running;
  const [request] = await runtime.approvals({ status: "pending" });
  await using other = createRuntime({ store });
  for (const reader of [other, runtime]) {
    const chunks = await readAll(toUIMessageStream(reader, "r"));
    expect(chunks.map(({ type }) => type)).toEqual([
      "start",
      "start-step",
      "text-start",
      "text-delta",
      "text-end",
      "tool-input-start",
      "tool-input-delta",
      "tool-input-available",
      "finish-step",
      "tool-approval-request",
      "finish",
    ]);
    expect(chunks.at(-2)).toMatchObject({ toolCallId: "a", approvalId: request?.id });
  }
});

test("readers of other processes receive the last words of an agent inside of a tool", async () => {
  const store = createStorePath();
  const outer = createLiveModel();
  const inner = createLiveModel();
  const research = defineTool({
    name: "order",
    schema: z.object({ sku: z.string() }),
    execute: async ({ sku }) => {
      const { text } = streamText({ model: recordModel(inner.model), prompt: sku });
      return { ordered: await text, at: new Date(0) };
    },
  });
  await using runtime = createRuntime({ store });
  await using other = createRuntime({ store });
  const there = collect(other.stream("r"));
  const running = ask(runtime, outer, { order: research });
  const first = await outer.next();
  first.say("I look.");
  await there.until(says("I look."));
  first.send({ type: "text-end", id: "t" });
  first.call("order", { sku: "moon" });
  first.finish("tool-calls");
  // All at once: the commit of the call follows immediately, and deletes the parts from inside the call.
  say(await inner.next(), "Cheese", "!");
  say(await outer.next(), "Done");
  await running;
  const parts = await there.done;
  const inside = parts.filter((part) => "parentKey" in part && part.parentKey !== undefined);
  expect(textOf(inside)).toBe("Cheese!");
  expect(inside.at(-1)?.type).toBe("finish");
  expect(textOf(parts)).toBe("I look.Cheese!Done");
});

test("a slow reader does not delay the run, drops its buffer, and reads every part from the store", async () => {
  const store = createStorePath();
  const live = createLiveModel();
  await using runtime = createRuntime({ store });
  const slow = runtime.stream("r");
  const begun = slow.next();
  const running = ask(runtime, live);
  const request = await live.next();
  // Three times as much as may wait in memory.
  const pieces = Array.from({ length: 300 }, (_, index) => `${index}:${"x".repeat(10_000)}`);
  request.say(...pieces.slice(0, 150));
  expect((await begun).value).toMatchObject({ type: "response-start" });
  request.send(...pieces.slice(150).map((delta) => ({ type: "text-delta", id: "t", delta }) as const));
  request.send({ type: "text-end", id: "t" });
  request.finish();
  expect((await running).length).toBe(pieces.join("").length);
  const rest: StreamPart[] = [];
  for await (const part of slow) rest.push(part);
  expect(rest.flatMap((part) => (part.type === "text-delta" ? [part.delta] : []))).toEqual(pieces);
  expect(rest.at(-1)?.type).toBe("ended");
});

/** A card: the end of a run that called it deletes what its model said. */
const charge = defineTool({
  name: "charge",
  schema: z.object({ card: z.string() }),
  redact: { input: ["card"] },
  sideEffect: true,
  idempotent: true,
  execute: () => ({ charged: true }),
});

/** Calls `charge`, then says the pieces. */
function pay(runtime: Runtime, { model }: LiveModel): Promise<unknown> {
  return runtime.run({ runId: "r" }, async () => {
    const result = streamText({
      model: recordModel(model),
      tools: { charge },
      prompt: "Go",
      stopWhen: isStepCount(2),
    });
    await result.consumeStream();
  });
}

async function answer(live: LiveModel, pieces: readonly string[]): Promise<void> {
  const first = await live.next();
  first.call("charge", { card: "4242424242424242" });
  first.finish("tool-calls");
  say(await live.next(), ...pieces);
}

const TABLES = [
  "toolwright_responses",
  "toolwright_stream_parts",
  "toolwright_stream_readers",
  "toolwright_sealed_parts",
];

for (const [name, pieces] of [
  ["a few words", ["Do", "ne"]],
  ["more than waits in memory", Array.from({ length: 300 }, (_, index) => `${index}:${"x".repeat(10_000)}`)],
] as const)
  test(`readers that are behind at the end of a task receive ${name}, which no one else can read`, async () => {
    const store = createStorePath();
    const live = createLiveModel();
    await using runtime = createRuntime({ store });
    await using other = createRuntime({ store });
    const here = collect(runtime.stream("r"));
    const behind = [runtime.stream("r"), other.stream("r")];
    const begun = behind.map((stream) => stream.next());
    const running = pay(runtime, live);
    await answer(live, pieces);
    await running;
    for (const first of begun) expect((await first).value).toMatchObject({ type: "response-start" });
    const all = await here.done;
    expect(textOf(all)).toBe(pieces.join(""));
    const stored = await Promise.all(TABLES.map((table) => rowsOf(store, `SELECT * FROM ${table}`)));
    expect(stored[0]).toEqual([]);
    expect(stored[1]).toEqual([]);
    const text = JSON.stringify(stored);
    for (const secret of ["4242424242424242", pieces[0], "tool-input-delta"])
      expect(text.includes(`${secret}"`)).toBe(false);
    for (const stream of behind) expect(await readAll(stream)).toEqual(all.slice(1));
    for (const table of TABLES) expect(await rowsOf(store, `SELECT * FROM ${table}`)).toEqual([]);
  });

test("a reader for whom there is too much to keep fails instead of leaving something out", async () => {
  const store = createStorePath();
  const live = createLiveModel();
  await using runtime = createRuntime({ store });
  await using other = createRuntime({ store });
  const stream = other.stream("r");
  const begun = stream.next();
  const running = pay(runtime, live);
  const first = await live.next();
  first.call("charge", { card: "4242424242424242" });
  await begun;
  // Almost all that may be kept for it, with an index that it never reads.
  await changeRows(
    store,
    `INSERT INTO toolwright_sealed_parts (run_id, reader_id, last_index, sealed)
     SELECT run_id, reader_id, ${2 ** 50}, '${"x".repeat(16 * 2 ** 20 - 100)}' FROM toolwright_stream_readers`,
  );
  first.finish("tool-calls");
  say(await live.next(), "Done");
  await running;
  await expect(readAll(stream)).rejects.toMatchObject({ code: "TOOL_STREAM_LOST" });
  expect(await rowsOf(store, "SELECT * FROM toolwright_sealed_parts")).toEqual([]);
});

test("a reader that had already read the parts that were too large to keep continues, even if it falls behind later", async () => {
  // The reader does not tell the store how far it has read.
  vi.useFakeTimers({ toFake: ["setInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const store = createStorePath();
  const outer = createLiveModel();
  const inner = createLiveModel();
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const research = defineTool({
    name: "order",
    schema: z.object({ sku: z.string() }),
    execute: async ({ sku }) => {
      const ordered = await streamText({ model: recordModel(inner.model), prompt: sku }).text;
      await gates[sku === "moon" ? 0 : 1]?.promise;
      return { ordered, at: new Date(0) };
    },
  });
  await using runtime = createRuntime({ store });
  await using other = createRuntime({ store });
  const stream = other.stream("r");
  const read: StreamPart[] = [];
  const readUntil = async (isLast: (part: StreamPart) => boolean): Promise<void> => {
    for (let { value } = await stream.next(); value !== undefined; { value } = await stream.next()) {
      read.push(value);
      if (isLast(value)) return;
    }
  };
  const begun = readUntil((part) => part.type === "finish" && part.parentKey !== undefined);
  const running = ask(runtime, outer, { order: research });
  const first = await outer.next();
  first.call("order", { sku: "moon" });
  first.finish("tool-calls");
  say(await inner.next(), "Cheese");
  await begun;
  await changeRows(
    store,
    `INSERT INTO toolwright_sealed_parts (run_id, reader_id, last_index, sealed)
     SELECT run_id, reader_id, ${2 ** 50}, '${"x".repeat(16 * 2 ** 20 - 100)}' FROM toolwright_stream_readers`,
  );
  // The end of the call deletes the parts from inside the call, which cannot be kept.
  gates[0]?.resolve();
  const second = await outer.next();
  expect(await rowsOf(store, "SELECT has_lost FROM toolwright_stream_readers")).not.toEqual([
    { has_lost: null },
  ]);
  await changeRows(store, `DELETE FROM toolwright_sealed_parts WHERE last_index = ${2 ** 50}`);
  second.call("order", { sku: "sun" });
  second.finish("tool-calls");
  say(await inner.next(), "Gas");
  gates[1]?.resolve();
  say(await outer.next(), "Done");
  await running;
  await readUntil(({ type }) => type === "ended");
  expect(textOf(read)).toBe("CheeseGasDone");
});

test("a reader that was presumed dead continues, or fails if it has missed something", async () => {
  const store = createStorePath();
  const live = createLiveModel();
  await using runtime = createRuntime({ store });
  await using other = createRuntime({ store });
  const stream = other.stream("r");
  const begun = stream.next();
  const running = pay(runtime, live);
  const first = await live.next();
  first.call("charge", { card: "4242424242424242" });
  expect((await begun).value).toMatchObject({ type: "response-start" });
  // A new reader finds that the process of this one does not answer.
  const expire = async (): Promise<void> => {
    await changeRows(store, "UPDATE toolwright_stream_readers SET until_ms = 0");
    await readAll(other.stream("another", { signal: AbortSignal.abort() }));
  };
  await expire();
  expect(await rowsOf(store, "SELECT * FROM toolwright_stream_readers")).toEqual([]);
  first.finish("tool-calls");
  for (let part = await stream.next(); part.value?.type !== "tool-call"; part = await stream.next())
    expect(part.done).toBe(false);
  expect(await rowsOf(store, "SELECT reader_id FROM toolwright_stream_readers")).toHaveLength(1);
  await expire();
  say(await live.next(), "Done");
  await running;
  await expect(readAll(stream)).rejects.toMatchObject({ code: "TOOL_STREAM_LOST" });
});

test("a reader that was suspended for too long fails, even if there was no other reader since", async () => {
  const store = createStorePath();
  const live = createLiveModel();
  await using runtime = createRuntime({ store });
  await using other = createRuntime({ store });
  const stream = other.stream("r");
  const begun = stream.next();
  const running = pay(runtime, live);
  const first = await live.next();
  first.call("charge", { card: "4242424242424242" });
  expect((await begun).value).toMatchObject({ type: "response-start" });
  await changeRows(store, "UPDATE toolwright_stream_readers SET until_ms = 0");
  first.finish("tool-calls");
  say(await live.next(), "Done");
  await running;
  await expect(readAll(stream)).rejects.toMatchObject({ code: "TOOL_STREAM_LOST" });
});

test("readers that are behind receive each text of a recorded run once, and late ones its redacted form", async () => {
  const store = createStorePath();
  const live = createLiveModel();
  await using runtime = createRuntime({ store, recording: "keep" });
  await using other = createRuntime({ store });
  const here = collect(runtime.stream("r"));
  const behind = [runtime.stream("r"), other.stream("r")];
  const begun = behind.map((stream) => stream.next());
  const running = pay(runtime, live);
  const first = await live.next();
  first.call("charge", { card: "4242424242424242" });
  await Promise.all([here.until(({ type }) => type === "response-start"), ...begun]);
  first.finish("tool-calls");
  say(await live.next(), "I charged ", "4242424242424242", " now.");
  await running;
  expect(textOf(await here.done)).toBe("I charged 4242424242424242 now.");
  for (const stream of behind) expect(textOf(await readAll(stream))).toBe("I charged 4242424242424242 now.");
  expect(textOf(await readAll(other.stream("r")))).toBe("I charged [redacted] now.");
});

test("of two readers that wait for a run, one leaves and the other receives every part", async () => {
  const store = createStorePath();
  const live = createLiveModel();
  await using runtime = createRuntime({ store });
  await using other = createRuntime({ store });
  const leaving = new AbortController();
  const first = collect(other.stream("r", { signal: leaving.signal }));
  const second = collect(other.stream("r"));
  await until(async () => (await rowsOf(store, "SELECT 1 FROM toolwright_stream_readers")).length === 2);
  leaving.abort();
  await first.done;
  const running = ask(runtime, live);
  say(await live.next(), "Hel", "lo");
  await running;
  expect(textOf(await second.done)).toBe("Hello");
});

test("gc deletes the data of dead readers", async () => {
  const store = createStorePath();
  await using runtime = createRuntime({ store });
  void runtime.stream("later").next();
  await until(async () => (await rowsOf(store, "SELECT 1 FROM toolwright_stream_readers")).length === 1);
  await changeRows(store, "INSERT INTO toolwright_streams (run_id, next_index) VALUES ('never', 0)");
  await changeRows(
    store,
    `INSERT INTO toolwright_stream_readers (run_id, reader_id, read_index, until_ms, public_key)
     VALUES ('never', 'dead', -1, 1, 'key')`,
  );
  await changeRows(
    store,
    `INSERT INTO toolwright_sealed_parts (run_id, reader_id, last_index, sealed) VALUES ('never', 'dead', 1, 'x')`,
  );
  await runtime.gc({ dryRun: true });
  expect(await rowsOf(store, "SELECT 1 FROM toolwright_sealed_parts")).toHaveLength(1);
  await runtime.gc();
  for (const table of ["toolwright_streams", "toolwright_stream_readers"])
    expect(await rowsOf(store, `SELECT run_id FROM ${table}`)).toEqual([{ run_id: "later" }]);
  expect(await rowsOf(store, "SELECT 1 FROM toolwright_sealed_parts")).toEqual([]);
});

test("the stream of a run that retention has deleted is an error", async () => {
  const store = createStorePath();
  const live = createLiveModel();
  await using runtime = createRuntime({ store });
  const running = ask(runtime, live);
  say(await live.next(), "Hello");
  await running;
  await changeRows(store, "UPDATE toolwright_runs SET created_at_ms = 1, updated_at_ms = 1");
  expect(await runtime.gc()).toMatchObject({ deletedRuns: 1 });
  await expect(readAll(runtime.stream("r"))).rejects.toMatchObject({ code: "TOOL_RUN_DELETED" });
  expect(await rowsOf(store, "SELECT * FROM toolwright_streams")).toEqual([]);
});
