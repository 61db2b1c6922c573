/**
 * Recognizes outputs with images or other media, and splits them into parts. Each adapter converts the parts to the format of
 * its loop. Any other output is sent as text or JSON.
 *
 * Recognized are a single media part, a list of parts, `{ content: [parts] }` (MCP) and `{ type: "content", value: [parts] }`
 * (AI SDK). Every item must be a part, and at least one must be media. Beside media, an unknown MCP content block becomes
 * JSON: it must not turn the images next to it into base64 text. A media part is one of
 * - `{ type: "image" | "audio", data, mimeType }` (MCP; also with `mediaType`)
 * - `{ type: "resource", resource: { blob, mimeType } }` (MCP)
 * - `{ type: "file" | "media" | "file-data" | "image-data", data, mediaType }`, `{ type: "file-url" | "image-url", url }` (AI SDK)
 * - `{ type: "image", source: { type: "base64" | "url", … } }` (Anthropic)
 * - `{ type: "image", image }`, `{ type: "image_url", image_url }`, `{ type: "input_image", image_url }` (OpenAI)
 *
 * Data is base64 text, a `data:` URL or bytes. A text resource is text, even if its server sends it as base64.
 */
import { toShownJson } from "../util/shown-value.ts";

export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

export type MediaPart = {
  readonly type: "media";
  /** `image/png`, or only `image` if the subtype is unknown. */
  readonly mediaType: string;
  readonly filename?: string;
} & ({ readonly data: string; readonly url?: never } | { readonly url: string; readonly data?: never });

export type ContentPart = TextPart | MediaPart;

/** The parts of an output with media, in order; `undefined` for any other output. Data is base64. */
export function contentPartsOf(output: unknown): readonly ContentPart[] | undefined {
  const { list, rest, isBlocks = false } = listIn(output);
  if (list === undefined) return undefined;
  const parts: ContentPart[] = [];
  for (const item of list) {
    const part = partOf(item) ?? (isBlocks ? unknownBlock(item) : undefined);
    if (part === undefined) return undefined;
    parts.push(part);
  }
  if (!parts.some(({ type }) => type === "media")) return undefined;
  return rest === undefined || parts.some((part) => part.type === "text" && part.text === rest)
    ? parts
    : [...parts, { type: "text", text: rest }];
}

export function isImage(part: ContentPart): part is MediaPart {
  return part.type === "media" && /^image(?:\/|$)/.test(part.mediaType);
}

/** For a model that cannot be shown this: what it is and how large, never its base64. */
export function describeMedia({ mediaType, url, data, filename }: MediaPart): string {
  const what = filename === undefined ? mediaType : `${filename} (${mediaType})`;
  return url === undefined
    ? `[${what}, ${Buffer.byteLength(data, "base64")} bytes: cannot be shown here]`
    : `[${what}: ${url}]`;
}

type Fields = Readonly<Record<string, unknown>>;

interface Listed {
  readonly list?: readonly unknown[];
  /** All other fields as JSON, so that nothing is lost. */
  readonly rest?: string;
  /** The items are MCP content blocks. */
  readonly isBlocks?: boolean;
}

function listIn(output: unknown): Listed {
  if (Array.isArray(output)) return { list: output };
  if (!isFields(output)) return {};
  if (output["type"] === "content" && Array.isArray(output["value"])) return { list: output["value"] };
  const { content, structuredContent, isError: _isError, _meta, ...others } = output;
  if (!Array.isArray(content)) return { list: [output] };
  const beside = {
    ...others,
    ...(structuredContent === undefined || structuredContent === null ? {} : { structuredContent }),
  };
  if (Object.keys(beside).length === 0) return { list: content, isBlocks: true };
  const onlyStructured = Object.keys(others).length === 0;
  return { list: content, isBlocks: true, rest: jsonText(onlyStructured ? structuredContent : beside) };
}

function partOf(item: unknown): ContentPart | undefined {
  if (!isFields(item)) return undefined;
  const { type } = item;
  if (type === "text") return textPart(item["text"]);
  if (type === "resource") return resourcePart(item["resource"]);
  // A model cannot open the link, so it reads the link as JSON.
  if (type === "resource_link" && typeof item["uri"] === "string") return textPart(jsonText(item));
  if (typeof type !== "string" || !MEDIA_TYPES.has(type)) return undefined;
  return mediaPart(item, type);
}

const MEDIA_TYPES = new Set([
  "image",
  "audio",
  "file",
  "media",
  "file-data",
  "image-data",
  "file-url",
  "image-url",
  "image_url",
  "input_image",
]);

function textPart(text: unknown): TextPart | undefined {
  return typeof text === "string" ? { type: "text", text } : undefined;
}

/** A block of a newer protocol, or one without its data. */
function unknownBlock(item: unknown): TextPart | undefined {
  return isFields(item) && typeof item["type"] === "string" ? textPart(jsonText(item)) : undefined;
}

function resourcePart(resource: unknown): ContentPart | undefined {
  if (!isFields(resource)) return undefined;
  const { text, blob, mimeType, uri } = resource;
  if (typeof text === "string") return resourceText(uri, text);
  const mediaType = typeof mimeType === "string" ? mimeType : "application/octet-stream";
  const part = made(blob, mediaType, fileNameIn(uri));
  const decoded = part?.data !== undefined && TEXT_TYPES.test(part.mediaType) ? textIn(part.data) : undefined;
  return decoded === undefined ? part : resourceText(uri, decoded);
}

/** The address stays with the text: a model may be asked for it, or read more there. */
function resourceText(uri: unknown, text: string): TextPart {
  return { type: "text", text: typeof uri === "string" && uri !== "" ? `[${uri}]\n${text}` : text };
}

const TEXT_TYPES = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml)\b)/;

function textIn(base64: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(base64, "base64"));
  } catch {
    // Another encoding: it stays a file.
    return undefined;
  }
}

/** The file name in an address such as `file:///reports/may.pdf`. A name without an extension is not a file name. */
function fileNameIn(uri: unknown): string | undefined {
  if (typeof uri !== "string") return undefined;
  const [, name] = /\/([^/?#]+\.\w+)(?:[?#].*)?$/.exec(uri) ?? [];
  return name;
}

function mediaPart(item: Fields, type: string): MediaPart | undefined {
  const source = item["source"] ?? item["image_url"] ?? item["image"] ?? item["data"] ?? item["url"];
  const inner = isFields(source) && !(source instanceof URL) && !isBytes(source) ? source : undefined;
  const value = inner === undefined ? source : (inner["data"] ?? inner["url"] ?? inner["image_url"]);
  const named = [inner, item].flatMap((fields) =>
    fields === undefined ? [] : [fields["mediaType"], fields["mimeType"], fields["media_type"]],
  );
  const mediaType = named.find((name) => typeof name === "string") ?? (type.includes("image") ? "image" : "");
  const filename = item["filename"];
  return made(value, mediaType, typeof filename === "string" ? filename : undefined);
}

function made(value: unknown, mediaType: string, filename: string | undefined): MediaPart | undefined {
  const more = filename === undefined ? {} : { filename };
  if (isBytes(value)) return typed(mediaType, { ...more, data: base64Of(value) });
  const text = value instanceof URL ? value.href : value;
  if (typeof text !== "string" || text === "") return undefined;
  const inline = /^data:([^;,]+)(?:;[^,]*)?;base64,([\s\S]*)$/.exec(text);
  if (inline?.[1] !== undefined) return typed(inline[1], { ...more, data: inline[2] ?? "" });
  if (/^https?:\/\//.test(text)) return typed(mediaType, { ...more, url: text });
  // Encoders for mail break lines.
  const data = text.replaceAll(/\r?\n/g, "");
  return BASE64.test(data) ? typed(mediaType, { ...more, data }) : undefined;
}

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** Media without a type cannot be sent to a model. */
function typed(
  mediaType: string,
  rest: { readonly filename?: string } & ({ readonly data: string } | { readonly url: string }),
): MediaPart | undefined {
  return mediaType === "" ? undefined : { type: "media", mediaType, ...rest };
}

function isBytes(value: unknown): value is Uint8Array | ArrayBuffer {
  return value instanceof Uint8Array || value instanceof ArrayBuffer;
}

function base64Of(value: Uint8Array | ArrayBuffer): string {
  const view = value instanceof ArrayBuffer ? new Uint8Array(value) : value;
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString("base64");
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function jsonText(value: unknown): string {
  return value === undefined ? "" : toShownJson(value);
}
