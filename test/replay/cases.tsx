/** @jsxImportSource toolwright */
/**
 * One program for each kind of run. `make-fixtures.ts` recorded them once; the committed fixtures are replayed forever, so a
 * change here that a replay notices needs a new case, not a new fixture.
 */
import { ToolLoopAgent } from "ai";
import {
  createSmartAgent,
  createWorkflows,
  defineTool,
  runAgentLoop,
  runChatTurn,
  runWorkflow,
  type Runtime,
  type Tool,
} from "toolwright";
import { createChatHandler, recordModel } from "toolwright/ai-sdk";
import { createScriptedModel, type ReplayOptions, type ScriptedTurn } from "toolwright/testing";
import { z } from "zod";
import { RUN_AS } from "../../src/runtime/runtime.ts";
import { serve } from "../anthropic/harness.ts";

export const CARD = "4242-4242-4242-4242";

/** The external effects. */
export interface Effects {
  readonly charges: unknown[];
}

export interface Tools {
  readonly charge: Tool;
  readonly price: Tool;
}

export interface Changes {
  readonly description?: string;
  readonly amount?: number;
  readonly isTwice?: boolean;
  readonly prompt?: string;
  readonly unit?: string;
  readonly total?: string;
}

export function createTools(effects: Effects, changes: Changes = {}): Tools {
  return {
    price: defineTool({
      name: "price",
      description: changes.description ?? "The price of an item.",
      schema: z.object({
        item: z.string(),
        ...(changes.unit === undefined ? {} : { unit: z.string().optional() }),
      }),
      execute: ({ item }) => ({ item, cents: item === "apple" ? 30 : 50, at: new Date(0) }),
    }),
    charge: defineTool({
      name: "charge",
      description: "Charges a card.",
      schema: z.object({ amount: z.number(), card: z.string().regex(/^[\d-]+$/) }),
      sideEffect: true,
      idempotent: false,
      redact: { input: ["card"], output: ["receipt"] },
      execute: ({ amount, card }) => {
        effects.charges.push({ amount, card });
        return { amount, receipt: `receipt for ${card}` };
      },
    }),
  };
}

export interface Case {
  readonly name: string;
  record(runtime: Runtime, effects: Effects): Promise<unknown>;
  /** The same code, with changes. Its model fails if it is asked. */
  replay(effects: Effects, changes?: Changes): ReplayOptions;
}

const SCRIPT: readonly ScriptedTurn[] = [
  [{ toolName: "price", input: { item: "apple" } }],
  [{ toolName: "charge", input: { amount: 30, card: CARD } }],
  `Charged 30 to ${CARD}.`,
];

/** A model that a replay must not ask. */
const SILENT: readonly ScriptedTurn[] = [new Error("the model was asked")];

function workflowOf(
  { price, charge }: Tools,
  script: readonly ScriptedTurn[],
  { amount = 5, isTwice = false, prompt = "Order an apple.", total }: Changes = {},
) {
  const { Workflow, Task, Sleep, workflow, outputs } = createWorkflows({
    input: z.object({ item: z.string() }),
    fee: z.object({ paid: z.number() }),
    order: z.object({ text: z.string() }),
    total: z.object({ line: z.string() }),
  });
  const agent = new ToolLoopAgent({
    model: createScriptedModel(script),
    instructions: "You order things.",
    tools: { price, charge },
  });
  return workflow((ctx) => (
    <Workflow name="order">
      <Task id="fee" output={outputs.fee}>
        {async () => {
          const { amount: paid } = (await charge.execute({ amount, card: CARD })) as { amount: number };
          if (isTwice) await charge.execute({ amount, card: CARD });
          return { paid };
        }}
      </Task>
      <Sleep id="pause" for="20ms" />
      <Task id="order" output={outputs.order} agent={agent}>
        {`${prompt} Item: ${ctx.input.item}`}
      </Task>
      <Task id="total" output={outputs.total} deps={{ fee: outputs.fee }}>
        {({ fee }) => ({ line: total ?? `paid ${fee.paid}` })}
      </Task>
    </Workflow>
  ));
}

const workflowCase: Case = {
  name: "workflow",
  record: async (runtime, effects) => {
    const definition = workflowOf(createTools(effects), [...SCRIPT.slice(0, 2), '{"text":"done"}']);
    const options = { input: { item: "apple" }, runId: "order-1", runtime };
    const first = await runWorkflow(definition, options);
    if (first.status !== "waiting-timer") return first;
    for (;;) {
      const again = await runWorkflow(definition, { runId: "order-1", runtime, resume: true });
      if (again.status !== "waiting-timer") return again;
    }
  },
  replay: (effects, changes) => ({ workflow: workflowOf(createTools(effects, changes), SILENT, changes) }),
};

function smartAgentOf(
  tools: Tools,
  script: readonly ScriptedTurn[],
  runtime: Runtime | undefined,
  prompt?: string,
) {
  return createSmartAgent({
    name: "clerk",
    systemPrompt: prompt ?? "You order things.",
    model: createScriptedModel(script),
    tools: [tools.price, tools.charge],
    runtime,
  });
}

const agentCase: Case = {
  name: "agent",
  record: (runtime, effects) =>
    smartAgentOf(createTools(effects), SCRIPT, runtime).invoke({
      runId: "agent-1",
      messages: [{ role: "user", content: "Order an apple." }],
    }),
  replay: (effects, changes) => ({
    agent: smartAgentOf(createTools(effects, changes), SILENT, undefined, changes?.prompt),
  }),
};

function sdkAgentOf(tools: Tools, script: readonly ScriptedTurn[], prompt = "You order things.") {
  return new ToolLoopAgent({
    model: recordModel(createScriptedModel(script)),
    instructions: prompt,
    tools: { price: tools.price, charge: tools.charge },
  });
}

const sdkAgentCase: Case = {
  name: "ai-sdk-agent",
  record: (runtime, effects) =>
    runtime.run({ runId: "sdk-1" }, async () => {
      const { text } = await sdkAgentOf(createTools(effects), SCRIPT).generate({ prompt: "Order an apple." });
      return { text };
    }),
  replay: (effects, changes) => ({
    agent: sdkAgentOf(createTools(effects, changes), SILENT, changes?.prompt),
  }),
};

async function loop(
  { runtime, runId }: { readonly runtime: Runtime; readonly runId: string },
  tools: Tools,
  script: Parameters<typeof serve>[0],
  prompt = "You order things.",
): Promise<unknown> {
  const { client } = await serve(script);
  return runAgentLoop({
    client,
    model: "claude",
    system: prompt,
    messages: [{ role: "user", content: "Order an apple." }],
    tools: [tools.price, tools.charge],
    runtime,
    runId,
  });
}

const loopCase: Case = {
  name: "anthropic-loop",
  record: (runtime, effects) =>
    loop({ runtime, runId: "loop-1" }, createTools(effects), SCRIPT as Parameters<typeof serve>[0]),
  replay: (effects, changes) => ({
    // A server without answers.
    agent: (given: { readonly runtime: Runtime; readonly runId: string }) =>
      loop(given, createTools(effects, changes), [], changes?.prompt),
  }),
};

async function program(
  { runtime, runId }: { readonly runtime: Runtime; readonly runId: string },
  { price, charge }: Tools,
  { amount = 30, isTwice = false, total = "done" }: Changes = {},
): Promise<unknown> {
  return runtime.run({ runId }, async () => {
    await price.execute({ item: "apple" });
    for (let time = 0; time < (isTwice ? 2 : 1); time += 1) await charge.execute({ amount, card: CARD });
    return runtime.run({ runId, nodeId: "summary" }, async () => ({
      total,
      prices: [await price.execute({ item: "pear" }), await price.execute({ item: "pear" })],
    }));
  });
}

const programCase: Case = {
  name: "program",
  record: (runtime, effects) => program({ runtime, runId: "program-1" }, createTools(effects)),
  replay: (effects, changes) => ({
    agent: (given: { readonly runtime: Runtime; readonly runId: string }) =>
      program(given, createTools(effects, changes), changes),
  }),
};

const toolCase: Case = {
  name: "tool",
  record: async (runtime, effects) => {
    const listed = { runId: "tool-1", callKey: "command", [RUN_AS]: { kind: "tool", name: "charge" } };
    return runtime.call(createTools(effects).charge, { amount: 5, card: CARD }, listed);
  },
  replay: (effects, changes) => ({ tools: [createTools(effects, changes).charge] }),
};

/** The first attempt of `pay` fails in the middle, and `ship` is denied and then fails. */
function failingWorkflowOf({ price, charge }: Tools, script: readonly ScriptedTurn[]) {
  const { Workflow, Task, Approval, workflow, outputs } = createWorkflows({
    order: z.object({ text: z.string() }),
    decision: z.object({ approved: z.boolean() }),
  });
  const agent = new ToolLoopAgent({ model: createScriptedModel(script), tools: { price, charge } });
  return workflow(() => (
    <Workflow name="failing">
      <Task id="pay" output={outputs.order} agent={agent} retries={1}>
        Pay.
      </Task>
      <Approval id="ship" output={outputs.decision} prompt="Ship it?" />
    </Workflow>
  ));
}

const failingCase: Case = {
  name: "failed-workflow",
  record: async (runtime, effects) => {
    const script: ScriptedTurn[] = [
      [{ toolName: "charge", input: { amount: 30, card: CARD } }],
      new Error("overloaded"),
      [{ toolName: "price", input: { item: "pear" } }],
      '{"text":"paid"}',
    ];
    const definition = failingWorkflowOf(createTools(effects), script);
    await runWorkflow(definition, { runId: "failing-1", runtime });
    const [request] = await runtime.approvals({ status: "pending" });
    await runtime.resolveToolApproval(request?.id ?? "", { approved: false, comment: "no stock" });
    return runWorkflow(definition, { runId: "failing-1", runtime, resume: true });
  },
  replay: (effects, changes) => ({ workflow: failingWorkflowOf(createTools(effects, changes), SILENT) }),
};

function chatAgentOf(tools: Tools, script: readonly ScriptedTurn[], prompt = "You order things.") {
  return new ToolLoopAgent({
    model: createScriptedModel(script),
    instructions: prompt,
    tools: { price: tools.price, charge: tools.charge },
  });
}

async function send(
  handler: ReturnType<typeof createChatHandler>,
  messages: readonly object[],
): Promise<void> {
  const body = JSON.stringify({ id: "chat-1", messages, trigger: "submit-message" });
  const headers = { "content-type": "application/json" };
  const response = await handler(new Request("http://localhost/api/chat", { method: "POST", headers, body }));
  await response.text();
}

/** Two turns of a chat in a browser. */
const chatCase: Case = {
  name: "chat",
  record: async (runtime, effects) => {
    const agent = chatAgentOf(createTools(effects), [...SCRIPT, "Nothing else was ordered."]);
    const handler = createChatHandler({ runtime, agent, authorize: () => ({ name: "ann" }) });
    const said = (id: string, text: string) => ({ id, role: "user", parts: [{ type: "text", text }] });
    const answer = { id: "a1", role: "assistant", parts: [{ type: "text", text: "Charged." }] };
    await send(handler, [said("u1", "Order an apple.")]);
    await send(handler, [said("u1", "Order an apple."), answer, said("u2", "What else?")]);
  },
  replay: (effects, changes) => ({
    agent: chatAgentOf(createTools(effects, changes), SILENT, changes?.prompt),
  }),
};

async function chatTurn(
  { runtime, runId }: { readonly runtime: Runtime; readonly runId: string },
  tools: Tools,
  script: Parameters<typeof serve>[0],
): Promise<unknown> {
  const { client } = await serve(script);
  const options = { client, model: "claude", tools: [tools.price, tools.charge], runtime, runId };
  const first = await runChatTurn({ ...options, messages: [{ role: "user", content: "Order an apple." }] });
  const messages = [...first.messages, { role: "user" as const, content: "What else?" }];
  return runChatTurn({ ...options, messages });
}

const chatTurnCase: Case = {
  name: "chat-turn",
  record: (runtime, effects) =>
    chatTurn({ runtime, runId: "turns-1" }, createTools(effects), [
      ...(SCRIPT as Parameters<typeof serve>[0]),
      "Nothing else was ordered.",
    ]),
  replay: (effects, changes) => ({
    agent: (given: { readonly runtime: Runtime; readonly runId: string }) =>
      chatTurn(given, createTools(effects, changes), []),
  }),
};

export const CASES: readonly Case[] = [
  workflowCase,
  agentCase,
  sdkAgentCase,
  loopCase,
  programCase,
  toolCase,
  failingCase,
  chatCase,
  chatTurnCase,
];
