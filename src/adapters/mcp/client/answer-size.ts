/** How large an answer of a server is: it is measured before it is parsed, stored or shown to a model. */

export const MAX_ANSWER_BYTES = 16 * 1_048_576;

/** The bytes of a value's texts, roughly; `Infinity` as soon as they are more than `most`. */
export function bytesOf(value: unknown, most: number): number {
  let bytes = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const item = open.pop();
    if (typeof item === "string") {
      bytes += Buffer.byteLength(item);
    } else if (typeof item === "object" && item !== null) {
      for (const [name, inner] of Object.entries(item)) {
        // Also for what has no text: a million empty lists are not small.
        bytes += 1 + (Array.isArray(item) ? 0 : Buffer.byteLength(name));
        if (bytes > most) return Infinity;
        open.push(inner);
      }
    }
    if (bytes > most) return Infinity;
  }
  return bytes;
}
