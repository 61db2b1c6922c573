/** A message as the API sends it: as JSON, or as the events of a stream. */
import type { Block, SpokenMessage } from "./answer.ts";

export interface StreamEvent {
  readonly type: string;
}

export function wholeMessage({ message }: SpokenMessage): object {
  return { ...message, content: message.content.map(wholeBlock) };
}

export function streamEvents({ message }: SpokenMessage): StreamEvent[] {
  const { content, stop_reason, stop_sequence, container, usage } = message;
  return [
    {
      type: "message_start",
      message: {
        ...message,
        content: [],
        stop_reason: null,
        container: null,
        usage: { ...usage, output_tokens: 1 },
      },
    } as StreamEvent,
    { type: "ping" },
    ...content.flatMap((block, index) => blockEvents(block, index)),
    {
      type: "message_delta",
      delta: { stop_reason, stop_sequence, container },
      usage: { output_tokens: usage.output_tokens },
    } as StreamEvent,
    { type: "message_stop" },
  ];
}

export function toServerSentEvent(event: StreamEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function wholeBlock(block: Block): object {
  const { inputJson, ...rest } = block;
  if (inputJson === undefined) return rest;
  try {
    return { ...rest, input: JSON.parse(inputJson) as unknown };
  } catch {
    // A message that is not streamed cannot contain invalid JSON: the input is sent as a string.
    return { ...rest, input: inputJson };
  }
}

function blockEvents(block: Block, index: number): StreamEvent[] {
  const { inputJson, ...rest } = block;
  const start = (content_block: object): object => ({ type: "content_block_start", index, content_block });
  const delta = (change: object): object => ({ type: "content_block_delta", index, delta: change });
  const events = (): object[] => {
    if (inputJson !== undefined) {
      const pieces = ["", ...piecesOf(inputJson)];
      return [
        start({ ...rest, input: {} }),
        ...pieces.map((partial_json) => delta({ type: "input_json_delta", partial_json })),
      ];
    }
    if (block.type === "text") {
      const pieces = piecesOf(block.text ?? "");
      return [start({ ...rest, text: "" }), ...pieces.map((text) => delta({ type: "text_delta", text }))];
    }
    if (block.type === "thinking") {
      const pieces = piecesOf(block.thinking ?? "");
      return [
        start({ ...rest, thinking: "", signature: "" }),
        ...pieces.map((thinking) => delta({ type: "thinking_delta", thinking })),
        delta({ type: "signature_delta", signature: block.signature ?? "" }),
      ];
    }
    return [start(rest)];
  };
  return [...events(), { type: "content_block_stop", index }] as StreamEvent[];
}

const PIECE = 8;

function piecesOf(text: string): string[] {
  return Array.from({ length: Math.ceil(text.length / PIECE) }, (_, index) =>
    text.slice(index * PIECE, (index + 1) * PIECE),
  );
}
