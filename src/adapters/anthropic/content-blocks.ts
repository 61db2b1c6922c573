/** Converts an output with images or documents to content blocks of the Messages API. */
import type { ToolResultBlockParam } from "@anthropic-ai/sdk/resources/messages";
import { type ContentPart, contentPartsOf, describeMedia, isImage } from "../../tool/content-parts.ts";

export type ResultBlocks = Exclude<ToolResultBlockParam["content"], string | undefined>;

/** `undefined` for an output without media, which is sent as text or JSON. */
export function toResultBlocks(output: unknown, note: string | undefined): ResultBlocks | undefined {
  const parts = contentPartsOf(output);
  if (parts === undefined) return undefined;
  const blocks = parts.map(toBlock);
  return note === undefined ? blocks : [{ type: "text", text: `[${note}]` }, ...blocks];
}

const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;

function toBlock(part: ContentPart): ResultBlocks[number] {
  if (part.type === "text") return { type: "text", text: part.text.toWellFormed() };
  const { mediaType, url, data } = part;
  if (isImage(part) && url !== undefined) return { type: "image", source: { type: "url", url } };
  const imageType = IMAGE_TYPES.find((type) => type === mediaType);
  if (imageType !== undefined && data !== undefined) {
    return { type: "image", source: { type: "base64", media_type: imageType, data } };
  }
  if (mediaType === "application/pdf") {
    return {
      type: "document",
      source:
        url === undefined
          ? { type: "base64", media_type: "application/pdf", data: data ?? "" }
          : { type: "url", url },
    };
  }
  // The API accepts no other media.
  return { type: "text", text: describeMedia(part) };
}
