/** How large an answer of a server is: it is measured before it is parsed, stored or shown to a model. */

export const MAX_ANSWER_BYTES = 16 * 1_048_576;

/** Whether the texts of a value are longer than this altogether. Stops as soon as they are. */
export function isLargerThan(value: unknown, maxBytes: number): boolean {
  let left = maxBytes;
  const open: unknown[] = [value];
  const take = (bytes: number): boolean => (left -= bytes) < 0;
  while (open.length > 0) {
    const item = open.pop();
    if (typeof item === "string") {
      if (take(Buffer.byteLength(item))) return true;
    } else if (typeof item === "object" && item !== null) {
      for (const [name, inner] of Object.entries(item)) {
        // Also for what has no text: a million empty lists are not small.
        if (take(1 + (Array.isArray(item) ? 0 : Buffer.byteLength(name)))) return true;
        open.push(inner);
      }
    }
  }
  return false;
}
