/** Collects a streamed response. A stream that breaks off is an error: an incomplete call must not run. */
import { fromSdkPart } from "../stream/parts-of-response.ts";
import type { StreamPartDetails } from "../stream/stream-part.ts";
import { BrokenResponse } from "./broken-response.ts";

type Part = Readonly<Record<string, unknown>>;

/**
 * @param onPart receives text, reasoning and tool input as they arrive
 * @throws BrokenResponse
 */
export async function collectStream(
  stream: ReadableStream<unknown>,
  onPart: (part: StreamPartDetails) => void,
): Promise<object> {
  let hasBegun = false;
  try {
    return await collect(stream, (part) => {
      hasBegun = true;
      for (const said of fromSdkPart(part)) onPart(said);
    });
  } catch (error) {
    // What broke in the middle can be requested again, unless the provider says that it cannot.
    throw hasBegun && !(error instanceof BrokenResponse) ? new BrokenResponse(error) : error;
  }
}

async function collect(stream: ReadableStream<unknown>, onDelta: (part: Part) => void): Promise<object> {
  const content: Record<string, unknown>[] = [];
  const open = new Map<string, Record<string, unknown>>();
  let finish: Part | undefined;
  for await (const part of stream as AsyncIterable<Part>) {
    const { type } = part;
    const id = `${String(type).split("-")[0]} ${String(part["id"])}`;
    if (type === "error") throw part["error"];
    if (type === "finish") finish = part;
    else if (type === "text-start" || type === "reasoning-start") {
      const block = { type: id.split(" ")[0], text: "" };
      open.set(id, block);
      content.push(block);
    } else if (type === "text-delta" || type === "reasoning-delta") {
      const block = open.get(id);
      if (block !== undefined) block["text"] = `${String(block["text"])}${String(part["delta"])}`;
    } else if (WHOLE.has(type)) content.push({ ...part });
    if (DELTAS.test(String(type))) onDelta(part);
    const block = open.get(id);
    // The signature of reasoning arrives with its end.
    if (block !== undefined && part["providerMetadata"] !== undefined)
      block["providerMetadata"] = part["providerMetadata"];
  }
  if (finish === undefined) throw new BrokenResponse();
  return { content, finishReason: finish["finishReason"], usage: finish["usage"] };
}

const DELTAS = /^(text|reasoning|tool-input)-(start|delta|end)$/;

const WHOLE: ReadonlySet<unknown> = new Set([
  "tool-call",
  "tool-result",
  "file",
  "reasoning-file",
  "custom",
  "source",
]);
