/** Collects a streamed response. A stream that breaks off is an error: an incomplete call must not run. */

type Part = Readonly<Record<string, unknown>>;

/** @param onText receives each piece of text */
export async function collectStream(
  stream: ReadableStream<unknown>,
  onText: (text: string) => void,
): Promise<object> {
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
      if (type === "text-delta") onText(String(part["delta"]));
    } else if (WHOLE.has(type)) content.push({ ...part });
    const block = open.get(id);
    // The signature of reasoning arrives with its end.
    if (block !== undefined && part["providerMetadata"] !== undefined)
      block["providerMetadata"] = part["providerMetadata"];
  }
  if (finish === undefined) throw new Error("The stream ended before the answer was complete.");
  return { content, finishReason: finish["finishReason"], usage: finish["usage"] };
}

const WHOLE: ReadonlySet<unknown> = new Set([
  "tool-call",
  "tool-result",
  "file",
  "reasoning-file",
  "custom",
  "source",
]);
