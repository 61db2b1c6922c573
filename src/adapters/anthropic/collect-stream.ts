/**
 * Assembles a streamed response. An incomplete stream is an error and leaves nothing. The input of a call is parsed
 * strictly: a truncated input that looks complete must not run.
 */
import type { Message, RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import type { StreamPartDetails } from "../../stream/stream-part.ts";
import { type ModelResponse, responseOf } from "./model-response.ts";

export interface Deltas {
  onText(text: string): void;
  onThinking(thinking: string): void;
  /** The same and the inputs of calls, for the readers of the run. */
  readonly onPart: (part: StreamPartDetails) => void;
}

/** @throws when the stream ends before its message does */
export async function collectStream(
  stream: AsyncIterable<RawMessageStreamEvent>,
  deltas: Deltas,
): Promise<ModelResponse> {
  let message: Message | undefined;
  let isComplete = false;
  const blocks = new Map<number, PartialBlock>();
  for await (const event of stream) {
    switch (event.type) {
      case "message_start":
        message = event.message;
        break;
      case "content_block_start":
        blocks.set(event.index, { block: { ...event.content_block }, input: "" });
        startBlock(event, deltas);
        break;
      case "content_block_delta":
        addDelta(event, blocks, deltas);
        break;
      case "content_block_stop":
        endBlock(event.index, blocks, deltas);
        break;
      case "message_delta":
        message = message && {
          ...message,
          ...withoutNulls(event.delta),
          usage: { ...message.usage, ...withoutNulls(event.usage) },
        };
        break;
      case "message_stop":
        isComplete = true;
        break;
      default:
        // Other events carry no content, and later API versions may add more.
        break;
    }
  }
  // The client ends an aborted or interrupted stream without an error.
  if (message === undefined || !isComplete) {
    throw new Error("The stream ended before the message was complete.");
  }
  const inOrder = [...blocks].sort(([one], [other]) => one - other).map(([, part]) => part);
  return responseOf(
    { ...message, content: inOrder.map(({ block }) => block) },
    new Map(inOrder.map(({ input }, index) => [index, input])),
  );
}

interface PartialBlock {
  readonly block: Record<string, unknown>;
  /** The JSON text of a call's input received so far. */
  input: string;
}

function startBlock(
  { index, content_block: block }: Extract<RawMessageStreamEvent, { type: "content_block_start" }>,
  { onPart }: Deltas,
): void {
  if (block.type === "text") onPart({ type: "text-start", id: `text-${index}` });
  if (block.type === "thinking") onPart({ type: "reasoning-start", id: `reasoning-${index}` });
  if (block.type === "tool_use") onPart({ type: "tool-input-start", id: block.id, toolName: block.name });
}

function endBlock(index: number, blocks: ReadonlyMap<number, PartialBlock>, { onPart }: Deltas): void {
  const block = blocks.get(index)?.block;
  if (block?.["type"] === "text") onPart({ type: "text-end", id: `text-${index}` });
  if (block?.["type"] === "thinking") onPart({ type: "reasoning-end", id: `reasoning-${index}` });
  if (block?.["type"] === "tool_use") onPart({ type: "tool-input-end", id: String(block["id"]) });
}

function addDelta(
  { index, delta }: Extract<RawMessageStreamEvent, { type: "content_block_delta" }>,
  blocks: ReadonlyMap<number, PartialBlock>,
  deltas: Deltas,
): void {
  const part = blocks.get(index);
  if (part === undefined) return;
  const { block } = part;
  const append = (name: string, text: string): void => {
    const before = block[name];
    block[name] = (typeof before === "string" ? before : "") + text;
  };
  switch (delta.type) {
    case "text_delta":
      append("text", delta.text);
      deltas.onText(delta.text);
      deltas.onPart({ type: "text-delta", id: `text-${index}`, delta: delta.text });
      break;
    case "input_json_delta":
      part.input += delta.partial_json;
      if (block["type"] === "tool_use")
        deltas.onPart({ type: "tool-input-delta", id: String(block["id"]), delta: delta.partial_json });
      break;
    case "thinking_delta":
      append("thinking", delta.thinking);
      deltas.onThinking(delta.thinking);
      deltas.onPart({ type: "reasoning-delta", id: `reasoning-${index}`, delta: delta.thinking });
      break;
    case "signature_delta":
      block["signature"] = delta.signature;
      break;
    case "citations_delta":
      block["citations"] = [...((block["citations"] as unknown[] | null) ?? []), delta.citation];
      break;
  }
}

function withoutNulls(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
}
