/** Validates a complete response: a model or a gateway may send an unexpected shape. */
import type { Message } from "@anthropic-ai/sdk/resources/messages";
import { parseInput, usable } from "../../tool/parse-input.ts";

export interface ModelResponse {
  readonly message: Message;
  /** The raw text of invalid inputs, by the index of the block. */
  readonly malformed: Readonly<Record<string, string>>;
}

/**
 * @param inputs of a stream: the JSON texts of the inputs, by the index of the block
 * @throws if the value is not a message
 */
export function responseOf(value: unknown, inputs: ReadonlyMap<number, string> = new Map()): ModelResponse {
  const content =
    typeof value === "object" && value !== null && "content" in value ? value.content : undefined;
  if (!Array.isArray(content) || !content.every(isBlock)) {
    throw new Error("The API returned a response that is not a message.");
  }
  const malformed: Record<string, string> = {};
  const blocks = content.map((block, index) => {
    // This includes calls that the API or its MCP connector runs: they are sent back in later requests.
    if (!block.type.endsWith("tool_use")) return block;
    // An empty text is an input without fields.
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

/** A call needs a name to run and an id for its result. */
function isBlock(block: unknown): block is Block {
  if (typeof block !== "object" || block === null || !("type" in block) || typeof block.type !== "string") {
    return false;
  }
  if (block.type !== "tool_use") return true;
  return "id" in block && typeof block.id === "string" && "name" in block && typeof block.name === "string";
}
