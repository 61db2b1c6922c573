/** Agent loops outside of workflows: the AI SDK in `runtime.run`, the Anthropic loop and chat, the smart agent. */
import Anthropic from "@anthropic-ai/sdk";
import { ToolLoopAgent } from "ai";
import {
  type AgentLoopOptions,
  type AgentSnapshot,
  createRuntime,
  createSmartAgent,
  runAgentLoop,
  runChatTurn,
} from "toolwright";
import { recordModel } from "toolwright/ai-sdk";
import { createScriptedAnthropic, createScriptedModel, type ScriptedAnswer } from "toolwright/testing";
import type { ProgramInput } from "./calls.ts";
import { createTools } from "./tools.ts";

interface LoopReport {
  readonly text: string;
  /** How many answers the model was asked for. */
  readonly asked: number;
}

/** Two calls, then one that is held, then the end. */
const script = (name: string): readonly ScriptedAnswer[] => [
  [
    { toolName: "pay", input: { id: `${name} a` } },
    { toolName: "pay", input: { id: `${name} b` } },
  ],
  [{ toolName: "pay", input: { id: `${name} held` } }],
  "All is paid.",
];

const scriptedModel = (name: string) =>
  createScriptedModel([({ turn }) => script(name)[turn] ?? "What else?"], { atEnd: "repeat-last" });

/** The program keeps its calls only: the model is asked again for everything. */
export async function aiSdkRun({ store, worldUrl }: ProgramInput): Promise<LoopReport> {
  const { pay } = createTools(worldUrl);
  const model = scriptedModel("sdk");
  await using runtime = createRuntime({ store });
  const agent = new ToolLoopAgent({ model, tools: { pay } });
  const { text } = await runtime.run({ runId: "ai-sdk" }, () => agent.generate({ prompt: "Pay." }));
  return { text, asked: model.requests.length };
}

export async function aiSdkRecorded({ store, worldUrl }: ProgramInput): Promise<LoopReport> {
  const { pay } = createTools(worldUrl);
  const model = scriptedModel("recorded");
  await using runtime = createRuntime({ store });
  const agent = new ToolLoopAgent({ model: recordModel(model), tools: { pay } });
  const { text } = await runtime.run({ runId: "ai-sdk recorded" }, () =>
    agent.generate({
      prompt: [
        {
          role: "user",
          content: [
            { type: "text", text: "Pay." },
            { type: "file", mediaType: "application/pdf", data: Buffer.from("%PDF"), filename: "orders.pdf" },
          ],
        },
      ],
    }),
  );
  return { text, asked: model.requests.length };
}

export async function anthropicLoop({ store, worldUrl }: ProgramInput): Promise<LoopReport> {
  const { pay } = createTools(worldUrl);
  await using model = await createScriptedAnthropic(
    [
      ({ body }) => {
        const turn = body.messages.filter(({ role }) => role === "assistant").length;
        return script("anthropic")[turn] ?? "What else?";
      },
    ],
    { atEnd: "repeat-last" },
  );
  await using runtime = createRuntime({ store });
  const result = await runAgentLoop({
    client: new Anthropic({ baseURL: model.baseURL, apiKey: "any", maxRetries: 0 }),
    model: "claude-test",
    system: "You pay for orders.",
    messages: [{ role: "user", content: "Pay." }],
    tools: [pay],
    runtime,
    runId: "anthropic",
  });
  return { text: result.status, asked: model.requests.length };
}

/** @param inputs the user's messages so far: each is a separate turn */
export async function anthropicChat(
  { store, worldUrl }: ProgramInput,
  inputs: readonly string[] = ["Pay."],
): Promise<LoopReport & { readonly messages: unknown }> {
  const { pay } = createTools(worldUrl);
  await using model = await createScriptedAnthropic(
    [
      ({ body }) => {
        const last = body.messages.at(-1);
        const isAnswer = Array.isArray(last?.content);
        return isAnswer ? "Paid." : [{ toolName: "pay", input: { id: "chat" } }];
      },
    ],
    { atEnd: "repeat-last" },
  );
  await using runtime = createRuntime({ store });
  let messages: AgentLoopOptions<Anthropic>["messages"] = [];
  let text = "";
  for (const content of inputs) {
    const result = await runChatTurn({
      client: new Anthropic({ baseURL: model.baseURL, apiKey: "any", maxRetries: 0 }),
      model: "claude-test",
      messages: [...messages, { role: "user", content }],
      tools: [pay],
      runtime,
      runId: "anthropic chat",
    });
    ({ messages } = result);
    text = result.status;
  }
  return { text, asked: model.requests.length, messages };
}

const PAY = { messages: [{ role: "user" as const, content: "Pay." }] };

export async function smartAgentInterrupted({ store, worldUrl }: ProgramInput): Promise<LoopReport> {
  const { pay } = createTools(worldUrl);
  const model = scriptedModel("smart");
  await using runtime = createRuntime({ store });
  const agent = createSmartAgent({ model, tools: [pay], runtime });
  const { content } = await agent.invoke({ ...PAY, runId: "smart agent" });
  return { text: content, asked: model.requests.length };
}

/** @param earlier the state that a program kept from a finished invoke: it is continued */
export async function smartAgentFinished(
  { store, worldUrl }: ProgramInput,
  earlier?: AgentSnapshot,
): Promise<LoopReport & { readonly snapshot: AgentSnapshot }> {
  const { pay } = createTools(worldUrl);
  const model = createScriptedModel(
    [
      ({ toolResults }) =>
        toolResults.length > 0 ? "Paid." : [{ toolName: "pay", input: { id: "smart finished" } }],
    ],
    { atEnd: "repeat-last" },
  );
  await using runtime = createRuntime({ store });
  const agent = createSmartAgent({ name: "payer", model, tools: [pay], runtime });
  const { content, state } =
    earlier === undefined
      ? await agent.invoke({ ...PAY, runId: "smart agent finished" })
      : await agent.invoke({
          ...earlier.state,
          messages: [...earlier.state.messages, { role: "user", content: "Once more." }],
        });
  return { text: content, asked: model.requests.length, snapshot: agent.snapshot(state) };
}
