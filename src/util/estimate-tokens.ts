/** How many tokens something may be, by its size. An estimate on the safe side: most text is less. */

const BYTES_PER_TOKEN = 3;
/** What providers count for a large image, whatever its bytes. */
const TOKENS_OF_IMAGE = 1_600;

export function estimateTokens(value: unknown): number {
  let images = 0;
  const text = JSON.stringify(value, (_, item: unknown) => {
    if (!isImage(item)) return item;
    images += 1;
    return "";
  });
  return Math.ceil(Buffer.byteLength(text ?? "") / BYTES_PER_TOKEN) + images * TOKENS_OF_IMAGE;
}

/** Each message is looked at once, however often the history is. */
export function createMessageSizes(): (message: object) => number {
  const sizes = new WeakMap<object, number>();
  return (message) => {
    const known = sizes.get(message) ?? estimateTokens(message);
    sizes.set(message, known);
    return known;
  };
}

export function bytesOfTokens(tokens: number): number {
  return tokens * BYTES_PER_TOKEN;
}

/** As Anthropic, OpenAI and the AI SDK spell it. */
function isImage(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("type" in value)) return false;
  const { type, mediaType } = value as { readonly type: unknown; readonly mediaType?: unknown };
  if (type === "file") return typeof mediaType === "string" && mediaType.startsWith("image");
  return type === "image" || type === "image_url";
}
