/** Cuts the largest results of tools, with a mark where something is missing. Nothing else in a message is touched. */
import type { MessageParam, ToolResultBlockParam } from "@anthropic-ai/sdk/resources/messages";
import { cutErrorText } from "../../tool/cut-error-text.ts";
import { bytesOfTokens } from "../../util/estimate-tokens.ts";

/** A result that is shorter says little in many bytes: it stays. */
const SHORTEST = 1_000;

/** @param tokens how many have to go, by estimate */
export function cutResults(messages: readonly MessageParam[], tokens: number): MessageParam[] {
  const longest = limitFor(textsIn(messages), bytesOfTokens(tokens));
  return messages.map((message) => {
    if (message.role !== "user" || typeof message.content === "string") return message;
    return {
      ...message,
      content: message.content.map((block) => (block.type === "tool_result" ? cut(block, longest) : block)),
    };
  });
}

/** The length to which all longer texts are cut so that so many characters go. */
function limitFor(texts: readonly string[], tooMany: number): number {
  const lengths = texts.map(({ length }) => length).sort((one, other) => other - one);
  let saved = 0;
  for (const [index, length] of lengths.entries()) {
    const next = Math.max(lengths[index + 1] ?? 0, SHORTEST);
    const count = index + 1;
    if (length <= SHORTEST) return SHORTEST;
    if (saved + (length - next) * count >= tooMany) {
      return Math.max(SHORTEST, Math.floor(length - (tooMany - saved) / count));
    }
    saved += (length - next) * count;
  }
  return SHORTEST;
}

function textsIn(messages: readonly MessageParam[]): string[] {
  return messages.flatMap(({ content }) =>
    typeof content === "string"
      ? []
      : content.flatMap((block) =>
          block.type === "tool_result" && typeof block.content === "string" ? [block.content] : [],
        ),
  );
}

function cut(block: ToolResultBlockParam, longest: number): ToolResultBlockParam {
  const { content } = block;
  if (typeof content !== "string" || content.length <= longest) return block;
  const leftOut = (shown: number, total: number): string =>
    `[${total - shown} of ${total} characters are left out here to fit the context]`;
  const error = block.is_error === true ? cutErrorText(content, longest, leftOut) : undefined;
  if (error !== undefined) return { ...block, content: error };
  const mark = `\n${leftOut(longest, content.length)}`;
  return { ...block, content: `${content.slice(0, longest).toWellFormed()}${mark}` };
}
