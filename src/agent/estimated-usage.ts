/** What an answer counts for, where its model does not say what it used: by the agent's own counter. */
import { toCallMessage } from "./history.ts";
import type { AgentMessage } from "../model/messages.ts";
import type { ModelAnswer, ModelUsage } from "../model/agent-model.ts";

/**
 * Budgets hold for models that say nothing as well.
 * @param said what the model says, of this answer and of what it was asked for on the way to it
 * @param asked how many tokens the request had, by the same counter
 */
export function countedUsage(
  { text, calls }: ModelAnswer,
  said: ModelUsage,
  asked: number,
  sizeOf: (message: AgentMessage) => number,
): ModelUsage {
  const asMessage = (): AgentMessage => ({
    role: "assistant",
    content: text,
    tool_calls: calls.map((call) => toCallMessage(call)),
  });
  return {
    ...said,
    inputTokens: said.inputTokens ?? asked,
    outputTokens: said.outputTokens ?? sizeOf(asMessage()),
  };
}
