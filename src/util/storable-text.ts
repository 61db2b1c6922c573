/**
 * Which characters of a text a store accepts, and which a reader must not get as they are: on a terminal, in JSON, and on
 * the page. It must import nothing and use no Node API: browsers load it too.
 */

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
  // A character has at most three bytes in UTF-8 for each unit, so most ids need no encoding.
  return text.length * 3 > LONGEST_ID_BYTES && new TextEncoder().encode(text).length > LONGEST_ID_BYTES;
}

// Control characters, characters that reorder or hide text, line separators, lone surrogates, and invisible characters.
// Text can be hidden in variation selectors, so only selectors that style the emoji before them stay.
const UNSAFE =
  /(?![\n\t]|(?<=\p{Extended_Pictographic})[\uFE0E\uFE0F])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** Keeps line breaks and tabs. */
export function escapeUnsafe(text: string): string {
  return text.replaceAll(UNSAFE, escapeOf);
}

/** Outside of strings, JSON contains no such character except line breaks, so its value stays the same. */
export function escapeUnsafeInJson(json: string): string {
  return json.replaceAll(UNSAFE, (character) => character.split("").map(unitEscape).join(""));
}

export function hasUnsafe(text: string): boolean {
  return text.search(UNSAFE) !== -1;
}

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : unitEscape(character);
}

function unitEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
