/** `toUIMessageStream`: the chunks that `useChat` reads, for any run. */
import { isStepCount, readUIMessageStream, streamText, type UIMessage, type UIMessageChunk } from "ai";
import { createRuntime, defineTool, type Runtime } from "toolwright";
import { recordModel, toUIMessageStream } from "toolwright/ai-sdk";
import { expect, test } from "vitest";
import { z } from "zod";
import { createStorePath, endAllOwners } from "../workflow/harness.ts";
import { readAll } from "./collect-parts.ts";
import { createLiveModel, type LiveModel } from "./live-model.ts";

const order = defineTool({
  name: "order",
  schema: z.object({ sku: z.string() }),
  execute: ({ sku }) => {
    if (sku === "nothing") throw new Error("sold out");
    return { ordered: sku };
  },
});

function ask(runtime: Runtime, { model }: LiveModel): Promise<void> {
  return runtime.run({ runId: "r" }, async () => {
    const result = streamText({
      model: recordModel(model),
      tools: { order },
      prompt: "Go",
      stopWhen: isStepCount(4),
      onError: () => undefined,
    });
    for await (const part of result.fullStream) if (part.type === "error") throw part.error;
  });
}

/** The chunks, while they arrive. */
function read(stream: ReadableStream<UIMessageChunk>) {
  const [one, two] = stream.tee();
  const reader = two.getReader();
  const until = async (type: UIMessageChunk["type"]): Promise<void> => {
    for (let chunk = await reader.read(); chunk.value?.type !== type; chunk = await reader.read())
      if (chunk.done) throw new Error(`no ${type}`);
    reader.releaseLock();
    void two.cancel();
  };
  return { stream: one, until };
}

async function messageOf(stream: ReadableStream<UIMessageChunk>): Promise<UIMessage | undefined> {
  let last: UIMessage | undefined;
  for await (const state of readUIMessageStream({ stream, terminateOnError: true })) last = state;
  return last;
}

test("reasoning, text, calls, results, sources and files become the parts of one message", async () => {
  const live = createLiveModel();
  await using runtime = createRuntime({ store: createStorePath() });
  const message = messageOf(toUIMessageStream(runtime, "r"));
  const running = ask(runtime, live);
  const first = await live.next();
  first.send(
    { type: "reasoning-start", id: "x" },
    { type: "reasoning-delta", id: "x", delta: "Hm." },
    { type: "reasoning-end", id: "x" },
    { type: "source", sourceType: "url", id: "s", url: "https://example.com/", title: "Shop" },
    { type: "file", mediaType: "text/plain", data: { type: "data", data: "aGk=" } },
  );
  first.call("order", { sku: "apple" }, "a");
  first.call("order", { sku: "nothing" }, "b");
  first.finish("tool-calls");
  const second = await live.next();
  second.say("Do", "ne");
  second.send({ type: "text-end", id: "t" });
  second.finish();
  await running;
  const { id, parts } = (await message) ?? { id: "", parts: [] };
  expect(id).toMatch(/^msg-/);
  expect(parts).toMatchObject([
    { type: "step-start" },
    { type: "reasoning", text: "Hm." },
    { type: "source-url", url: "https://example.com/", title: "Shop" },
    { type: "file", mediaType: "text/plain", url: "data:text/plain;base64,aGk=" },
    { type: "tool-order", toolCallId: "a", state: "output-available", output: { ordered: "apple" } },
    { type: "tool-order", toolCallId: "b", state: "output-error", errorText: "sold out" },
    { type: "step-start" },
    { type: "text", text: "Done" },
  ]);
});

test("parts that a crash retracts are retracted in the message, and a run that fails ends with an error", async () => {
  const store = createStorePath();
  const live = createLiveModel();
  const dying = createRuntime({ store });
  await using reader = createRuntime({ store });
  const { stream, until } = read(toUIMessageStream(reader, "r"));
  const message = messageOf(stream);
  void ask(dying, live).catch(() => undefined);
  (await live.next()).say("Hel");
  await until("text-delta");
  await endAllOwners(store);
  await using runtime = createRuntime({ store });
  const running = ask(runtime, live);
  const again = await live.next();
  again.say("Hello");
  again.send({ type: "text-end", id: "t" });
  again.finish();
  await running;
  expect((await message)?.parts).toMatchObject([{ type: "step-start" }, { type: "text", text: "Hello" }]);

  const failing = messageOf(toUIMessageStream(runtime, "other"));
  await expect(runtime.run({ runId: "other" }, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await expect(failing).rejects.toThrow(/failed/);
});

test("`from`, `signal` and cancelling end the reader, not the run; wrong options are refused", async () => {
  const live = createLiveModel();
  await using runtime = createRuntime({ store: createStorePath() });
  const leaving = new AbortController();
  const left = toUIMessageStream(runtime, "r", { signal: leaving.signal });
  const cancelled = toUIMessageStream(runtime, "r").getReader();
  const begun = cancelled.read();
  const running = ask(runtime, live);
  const request = await live.next();
  request.say("Hel");
  await begun;
  await cancelled.cancel();
  leaving.abort();
  expect((await readAll(left)).map(({ type }) => type)).not.toContain("finish");
  request.send({ type: "text-delta", id: "t", delta: "lo" }, { type: "text-end", id: "t" });
  request.finish();
  await running;
  const parts = await readAll(runtime.stream("r"));
  const from = parts.find((part) => part.type === "text-delta" && part.delta === "lo")?.index ?? 0;
  expect((await readAll(toUIMessageStream(runtime, "r", { from }))).map(({ type }) => type)).toEqual([
    "start",
    "text-delta",
    "text-end",
    "finish-step",
    "finish",
  ]);
  expect(() => toUIMessageStream(runtime, "r", { form: 1 } as never)).toThrow(/form/);
  expect(() => toUIMessageStream(runtime, "r", { from: -1 })).toThrow(/from/);
});
