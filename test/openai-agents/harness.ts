/** Agents of the OpenAI Agents SDK on its own scripted model, as the tests here need them. */
import { Agent, Runner, type RunState } from "@openai/agents";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents/testing";
import type { ModelRequest } from "@openai/agents";

type AgentTools = NonNullable<ConstructorParameters<typeof Agent>[0]["tools"]>;
type Items = Parameters<ScriptedModel["enqueue"]>[0];

/** Without tracing, so that nothing is sent. */
export const runner = new Runner({ tracingDisabled: true });

/** One turn of the model: calls by name, arguments and id. */
export function calls(
  ...list: [name: string, args: string | Record<string, unknown>, callId: string][]
): Items {
  return list.map(([name, args, callId]) => functionCall(name, args, { callId }));
}

export function say(text: string): Items {
  return [assistantMessage(text)];
}

export interface Scripted {
  readonly agent: Agent;
  readonly model: ScriptedModel;
}

export function script(tools: AgentTools, ...turns: Items[]): Scripted {
  const model = new ScriptedModel(turns);
  return { agent: new Agent({ name: "Shop", model, tools }), model };
}

export type State = RunState<unknown, Agent>;

/** The results of the calls so far, as the model reads them: ids and texts, in order. */
export function answersIn(request: Readonly<ModelRequest> | undefined): [string, string][] {
  const input = typeof request?.input === "object" ? request.input : [];
  return input.flatMap((item) => {
    if (item.type !== "function_call_result") return [];
    const { output } = item;
    const text = typeof output === "object" && "text" in output ? output.text : output;
    return [[item.callId, typeof text === "string" ? text : JSON.stringify(text)] as [string, string]];
  });
}
