/**
 * An agent remembers the messages of its last conversations, and what it made of them. It must send, store and return the same as
 * an agent that has just started and gets copies of everything, such as in another process.
 */
import { expect, test } from "vitest";
import {
  type AgentInput,
  type AgentState,
  createSmartAgent,
  createTool,
  type SmartAgentOptions,
} from "toolwright";
import { z } from "zod";
import { sha256 } from "../../src/util/hash.ts";
import { amount } from "../amount.ts";
import { Random } from "../random.ts";
import { createWorld, openRuntime, user } from "./harness.ts";

const INVOKES = 25;
const WINDOWS = [3_000, 4_000, 6_000, 100_000];

const note = createTool({
  name: "note",
  schema: z.object({ text: z.string() }),
  func: ({ text }) => ({ noted: text.slice(0, 40) }),
});

/** It depends on the roles of its messages only: conversations have equal texts and equal ids of calls. */
function createEqualModel(onAsked: (prompt: unknown) => void) {
  return {
    specificationVersion: "v4" as const,
    provider: "test",
    modelId: "test",
    supportedUrls: {},
    doStream: () => Promise.reject(new Error("not streamed")),
    doGenerate: async ({ prompt }: { prompt: readonly { readonly role: string }[] }) => {
      onAsked(copyOf(prompt));
      const roles = prompt.map(({ role }) => role);
      const digest = sha256(roles.join());
      const callsTool = roles.at(-1) === "user" && !digest.startsWith("a");
      const input = JSON.stringify({ text: digest.repeat(20) });
      return {
        content: callsTool
          ? [{ type: "tool-call" as const, toolCallId: `call-${roles.length}`, toolName: "note", input }]
          : [{ type: "text" as const, text: `Answer ${digest}` }],
        finishReason: { unified: "stop" as const, raw: undefined },
        usage: {
          inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
          outputTokens: { total: 1, text: 1, reasoning: 0 },
        },
        warnings: [],
      };
    },
  };
}

const copyOf = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** All requests and results of conversations that take turns, begin alike and branch off. */
async function converse(seed: number, remembers: boolean): Promise<unknown[]> {
  const random = new Random(seed);
  const runtime = await openRuntime(await createWorld());
  const log: unknown[] = [];
  const options: SmartAgentOptions = {
    model: createEqualModel((prompt) => log.push(prompt)),
    tools: [note],
    runtime,
    summarization: seed % 2 === 0,
    limits: { maxContextTokens: WINDOWS[seed % WINDOWS.length] as number },
  };
  let agent = createSmartAgent(options);
  const states: AgentState[] = [];
  const next = (): AgentInput => {
    const state = states[random.below(states.length)];
    const [kind, text, form] = [random.below(10), random.below(3), random.below(3)];
    if (state === undefined || kind < 3) return { runId: `r${states.length}`, messages: [user("Go.")] };
    if (kind < 4) return { runId: state.runId };
    const messages = [...state.messages, user(`More ${text}.`)];
    if (form === 0)
      return { ...state, messages: messages.map((one, at) => (at % 2 === 0 ? one : copyOf(one))) };
    return form === 1 ? copyOf({ ...state, messages }) : { ...state, messages };
  };
  for (let invoke = 0; invoke < INVOKES; invoke += 1) {
    const input = next();
    // Conversations of an earlier process meet as copies.
    const isRestarted = invoke % 8 === 0;
    if (isRestarted || !remembers) agent = createSmartAgent(options);
    if (isRestarted) states.splice(0, states.length, ...copyOf(states));
    const { runId, content, messages, state } = await agent.invoke(remembers ? input : copyOf(input));
    const { turn, context, toolHistory } = state;
    log.push(
      copyOf({ runId, content, messages, turn, context, keys: toolHistory.map((one) => one.executionId) }),
    );
    states.push(remembers ? state : copyOf(state));
  }
  return log;
}

test.each(Array.from({ length: amount(8, 60) }, (_, index) => index + 1))(
  "an agent that remembers conversations does the same as one that does not, seed %i",
  async (seed) => {
    expect(await converse(seed, true)).toEqual(await converse(seed, false));
  },
);
