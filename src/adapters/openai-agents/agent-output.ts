/**
 * Converts an output for the OpenAI Agents SDK. It stays unchanged if the SDK renders the same text, so that
 * guardrails and extractors receive the same value as from a plain tool. Images and files get the SDK's form; the
 * rest becomes text.
 */
import type { ToolOutputFileContent, ToolOutputImage, ToolOutputText } from "@openai/agents";
import { type ContentPart, contentPartsOf, describeMedia, isImage } from "../../tool/content-parts.ts";

/** @param text the output and the note as the model reads them */
export function toAgentOutput(output: unknown, note: string | undefined, text: string): unknown {
  const isSdkForm = isNative(output);
  const parts = isSdkForm ? [output].flat() : contentPartsOf(output)?.map(toStructured);
  if (note !== undefined) return parts === undefined ? text : [{ type: "text", text: `[${note}]` }, ...parts];
  return isSdkForm || (parts === undefined && isPlainJson(output, text)) ? output : (parts ?? text);
}

/** Whether the output has the fields of the SDK's images and files, some of which no other form has. */
function isNative(output: unknown): boolean {
  const items: unknown[] = [output].flat();
  const media = items.filter(
    (item) => hasField(item, "image", ["image", "imageUrl", "fileId"]) || hasField(item, "file", ["file"]),
  );
  return media.length > 0 && items.every((item) => media.includes(item) || hasField(item, "text", ["text"]));
}

function hasField(item: unknown, type: string, fields: readonly string[]): boolean {
  if (typeof item !== "object" || item === null || !("type" in item) || item.type !== type) return false;
  return fields.some((field) => field in item);
}

function toStructured(part: ContentPart): ToolOutputText | ToolOutputImage | ToolOutputFileContent {
  if (part.type === "text") return { type: "text", text: part.text };
  const { mediaType, url, data, filename } = part;
  if (REFUSED.test(mediaType)) return { type: "text", text: describeMedia(part) };
  if (isImage(part)) {
    // A data URL needs a full type. If only "image" is given, the provider detects the format from the bytes.
    const fullType = mediaType.includes("/") ? mediaType : "image/png";
    return { type: "image", image: url ?? `data:${fullType};base64,${data}` };
  }
  if (url !== undefined)
    return { type: "file", file: { url, ...(filename === undefined ? {} : { filename }) } };
  return { type: "file", file: { data, mediaType, filename: filename ?? `file${endingOf(mediaType)}` } };
}

/** One of these in an answer of a tool makes the API refuse the request, and every later one of the conversation. */
const REFUSED = /^(?:audio\/|video\/|application\/octet-stream$|image\/(?!png$|jpeg$|jpg$|gif$|webp$))/;

/** The API recognizes the type of a file by its name. */
function endingOf(mediaType: string): string {
  const [, ending] = /^(?:application|text)\/(\w+)$/.exec(mediaType) ?? [];
  return ending === undefined ? "" : `.${ending}`;
}

/** Whether the SDK's JSON text equals ours. It differs for values that JSON cannot represent. */
function isPlainJson(output: unknown, text: string): boolean {
  if (typeof output !== "object" || output === null) return false;
  try {
    return JSON.stringify(output) === text;
  } catch {
    // For example a bigint.
    return false;
  }
}
