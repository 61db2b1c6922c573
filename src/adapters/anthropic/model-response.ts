/** A complete response, parsed at the edge: what a model or a gateway sends is not trusted to have the shape it should. */
import type { Message } from "@anthropic-ai/sdk/resources/messages";
import { parseInput, usable } from "../../util/parse-input.ts";

export interface ModelResponse {
  readonly message: Message;
  /** Inputs of calls that cannot be used, as they came, by the place of the block. */
  readonly malformed: Readonly<Record<string, string>>;
}

/**
 * @param inputs the inputs of calls as text, by the place of the block, where they came in pieces
 * @throws when it is no message
 */
export function responseOf(value: unknown, inputs: ReadonlyMap<number, string> = new Map()): ModelResponse {
  const content =
    typeof value === "object" && value !== null && "content" in value ? value.content : undefined;
  if (!Array.isArray(content) || !content.every(isBlock)) {
    throw new Error("The API answered with something that is not a message.");
  }
  const malformed: Record<string, string> = {};
  const blocks = content.map((block, index) => {
    // Also those that the API runs itself, or by its MCP connector: they are sent back to it.
    if (!block.type.endsWith("tool_use")) return block;
    // No piece at all is an input without fields.
    const text = inputs.get(index) ?? "";
    const parsed = text === "" ? usable("input" in block ? block.input : {}) : parseInput(text);
    if (parsed !== undefined) return { ...block, input: parsed.value };
    malformed[index] = text;
    return { ...block, input: {} };
  });
  return { message: { ...(value as Message), content: blocks as unknown as Message["content"] }, malformed };
}

interface Block {
  readonly type: string;
}

/** A call without an id could not be answered, and one without a name not be made. */
function isBlock(block: unknown): block is Block {
  if (typeof block !== "object" || block === null || !("type" in block) || typeof block.type !== "string") {
    return false;
  }
  if (block.type !== "tool_use") return true;
  return "id" in block && typeof block.id === "string" && "name" in block && typeof block.name === "string";
}
