/**
 * An output as the OpenAI Agents SDK takes it: as it is where the SDK shows the model the same text, so that guardrails and
 * extractors see what a plain tool would give them; images and files in the SDK's own form; else text.
 */
import type { ToolOutputFileContent, ToolOutputImage, ToolOutputText } from "@openai/agents";
import { type ContentPart, contentPartsOf, describeMedia, isImage } from "../../tool/content-parts.ts";

/** @param text the output as the model reads it, with the note */
export function toAgentOutput(output: unknown, note: string | undefined, text: string): unknown {
  const isOwnForm = isNative(output);
  const parts = isOwnForm ? [output].flat() : contentPartsOf(output)?.map(toStructured);
  if (note !== undefined) return parts === undefined ? text : [{ type: "text", text: `[${note}]` }, ...parts];
  return isOwnForm || (parts === undefined && isPlainJson(output, text)) ? output : (parts ?? text);
}

/** Has the fields of the SDK's own images and files, some of which no other form has. */
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
    // Where only "image" is known, the model finds out from the bytes; a data URL has to name one.
    const known = mediaType.includes("/") ? mediaType : "image/png";
    return { type: "image", image: url ?? `data:${known};base64,${data}` };
  }
  if (url !== undefined)
    return { type: "file", file: { url, ...(filename === undefined ? {} : { filename }) } };
  return { type: "file", file: { data, mediaType, filename: filename ?? `file${endingOf(mediaType)}` } };
}

/** One of these in an answer of a tool makes the API refuse the request, and every later one of the conversation. */
const REFUSED = /^(?:audio\/|video\/|application\/octet-stream$|image\/(?!png$|jpeg$|jpg$|gif$|webp$))/;

/** The API tells what a file is by its name. */
function endingOf(mediaType: string): string {
  const [, ending] = /^(?:application|text)\/(\w+)$/.exec(mediaType) ?? [];
  return ending === undefined ? "" : `.${ending}`;
}

/** The SDK writes objects as JSON. Of values beyond JSON, only the text has the form in which they are shown everywhere. */
function isPlainJson(output: unknown, text: string): boolean {
  if (typeof output !== "object" || output === null) return false;
  try {
    return JSON.stringify(output) === text;
  } catch {
    // A big integer, for example.
    return false;
  }
}
