/** Replaces a value that is too long for the log by its size and a preview. The full value is stored elsewhere. */
import { decode } from "./encode.ts";
import { toShownJson } from "./shown-value.ts";

const PREVIEW_CHARACTERS = 1_000;

/** The text itself when it fits, else `{"truncated":true,"bytes":N,"preview":…}`. */
export function truncateJson(text: string, maxBytes: number): { text: string; truncated: boolean } {
  // Every UTF-16 unit takes at most three bytes, so short texts need no counting.
  if (text.length * 3 <= maxBytes) return { text, truncated: false };
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes || fitsAsText(text, bytes, maxBytes)) return { text, truncated: false };
  const preview = toShownStored(text).slice(0, Math.min(PREVIEW_CHARACTERS, maxBytes)).toWellFormed();
  return { text: JSON.stringify({ truncated: true, bytes, preview }), truncated: true };
}

/** Converts the stored JSON of a value to its shown form. */
export function toShownStored(text: string): string {
  // Without a tag, both forms are the same.
  return text.includes('"$type"') ? toShownJson(decode(text)) : text;
}

/**
 * A tool that limits its output counts the bytes of the text itself. JSON's quotes and escapes make it at most six times as
 * long.
 */
function fitsAsText(json: string, bytes: number, maxBytes: number): boolean {
  if (!json.startsWith('"') || bytes > maxBytes * 6 + 2) return false;
  return Buffer.byteLength(JSON.parse(json) as string) <= maxBytes;
}

/** Whether a logged text is such a preview. A value that only looks like one is also stored in full elsewhere. */
export function isPreview(text: string): boolean {
  if (!text.startsWith('{"truncated":true,"bytes":')) return false;
  try {
    const { bytes, preview, ...rest } = JSON.parse(text) as { bytes?: unknown; preview?: unknown };
    return Number.isInteger(bytes) && typeof preview === "string" && Object.keys(rest).length === 1;
  } catch {
    return false;
  }
}
