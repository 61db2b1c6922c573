/**
 * Tools as LangChain takes them. Asked with a tool call they answer with a tool message, errors included; asked with plain
 * arguments they return the plain output and throw. LangChain knows no approval: a call that waits says so to the model,
 * or does what `onPending` does.
 */
import { BaseMessage } from "@langchain/core/messages";
import { ToolMessage } from "@langchain/core/messages/tool";
import type { DynamicStructuredTool, ToolRunnableConfig } from "@langchain/core/tools";
import { fromObjectInput, toObjectSchema } from "../../definition/object-schema.ts";
import type { Approval } from "../../invoke/approval.ts";
import type { CallOptions } from "../../invoke/call.ts";
import { callHere } from "../../invoke/call-here.ts";
import { specOf } from "../../tool/create-callable.ts";
import type { ToolLike } from "../../tool/from-tool.ts";
import { errorOf, toModelAnswer } from "../../tool/model-answer.ts";
import { offerTools, type ToolSource } from "../../tool/offer-tools.ts";
import { defaultRegistry } from "../../tool/registry.ts";
import { type Tool, withOrigin } from "../../tool/tool.ts";
import { UncheckedTool } from "./unchecked-tool.ts";

export interface LangChainToolOptions {
  /** Called when a call waits for a person. What it throws ends the loop, as LangGraph's `interrupt` does. */
  readonly onPending?: ((approval: Approval) => unknown) | undefined;
}

/**
 * @example
 * const agent = createAgent({ model, tools: [toLangChainTool(placeOrder)] });
 * await runtime.run({ runId: "monday" }, () => agent.invoke({ messages }));
 */
export function toLangChainTool(tool: ToolLike, options: LangChainToolOptions = {}): DynamicStructuredTool {
  return toLangChainTools([tool], options)[0] as DynamicStructuredTool;
}

/** @param source default: the tools of the global registry */
export function toLangChainTools(
  source: ToolSource = defaultRegistry,
  options: LangChainToolOptions = {},
): DynamicStructuredTool[] {
  return [...offerTools(source)].map(([name, tool]) => convert(name, tool, options));
}

function convert(name: string, tool: Tool, { onPending }: LangChainToolOptions): DynamicStructuredTool {
  const spec = specOf(tool);
  const { inputJsonSchema } = spec;
  const answer = async (input: unknown, _manager: unknown, config: LoopConfig = {}): Promise<unknown> => {
    const { toolCall, signal } = config;
    const outcome = await callHere(spec, fromObjectInput(inputJsonSchema, input), {
      toolCallId: toolCall?.id ?? config.toolCallId,
      modelName: name,
      signal,
      history: turnIn(config),
      capabilities: { runnableConfig: config },
    });
    signal?.throwIfAborted();
    if (outcome.status === "pending") await onPending?.(outcome.approval);
    const output = outcome.status === "success" ? outcome.output : undefined;
    if (toolCall?.id === undefined) {
      if (outcome.status !== "success") throw errorOf(spec, outcome);
      return output;
    }
    const { text, isError } = toModelAnswer(spec, outcome);
    return new ToolMessage({
      content: text,
      artifact: output,
      tool_call_id: toolCall.id,
      name,
      status: isError ? "error" : "success",
    });
  };
  const made = new UncheckedTool({
    name,
    description: tool.description,
    schema: toObjectSchema(inputJsonSchema) as object,
    returnDirect: spec.terminal !== false,
    func: answer,
  });
  return withOrigin(made, tool);
}

/** LangGraph has the id of the call beside it, and the state of the graph. */
type LoopConfig = ToolRunnableConfig & { readonly toolCallId?: string; readonly state?: unknown };

/** The turn of the chat, where the loop shows its messages. */
function turnIn({ state }: LoopConfig): CallOptions["history"] {
  const messages = (state as { readonly messages?: unknown } | null | undefined)?.messages;
  if (!Array.isArray(messages)) return undefined;
  const turn = messages.filter(
    (message) => BaseMessage.isInstance(message) && message.type === "human",
  ).length;
  return { turn: Math.max(1, turn), earlier: 0, isResumed: false };
}
