/**
 * Extracts content blocks from an output. An output in the shape of an MCP result, as imported tools return, is
 * passed on block by block. Images and other media in the shapes of other SDKs become MCP blocks.
 */
import { type ContentBlock, isSpecType } from "@modelcontextprotocol/server";
import { type ContentPart, contentPartsOf, type MediaPart } from "../../../tool/content-parts.ts";

export interface OutputContent {
  readonly content: ContentBlock[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
}

/** `undefined` for any other value, which is sent as text and as structured content. */
export function outputContent(output: unknown): OutputContent | undefined {
  return resultOf(output) ?? mediaOf(output);
}

const RESULT_FIELDS = new Set(["content", "structuredContent", "isError", "_meta"]);

function resultOf(output: unknown): OutputContent | undefined {
  if (typeof output !== "object" || output === null || !("content" in output)) return undefined;
  const { content, structuredContent, isError } = output as Readonly<Record<string, unknown>>;
  const isResult =
    Object.keys(output).every((name) => RESULT_FIELDS.has(name)) &&
    Array.isArray(content) &&
    (content.length > 0 || structuredContent !== undefined) &&
    content.every((block) => isSpecType.ContentBlock(block));
  if (!isResult) return undefined;
  return {
    content: content,
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(isError === true ? { isError } : {}),
  };
}

function mediaOf(output: unknown): OutputContent | undefined {
  const parts = contentPartsOf(output);
  return parts === undefined ? undefined : { content: parts.map(toBlock) };
}

function toBlock(part: ContentPart): ContentBlock {
  return part.type === "text" ? { type: "text", text: part.text } : mediaBlock(part);
}

function mediaBlock({ mediaType, data, url, filename }: MediaPart): ContentBlock {
  if (data === undefined) {
    return { type: "resource_link", uri: url, name: filename ?? url, mimeType: mediaType };
  }
  const [kind] = mediaType.split("/");
  if (kind === "image" || kind === "audio") return { type: kind, data, mimeType: mediaType };
  return {
    type: "resource",
    resource: { uri: `file:///${filename ?? "file"}`, mimeType: mediaType, blob: data },
  };
}
