/** Calls an agent. AI SDK agents are called through `stream`, so that readers of the run see the answer as it is generated. */
import { isPaused } from "../adapters/ai-sdk/answer-requests.ts";
import { publishForeign, type SdkPart } from "../adapters/ai-sdk/publish-foreign.ts";
import { isSdkAgent } from "../adapters/ai-sdk/recorded-agent.ts";
import { quietAgent } from "../adapters/ai-sdk/quiet-agent.ts";
import { currentScope } from "../invoke/call-in-context.ts";
import type { WorkflowAgent } from "./components.ts";

interface StreamResult {
  readonly stream: AsyncIterable<SdkPart>;
  readonly text: PromiseLike<string>;
  readonly output: PromiseLike<unknown>;
  readonly responseMessages?: PromiseLike<unknown[]>;
  readonly response?: PromiseLike<{ readonly messages?: unknown[] }>;
}

interface AskedWith {
  readonly tools?: Readonly<Record<string, unknown>>;
}

export async function askAgent(agent: WorkflowAgent, options: object): Promise<unknown> {
  const { stream } = agent as { readonly stream?: unknown };
  if (!isSdkAgent(agent) || typeof stream !== "function") return agent.generate(options as never);
  const result = await (stream as (given: object) => Promise<StreamResult>).call(quietAgent(agent), options);
  const scope = currentScope();
  const { tools = (agent as AskedWith).tools ?? {} } = options as AskedWith;
  for await (const part of result.stream) {
    if (part.type === "error") throw part.error;
    if (scope !== undefined) publishForeign(part, scope, tools);
  }
  const text = await result.text;
  const messages = await (result.responseMessages ?? result.response?.then((one) => one.messages));
  const responseMessages = messages ?? [{ role: "assistant", content: text }];
  if (isPaused(responseMessages)) return { text, responseMessages };
  // Rejects if a structured output was asked for, and the text does not match it.
  return { text, output: await result.output, responseMessages };
}
