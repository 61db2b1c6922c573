/**
 * The cost of a call in the smart agent: with short and long histories, in one wide turn, and against other loops.
 */
import { generateText, isStepCount } from "ai";
import { join } from "node:path";
import { createRuntime, createSmartAgent, defineTool, type AgentInput, type AgentMessage } from "toolwright";
import { z } from "zod";
import type { Row } from "./bench.ts";
import { inFolder, median } from "./measure.ts";
import { loadPeer } from "./peers.ts";

const schema = z.object({ index: z.number() });
const step = defineTool({ name: "step", schema, execute: async ({ index }) => ({ index }) });
const usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

const callOf = (index: number) => ({
  type: "tool-call" as const,
  toolCallId: `call-${index}`,
  toolName: "step",
  input: JSON.stringify({ index }),
});

/** Makes a fixed number of calls, then answers. It ignores its input, so that only the loop is measured. */
function modelOf(answers: number, calls: number, onAsked: (asked: number) => void = () => undefined) {
  let asked = 0;
  return {
    specificationVersion: "v4" as const,
    provider: "bench",
    modelId: "bench",
    supportedUrls: {},
    doStream: () => Promise.reject(new Error("not streamed")),
    doGenerate: async () => {
      onAsked(asked);
      const first = asked * calls;
      asked += 1;
      const isDone = asked > answers;
      return {
        content: isDone
          ? [{ type: "text" as const, text: "Done." }]
          : Array.from({ length: calls }, (_, index) => callOf(first + index)),
        finishReason: { unified: isDone ? ("stop" as const) : ("tool-calls" as const), raw: undefined },
        usage,
        warnings: [],
      };
    },
  };
}

function historyOf(turns: number): AgentMessage[] {
  const messages: AgentMessage[] = [{ role: "user", content: "Go." }];
  for (let index = 0; index < turns; index += 1) {
    const id = `past-${index}`;
    messages.push(
      {
        role: "assistant",
        content: "",
        tool_calls: [{ id, type: "function", function: { name: "step", arguments: "{}" } }],
      },
      {
        role: "tool",
        tool_call_id: id,
        name: "step",
        content: `{"index":${index}}`,
        format: "json",
        executionId: `key-${index}`,
      },
    );
  }
  return [...messages, { role: "assistant", content: "So far." }, { role: "user", content: "Go on." }];
}

export function benchSmartAgent(): Promise<Row[]> {
  return inFolder(async (folder) => [
    ...(await withHistory(folder)),
    ...(await longRun(folder)),
    ...(await longChat(folder)),
    ...(await handedMessages(folder)),
    ...(await wideTurn(folder)),
    ...(await sideBySide(folder)),
  ]);
}

const CALLS = 200;

/**
 * Measured from the first request to the last. A separate row measures the invoke itself, which reads its input once.
 */
async function withHistory(folder: string): Promise<Row[]> {
  const rows: Row[] = [];
  let base = 0;
  for (const turns of [100, 10_000]) {
    const perCall: number[] = [];
    const perInvoke: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      await using runtime = createRuntime({ store: join(folder, `history-${turns}-${round}.db`) });
      const moments: number[] = [];
      const model = modelOf(CALLS, 1, () => moments.push(performance.now()));
      const agent = createSmartAgent({ model, tools: [step], runtime, summarization: false });
      const messages = historyOf(turns);
      const started = performance.now();
      await agent.invoke({ messages });
      const [first = 0, last = 0] = [moments[10], moments.at(-1)];
      perCall.push(((last - first) * 1_000) / (CALLS - 10));
      perInvoke.push(performance.now() - started - (last - (moments[0] ?? 0)));
    }
    const us = median(perCall);
    base ||= us;
    rows.push(
      { what: `per call, ${turns} turns of history`, value: us, unit: "µs", ratio: us / base, target: 2 },
      { what: `beginning and end, ${turns} turns of history`, value: median(perInvoke), unit: "ms" },
    );
  }
  return rows;
}

/** One long invoke. */
async function longRun(folder: string): Promise<Row[]> {
  const TURNS = 10_000;
  await using runtime = createRuntime({ store: join(folder, "long.db") });
  const moments: number[] = [];
  const model = modelOf(TURNS, 1, () => moments.push(performance.now()));
  await createSmartAgent({ model, tools: [step], runtime, summarization: false }).invoke({
    messages: [{ role: "user", content: "Go." }],
  });
  const between = (from: number, to: number): number =>
    (((moments[to] ?? 0) - (moments[from] ?? 0)) * 1_000) / (to - from);
  const early = between(100, 1_100);
  const late = between(TURNS - 1_000, TURNS);
  return [
    { what: "per call, after 100 turns of one invoke", value: early, unit: "µs", ratio: 1 },
    {
      what: "per call, after 9,000 turns of one invoke",
      value: late,
      unit: "µs",
      ratio: late / early,
      target: 2,
    },
  ];
}

/**
 * One run of many invokes, each with the state of the previous one and one call. It passes in the whole conversation.
 */
async function longChat(folder: string): Promise<Row[]> {
  await using runtime = createRuntime({ store: join(folder, "chat.db") });
  const rows: Row[] = [];
  let asked = 0;
  const usual = modelOf(Infinity, 1);
  const model = {
    ...usual,
    doGenerate: async () => {
      const answer = await usual.doGenerate();
      asked += 1;
      return asked % 2 === 1 ? answer : { ...answer, content: [{ type: "text" as const, text: "Done." }] };
    },
  };
  const agent = createSmartAgent({ model, tools: [step], runtime, summarization: false });
  let state: AgentInput = { messages: [{ role: "user", content: "Go." }] };
  let base = 0;
  let times: number[] = [];
  for (let invoke = 1; invoke <= 1_000; invoke += 1) {
    const started = performance.now();
    const result = await agent.invoke(state);
    times.push(performance.now() - started);
    state = { ...result.state, messages: [...result.messages, { role: "user", content: `More ${invoke}.` }] };
    if (invoke !== 100 && invoke !== 1_000) continue;
    const ms = median(times.slice(-50));
    base ||= ms;
    rows.push({ what: `per invoke, after ${invoke} of one run`, value: ms, unit: "ms", ratio: ms / base });
    times = [];
  }
  return rows;
}

/**
 * One invoke of a run that has this many messages. The caller passes in the messages of the last result, which are known; or
 * copies of them, like a server that reads them from its own database: these are compared with the known ones, which costs a
 * fraction of a microsecond each. Neither are hashed, encoded or stored again. One agent may serve several conversations.
 */
async function handedMessages(folder: string): Promise<Row[]> {
  const rows: Row[] = [];
  const same = (state: AgentInput): AgentInput => state;
  const copied = (state: AgentInput): AgentInput => JSON.parse(JSON.stringify(state)) as AgentInput;
  const kinds = [
    { what: "messages", hand: same, chats: 1, target: 2 },
    { what: "messages in 2 chats", hand: same, chats: 2, target: 2 },
    { what: "copies of messages", hand: copied, chats: 1, target: 6 },
  ];
  let base = 0;
  for (const { what, hand, chats, target } of kinds) {
    for (const turns of [50, 500, 2_500]) {
      const ms = await perInvoke(join(folder, `${what}-${turns}.db`), turns, hand, chats);
      base ||= ms;
      rows.push({
        what: `per invoke, handed ${turns * 2} ${what}`,
        value: ms,
        unit: "ms",
        ratio: ms / base,
        target,
      });
    }
  }
  return rows;
}

async function perInvoke(
  store: string,
  turns: number,
  hand: (state: AgentInput) => AgentInput,
  chats: number,
): Promise<number> {
  await using runtime = createRuntime({ store });
  const agent = createSmartAgent({ model: modelOf(0, 0), tools: [step], runtime, summarization: false });
  const states = Array.from({ length: chats }, (): AgentInput => ({ messages: historyOf(turns) }));
  const times: number[] = [];
  for (let invoke = 0; invoke < 60; invoke += 1) {
    for (const [chat, state] of states.entries()) {
      const handed = hand(state);
      const started = performance.now();
      const result = await agent.invoke(handed);
      times.push(performance.now() - started);
      states[chat] = {
        ...result.state,
        messages: [...result.messages, { role: "user", content: `More ${invoke}.` }],
      };
    }
  }
  return median(times.slice(10 * chats));
}

async function wideTurn(folder: string): Promise<Row[]> {
  const WIDE = 10_000;
  await using runtime = createRuntime({ store: join(folder, "wide.db") });
  const agent = createSmartAgent({ model: modelOf(1, WIDE), tools: [step], runtime });
  const started = performance.now();
  await agent.invoke({ messages: [{ role: "user", content: "Go." }] });
  const ms = performance.now() - started;
  return [
    { what: "10,000 calls in one turn, each", value: (ms * 1_000) / WIDE, unit: "µs" },
    { what: "10,000 calls in one turn", value: ms, unit: "ms" },
  ];
}

/** Sequential calls in loops that do nothing else. Only ours are logged. */
async function sideBySide(folder: string): Promise<Row[]> {
  await using runtime = createRuntime({ store: join(folder, "side.db") });
  const plain = {
    description: "step",
    inputSchema: step.inputSchema,
    execute: async ({ index }: { index: number }) => ({ index }),
  };
  const contenders: Record<string, () => Promise<unknown>> = {
    "AI SDK loop, no record": () =>
      generateText({
        model: modelOf(CALLS, 1),
        tools: { step: plain },
        prompt: "Go.",
        stopWhen: isStepCount(CALLS + 2),
      }),
    "smart agent, logged": () =>
      createSmartAgent({ model: modelOf(CALLS, 1), tools: [step], runtime }).invoke({
        messages: [{ role: "user", content: "Go." }],
      }),
  };
  const cognipeer = cognipeerLoop();
  if (cognipeer !== undefined) contenders["Cognipeer 0.9, no record"] = cognipeer;
  const times = new Map<string, number[]>(Object.keys(contenders).map((name) => [name, []]));
  for (let round = 0; round < 6; round += 1) {
    for (const [name, run] of Object.entries(contenders)) {
      const started = performance.now();
      await run();
      times.get(name)?.push(((performance.now() - started) * 1_000) / CALLS);
    }
  }
  const us = (name: string): number => median((times.get(name) ?? []).slice(2));
  const base = us("AI SDK loop, no record");
  return [...times.keys()].map((name) => ({
    what: `${name}, per call`,
    value: us(name),
    unit: "µs" as const,
    ratio: us(name) / base,
  }));
}

interface Cognipeer {
  createSmartAgent(options: object): { invoke(input: object): Promise<unknown> };
  createTool(options: object): object;
}

function cognipeerLoop(): (() => Promise<unknown>) | undefined {
  const peer = loadPeer("@cognipeer/agent-sdk") as Cognipeer | undefined;
  const peerZod = loadPeer("zod-3") as { z: { object(shape: object): object; number(): object } } | undefined;
  if (peer === undefined || peerZod === undefined) return undefined;
  const { z: theirs } = peerZod;
  const tool = peer.createTool({
    name: "step",
    description: "step",
    schema: theirs.object({ index: theirs.number() }),
    func: async ({ index }: { index: number }) => ({ index }),
  });
  return () => {
    let asked = 0;
    const model = {
      bindTools: () => model,
      invoke: async () => {
        asked += 1;
        if (asked > CALLS) return { role: "assistant", content: "Done." };
        const { toolCallId: id, toolName: name, input } = callOf(asked);
        return {
          role: "assistant",
          content: "",
          tool_calls: [{ id, type: "function", function: { name, arguments: input } }],
        };
      },
    };
    const agent = peer.createSmartAgent({
      model,
      tools: [tool],
      limits: { maxToolCalls: CALLS + 10 },
      summarization: false,
    });
    return agent.invoke({ messages: [{ role: "user", content: "Go." }], toolHistory: [] });
  };
}
