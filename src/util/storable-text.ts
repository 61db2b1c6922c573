/** Whether every store accepts the text: PostgreSQL refuses U+0000, and a lone surrogate has no UTF-8 form. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\u0000");
}

/** For text that is only shown: replaces the characters that a store refuses. */
export function toStorableText(text: string): string {
  return text.toWellFormed().replaceAll("\u0000", "\ufffd");
}

/** Indexes combine several ids, and PostgreSQL allows at most 2,704 bytes per index row. */
export const LONGEST_ID_BYTES = 512;

export function isTooLongForId(text: string): boolean {
  return Buffer.byteLength(text) > LONGEST_ID_BYTES;
}
