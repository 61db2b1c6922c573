/** The content of a tool message: text, or the blocks that LangChain hands to a model as they are. */
import type { MessageContent } from "@langchain/core/messages";
import { ToolwrightError } from "../../errors.ts";

/** @param text the output as text, where it is not a list of content blocks */
export function toContent(output: unknown, text: string): MessageContent {
  return isBlocks(output) ? output : text;
}

/** As LangChain tells blocks from any other list; an empty list is data. */
function isBlocks(output: unknown): output is Exclude<MessageContent, string> {
  const isBlock = (item: unknown): boolean =>
    typeof item === "object" && item !== null && "type" in item && typeof item.type === "string";
  return Array.isArray(output) && output.length > 0 && output.every(isBlock);
}

/** @throws TOOL_OUTPUT_INVALID: the tool ran */
export function contentAndArtifact(tool: string, output: unknown): readonly [unknown, unknown] {
  if (Array.isArray(output) && output.length === 2) return [output[0], output[1]];
  throw new ToolwrightError(
    "TOOL_OUTPUT_INVALID",
    `Tool "${tool}" ran, but its responseFormat is "content_and_artifact" and its output is not a pair [content, artifact].`,
    { details: { tool }, effect: "happened" },
  );
}
