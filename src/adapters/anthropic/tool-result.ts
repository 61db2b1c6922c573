/** The outcome of a call as a `tool_result` block: text, JSON or content blocks; errors have the shape of `ModelError`. */
import type { ToolResultBlockParam } from "@anthropic-ai/sdk/resources/messages";
import type { ResultFormat } from "../../loop/call-results.ts";
import { outputText, saysError } from "../../tool/model-answer.ts";
import { type ResultBlocks, toResultBlocks } from "./content-blocks.ts";

export function resultFormat(toolUseId: string): ResultFormat<ToolResultBlockParam> {
  return {
    output: (value, note) =>
      resultBlock(toolUseId, toResultBlocks(value, note) ?? outputText(value, note), saysError(value)),
    error: (error) => resultBlock(toolUseId, JSON.stringify(error.toModel()), true),
  };
}

function resultBlock(
  toolUseId: string,
  content: string | ResultBlocks,
  isError: boolean,
): ToolResultBlockParam {
  // A truncated text may end with half a character, which the API rejects in this and every later request.
  const sent = typeof content === "string" ? content.toWellFormed() : content;
  const block = { type: "tool_result" as const, tool_use_id: toolUseId, content: sent };
  return isError ? { ...block, is_error: true } : block;
}
