/** Measures the size of a server's answer, before it is parsed, stored or shown to a model. */

export const MAX_ANSWER_BYTES = 16 * 1_048_576;

/** The approximate size of a value's strings in bytes; `Infinity` as soon as it exceeds `limit`. */
export function bytesOf(value: unknown, limit: number): number {
  let bytes = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const item = open.pop();
    if (typeof item === "string") {
      bytes += Buffer.byteLength(item);
    } else if (typeof item === "object" && item !== null) {
      for (const [name, inner] of Object.entries(item)) {
        // Each item counts, even an empty one: a million empty lists are not small.
        bytes += 1 + (Array.isArray(item) ? 0 : Buffer.byteLength(name));
        if (bytes > limit) return Infinity;
        open.push(inner);
      }
    }
    if (bytes > limit) return Infinity;
  }
  return bytes;
}
