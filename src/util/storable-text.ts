/** Text that every store keeps as it is: PostgreSQL refuses U+0000, and a lone surrogate has no UTF-8 form. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\u0000");
}

/** For text that is only shown: what cannot be kept is replaced. */
export function toStorableText(text: string): string {
  return text.toWellFormed().replaceAll("\u0000", "\ufffd");
}

/** Ids stand in indexes together, and PostgreSQL takes at most 2,704 bytes for a row of one. */
export const LONGEST_ID_BYTES = 512;

export function isTooLongForId(text: string): boolean {
  return Buffer.byteLength(text) > LONGEST_ID_BYTES;
}
