/** How a value that is too long for the log stands there: its size and its beginning. The full value is kept elsewhere. */

const PREVIEW_CHARACTERS = 1_000;

/** The text itself when it fits, else `{"truncated":true,"bytes":N,"preview":…}`. */
export function truncateJson(text: string, maxBytes: number): { text: string; truncated: boolean } {
  // Every UTF-16 unit takes at most three bytes, so short texts need no counting.
  if (text.length * 3 <= maxBytes) return { text, truncated: false };
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return { text, truncated: false };
  const preview = text.slice(0, Math.min(PREVIEW_CHARACTERS, maxBytes)).toWellFormed();
  return { text: JSON.stringify({ truncated: true, bytes, preview }), truncated: true };
}
