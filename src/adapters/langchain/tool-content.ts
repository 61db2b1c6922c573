/** The content of a tool message: text, or content blocks that LangChain passes to the model unchanged. */
import type { MessageContent } from "@langchain/core/messages";
import { ToolwrightError } from "../../errors.ts";
import { type ContentPart, contentPartsOf, isImage } from "../../tool/content-parts.ts";

/** @param text the output and the note as the model reads them, for outputs that are not content blocks */
export function toContent(output: unknown, note: string | undefined, text: string): MessageContent {
  const blocks = isBlocks(output) ? output : contentPartsOf(output)?.map(toBlock);
  if (blocks === undefined) return text;
  return note === undefined ? blocks : [{ type: "text", text: `[${note}]` }, ...blocks];
}

type Blocks = Exclude<MessageContent, string>;

/** LangChain's own test for content blocks, except that an empty list and items with bytes are data. */
function isBlocks(output: unknown): output is Blocks {
  const isBlock = (item: unknown): boolean =>
    typeof item === "object" &&
    item !== null &&
    "type" in item &&
    typeof item.type === "string" &&
    !Object.values(item).some((field) => field instanceof Uint8Array);
  return Array.isArray(output) && output.length > 0 && output.every(isBlock);
}

function toBlock(part: ContentPart): Blocks[number] {
  if (part.type === "text") return { type: "text", text: part.text };
  const { mediaType, url, data, filename } = part;
  if (isImage(part)) {
    const fullType = mediaType.includes("/") ? mediaType : "image/png";
    return { type: "image_url", image_url: { url: url ?? `data:${fullType};base64,${data}` } };
  }
  const type = /^(?:audio|video)\//.exec(mediaType)?.[0].slice(0, -1) ?? "file";
  return {
    type,
    mimeType: mediaType,
    ...(url === undefined ? { data } : { url }),
    ...(filename === undefined ? {} : { metadata: { filename } }),
  };
}

/** @throws TOOL_OUTPUT_INVALID */
export function contentAndArtifact(tool: string, output: unknown): readonly [unknown, unknown] {
  if (Array.isArray(output) && output.length === 2) return [output[0], output[1]];
  throw new ToolwrightError(
    "TOOL_OUTPUT_INVALID",
    `Tool "${tool}" ran, but its responseFormat is "content_and_artifact" and its output is not a pair [content, artifact].`,
    { details: { tool }, effect: "happened" },
  );
}
