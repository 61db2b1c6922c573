/** Estimates tokens from size. It errs on the high side: most text takes fewer. */
import { remembered } from "../util/remembered.ts";

const BYTES_PER_TOKEN = 3;
/** Providers count about this much for a large image, independent of its bytes. */
const TOKENS_OF_IMAGE = 1_600;

export function estimateTokens(value: unknown): number {
  // A list of parts may contain images; the replacer that finds them takes several times as long as the rest.
  if (isOnlyText(value)) return tokensOfBytes(Buffer.byteLength(JSON.stringify(value)));
  let images = 0;
  const text = JSON.stringify(value, (_, item: unknown) => {
    if (!isImage(item)) return item;
    images += 1;
    return "";
  });
  return tokensOfBytes(Buffer.byteLength(text ?? "")) + images * TOKENS_OF_IMAGE;
}

function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Whether it is a message without parts. */
function isOnlyText(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { content, provider } = value as { readonly content?: unknown; readonly provider?: unknown };
  return typeof content === "string" && provider === undefined;
}

/** Measures each message once, even if the history is measured many times. */
export function createMessageSizes(): (message: object) => number {
  const sizes = new WeakMap<object, number>();
  return (message) => remembered(sizes, message, () => estimateTokens(message));
}

export function bytesOfTokens(tokens: number): number {
  return tokens * BYTES_PER_TOKEN;
}

/** Recognises image parts of Anthropic, OpenAI and the AI SDK. */
function isImage(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("type" in value)) return false;
  const { type, mediaType } = value as { readonly type: unknown; readonly mediaType?: unknown };
  if (type === "file") return typeof mediaType === "string" && mediaType.startsWith("image");
  return type === "image" || type === "image_url";
}
