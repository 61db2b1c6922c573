/** Models that reuse ids or send none: each call has its effect once, and each approval is used once. */
import { generateText, isStepCount, type ModelMessage, streamText, ToolLoopAgent } from "ai";
import { describe, expect, it } from "vitest";
import { createRuntime, type Runtime, type Tool } from "toolwright";
import { recordModel } from "toolwright/ai-sdk";
import { createScriptedModel, type ScriptedToolCall } from "toolwright/testing";
import { createOrder } from "../loop-tools.ts";
import { createStorePath } from "../workflow/harness.ts";

type Script = readonly (readonly ScriptedToolCall[])[];
type Tools = Readonly<Record<string, Tool<{ sku: string }, { placed: string }>>>;
type Model = ReturnType<typeof createScriptedModel>;

interface Said {
  readonly content: readonly { readonly type: string; readonly approvalId?: string }[];
  readonly responseMessages: readonly ModelMessage[];
}

const LOOPS: Readonly<
  Record<string, (model: Model, tools: Tools, messages: ModelMessage[]) => Promise<Said>>
> = {
  ToolLoopAgent: (model, tools, messages) => new ToolLoopAgent({ model, tools }).generate({ messages }),
  generateText: (model, tools, messages) =>
    generateText({ model, tools, messages, stopWhen: isStepCount(20) }),
  streamText: async (model, tools, messages) => {
    const stream = streamText({ model, tools, messages, stopWhen: isStepCount(20) });
    await stream.consumeStream();
    return { content: await stream.content, responseMessages: await stream.responseMessages };
  },
};

const order = (sku: string, toolCallId = "x", toolName = "order"): ScriptedToolCall => ({
  toolName,
  input: { sku },
  toolCallId,
});

const SCRIPTS: Readonly<Record<string, Script>> = {
  "one id twice in a response and again in the next": [[order("a"), order("b")], [order("c")]],
  "one id and equal arguments twice in a response": [[order("a"), order("a")]],
  "one id and equal arguments, even in the next response": [[order("a"), order("a")], [order("a")]],
  "one id and equal arguments in each response": [[order("a")], [order("a")], [order("a")]],
  "empty ids": [[order("a", ""), order("b", "")], [order("a", "")]],
  "one id for two tools": [[order("a"), order("a", "x", "buy")], [order("a", "x", "buy")]],
};

/** Chooses the scripted turn by the conversation, so that it is the same after a restart. */
const modelOf = (script: Script): Model =>
  createScriptedModel([({ turn }) => script[turn] ?? "done"], { atEnd: "repeat-last" });

async function approveAll(runtime: Runtime): Promise<number> {
  const requests = await runtime.approvals({ status: "pending" });
  for (const { id } of requests) await runtime.resolveToolApproval(id, { approved: true });
  return requests.length;
}

function createTools(): { tools: Tools; placed: () => string[] } {
  const [one, other] = [createOrder(), createOrder("buy")];
  return {
    tools: { order: one.order, buy: other.order },
    placed: () => [...one.placed, ...other.placed].toSorted(),
  };
}

const skusIn = (script: Script): unknown[] =>
  script.flatMap((calls) => calls.map(({ input }) => (input as { sku: string }).sku)).toSorted();

const begin: ModelMessage[] = [{ role: "user", content: "Order." }];
const cases = Object.keys(LOOPS).flatMap((loop) => Object.keys(SCRIPTS).map((name) => [loop, name] as const));

describe.each(["in one runtime", "in a new runtime each time"])("driven from the start, %s", (where) => {
  it.each(cases)("%s: %s", async (loop, name) => {
    const script = SCRIPTS[name] ?? [];
    const store = createStorePath();
    const { tools, placed } = createTools();
    let approved = 0;
    let runtime = createRuntime({ store });
    for (let isDone = false; !isDone;) {
      const said = await runtime.run({ runId: "r" }, () => LOOPS[loop]?.(modelOf(script), tools, begin));
      isDone = !(said?.content ?? []).some(({ type }) => type === "tool-approval-request");
      approved += await approveAll(runtime);
      if (where === "in one runtime") continue;
      await runtime[Symbol.asyncDispose]();
      runtime = createRuntime({ store });
    }
    await runtime[Symbol.asyncDispose]();
    expect(placed()).toEqual(skusIn(script));
    expect(approved).toBe(script.flat().length);
  });
});

/** The SDK itself finds calls by their ids: a recorded model makes them unique within one response. */
async function resumeFromMessages(loop: string, script: Script, model: Model) {
  const { tools, placed } = createTools();
  const store = createStorePath();
  let messages = begin;
  let approved = 0;
  for (;;) {
    await using runtime = createRuntime({ store });
    const said = await runtime.run({ runId: "r" }, () => LOOPS[loop]?.(model, tools, messages));
    const requests = (said?.content ?? []).filter(({ type }) => type === "tool-approval-request");
    approved += await approveAll(runtime);
    if (requests.length === 0) return { placed: placed(), approved };
    messages = [
      ...messages,
      ...(said?.responseMessages ?? []),
      {
        role: "tool",
        content: requests.map(({ approvalId = "" }) => ({
          type: "tool-approval-response" as const,
          approvalId,
          approved: true,
        })),
      },
    ];
  }
}

describe("resumed from the messages alone", () => {
  it.each(cases)("%s: %s", async (loop, name) => {
    const script = SCRIPTS[name] ?? [];
    const { placed, approved } = await resumeFromMessages(loop, script, recordModel(modelOf(script)));
    expect(placed).toEqual(skusIn(script));
    expect(approved).toBe(script.flat().length);
  });

  it.each(Object.keys(LOOPS))("%s: one id in each response of a model that is not recorded", async (loop) => {
    const script = SCRIPTS["one id and equal arguments in each response"] ?? [];
    const { placed, approved } = await resumeFromMessages(loop, script, modelOf(script));
    expect(placed).toEqual(["a", "a", "a"]);
    expect(approved).toBe(3);
  });
});
