/** How a value that is too long for the log stands there: its size and its beginning. The full value is kept elsewhere. */
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

/** The JSON of a stored value, as it is shown. */
export function toShownStored(text: string): string {
  // Without a tag, the two forms are the same.
  return text.includes('"$type"') ? toShownJson(decode(text)) : text;
}

/**
 * A tool that keeps its output within the limit counts the bytes of the text itself; quotes and escapes are JSON's, and make
 * it at most six times as long.
 */
function fitsAsText(json: string, bytes: number, maxBytes: number): boolean {
  if (!json.startsWith('"') || bytes > maxBytes * 6 + 2) return false;
  return Buffer.byteLength(JSON.parse(json) as string) <= maxBytes;
}

/** Whether a text of the log is such a preview. A value that looks like one is kept in full elsewhere too. */
export function isPreview(text: string): boolean {
  if (!text.startsWith('{"truncated":true,"bytes":')) return false;
  try {
    const { bytes, preview, ...rest } = JSON.parse(text) as { bytes?: unknown; preview?: unknown };
    return Number.isInteger(bytes) && typeof preview === "string" && Object.keys(rest).length === 1;
  } catch {
    return false;
  }
}
