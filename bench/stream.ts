/** Time to the first token: how much later than with the plain model, in one run, for each loop. */
import { streamText, ToolLoopAgent } from "ai";
import { join } from "node:path";
import { createRuntime, createSmartAgent, createSmithers, runWorkflow, type Runtime } from "toolwright";
import { recordModel } from "toolwright/ai-sdk";
import { runAgentLoop } from "toolwright/anthropic";
import { jsx } from "toolwright/jsx-runtime";
import type { Row } from "./bench.ts";
import { inFolder, median } from "./measure.ts";

const ROUNDS = 15;
const PIECES = 20;
const PACE_MS = 5;
const TARGET_MS = 10;
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, PACE_MS));

async function* pieces(): AsyncGenerator<string> {
  for (let index = 0; index < PIECES; index += 1) {
    await pause();
    yield `piece ${index} `;
  }
}

async function* parts() {
  yield { type: "stream-start" as const, warnings: [] };
  yield { type: "text-start" as const, id: "t" };
  for await (const delta of pieces()) yield { type: "text-delta" as const, id: "t", delta };
  yield { type: "text-end" as const, id: "t" };
  yield { type: "finish" as const, finishReason: { unified: "stop" as const, raw: "stop" }, usage };
}

const model = {
  specificationVersion: "v4" as const,
  provider: "bench",
  modelId: "bench",
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error("not generated")),
  doStream: async () => ({ stream: ReadableStream.from(parts()) }),
};

const message = { id: "m", type: "message", role: "assistant", model: "x", content: [], usage: {} };

async function* events() {
  yield { type: "message_start", message };
  yield { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } };
  for await (const text of pieces())
    yield { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } };
  yield { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: {} };
  yield { type: "message_stop" };
}

/** Each returns the time from its start to the first token. */
type Loop = (runtime: Runtime, runId: string) => Promise<number>;

/** @param start begins the work, and calls the function at the first token */
async function firstToken(start: (seen: () => void) => PromiseLike<unknown>): Promise<number> {
  const started = performance.now();
  let first: number | undefined;
  await start(() => {
    first ??= performance.now() - started;
  });
  return first ?? Number.NaN;
}

async function readText(given: typeof model, seen: () => void): Promise<void> {
  for await (const _ of streamText({ model: given, prompt: "Go." }).textStream) seen();
}

const plainModel: Loop = () => firstToken((seen) => readText(model, seen));

const plainAnthropic: Loop = () =>
  firstToken(async (seen) => {
    for await (const event of events()) if (event.type === "content_block_delta") seen();
  });

const recorded: Loop = (runtime, runId) =>
  firstToken((seen) => runtime.run({ runId }, () => readText(recordModel(model), seen)));

const smartAgent: Loop = (runtime, runId) => {
  const agent = createSmartAgent({ model, runtime });
  return firstToken((seen) =>
    agent.invoke(
      { runId, messages: [{ role: "user", content: "Go." }] },
      { stream: true, onEvent: ({ type }) => (type === "stream" ? seen() : undefined) },
    ),
  );
};

const anthropic: Loop = (runtime, runId) =>
  firstToken((seen) =>
    runAgentLoop({
      client: { messages: { create: () => events() } } as never,
      model: "x",
      messages: [{ role: "user", content: "Go." }],
      tools: [],
      runtime,
      runId,
      stream: true,
      onEvent: ({ type }) => (type === "text-delta" ? seen() : undefined),
    }),
  );

/** Read through `runtime.stream`, from the time when the model is asked. */
function workflowIn(folder: string): Loop {
  const store = join(folder, "workflow.db");
  return async (runtime, runId) => {
    let askedAt = 0;
    let first: number | undefined;
    const asking = {
      ...model,
      doStream: async () => {
        askedAt = performance.now();
        return model.doStream();
      },
    };
    const { Workflow, Task, smithers } = createSmithers({}, { dbPath: store });
    const task = { id: "t", agent: new ToolLoopAgent({ model: asking }), children: "Go." };
    const workflow = smithers(() => jsx(Workflow, { name: "w", children: jsx(Task, task) }));
    const reading = (async () => {
      for await (const { type } of runtime.stream(runId))
        if (type === "text-delta") first ??= performance.now() - askedAt;
    })();
    await runWorkflow(workflow, { runId, runtime });
    await reading;
    return first ?? Number.NaN;
  };
}

export async function benchStream(): Promise<Row[]> {
  return inFolder(async (folder) => {
    await using runtime = createRuntime({ store: join(folder, "workflow.db") });
    const loops: readonly (readonly [string, Loop])[] = [
      ["plain model", plainModel],
      ["plain Anthropic stream", plainAnthropic],
      ["recordModel", recorded],
      ["workflow agent, from the request", workflowIn(folder)],
      ["smart agent", smartAgent],
      ["Anthropic loop", anthropic],
    ];
    const times = new Map<string, number[]>(loops.map(([name]) => [name, []]));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, loop] of loops) times.get(name)?.push(await loop(runtime, `${name} ${round}`));
    }
    const of = (name: string): number => median((times.get(name) ?? []).slice(3));
    return loops.map(([name], index): Row => {
      const base = name.startsWith("Anthropic") ? of("plain Anthropic stream") : of("plain model");
      return index < 2
        ? { what: `first token, ${name}`, value: of(name), unit: "ms" }
        : { what: `first token later, ${name}`, value: of(name) - base, unit: "ms", target: TARGET_MS };
    });
  });
}
