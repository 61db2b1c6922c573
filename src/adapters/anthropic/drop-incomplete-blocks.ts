/**
 * Removes blocks of an incomplete answer that the API would reject in a later request: thinking at the end, and calls
 * of server tools without a result.
 */
import type { ContentBlockParam, MessageParam } from "@anthropic-ai/sdk/resources/messages";

/**
 * @param isOpen whether the last answer stays unchanged: the API paused it, or the model is to continue it
 */
export function dropIncompleteBlocks(messages: readonly MessageParam[], isOpen: boolean): MessageParam[] {
  const closed: MessageParam[] = [];
  for (let index = 0; index < messages.length;) {
    const end = endOfAnswer(messages, index);
    if (end === index) {
      closed.push(messages[index] as MessageParam);
      index += 1;
      continue;
    }
    const answer = messages.slice(index, end);
    closed.push(...(isOpen && end === messages.length ? answer : close(answer)));
    index = end;
  }
  return closed;
}

/** Consecutive assistant messages are one answer that the API paused. */
function endOfAnswer(messages: readonly MessageParam[], start: number): number {
  let end = start;
  while (messages[end]?.role === "assistant") end += 1;
  return end;
}

interface Answer {
  readonly role: "assistant";
  readonly content: string | ContentBlockParam[];
}

function close(answer: readonly MessageParam[]): Answer[] {
  const blocks = answer.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  const settled = new Set(blocks.flatMap(settledBy));
  const isSettled = (block: ContentBlockParam): boolean => !isRunByApi(block) || settled.has(idOf(block));
  const closed = answer.map(({ content }): Answer => {
    const rest = typeof content === "string" ? content : content.filter(isSettled);
    return { role: "assistant", content: rest };
  });
  while (dropThinkingAtEnd(closed));
  return closed.filter(({ content }) => content.length > 0);
}

/**
 * A result settles its call. So does one of our calls that code in the API's container makes, since that code
 * continues later.
 */
function settledBy(block: ContentBlockParam): string[] {
  const { tool_use_id: ofResult, caller } = block as {
    readonly tool_use_id?: unknown;
    readonly caller?: { readonly tool_id?: unknown } | null;
  };
  return [ofResult, caller?.tool_id].filter((id): id is string => typeof id === "string");
}

/** `server_tool_use`, and `mcp_tool_use` of the MCP connector. */
function isRunByApi({ type }: ContentBlockParam): boolean {
  return type !== "tool_use" && type.endsWith("tool_use");
}

function idOf(block: ContentBlockParam): string {
  return String((block as { readonly id?: unknown }).id);
}

/** @returns whether a block was dropped */
function dropThinkingAtEnd(answer: Answer[]): boolean {
  const index = answer.findLastIndex(({ content }) => content.length > 0);
  const last = answer[index];
  if (last === undefined || typeof last.content === "string") return false;
  const type = last.content.at(-1)?.type;
  if (type !== "thinking" && type !== "redacted_thinking") return false;
  answer[index] = { ...last, content: last.content.slice(0, -1) };
  return true;
}
