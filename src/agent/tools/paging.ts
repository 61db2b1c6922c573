/** Splits a text into pages. No page splits a character, and all pages together are the text. */
import { ToolwrightError } from "../../errors.ts";

export interface Page {
  readonly content: string;
  readonly offset: number;
  /** The offset of the next page; `null` after the last. */
  readonly nextOffset: number | null;
  readonly totalChars: number;
  readonly totalLines?: number;
}

export function cutChars(text: string, offset: number, limit: number): Page {
  const totalChars = text.length;
  const start = isInside(text, offset) ? offset - 1 : Math.min(offset, totalChars);
  const asked = Math.min(start + limit, totalChars);
  // A limit of half a character would never advance: the page gets the whole character.
  const end = isInside(text, asked) ? (asked - 1 > start ? asked - 1 : asked + 1) : asked;
  return {
    content: text.slice(start, end),
    offset: start,
    nextOffset: end < totalChars ? end : null,
    totalChars,
  };
}

/** @param maxChars a page has fewer lines if they exceed this */
export function cutLines(text: string, offset: number, limit: number, maxChars: number): Page {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const taken: string[] = [];
  let chars = 0;
  for (const line of lines.slice(offset, Math.min(offset + limit, lines.length))) {
    if (chars + line.length > maxChars) break;
    chars += line.length;
    taken.push(line);
  }
  const next = offset + taken.length;
  if (taken.length === 0 && offset < lines.length) throw tooLong(lines, offset, maxChars);
  return {
    content: taken.join(""),
    offset,
    nextOffset: next < lines.length ? next : null,
    totalChars: text.length,
    totalLines: lines.length,
  };
}

/** Whether the offset is between the two halves of a surrogate pair. */
function isInside(text: string, at: number): boolean {
  return at > 0 && at < text.length && isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at));
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function tooLong(lines: readonly string[], line: number, maxChars: number): ToolwrightError {
  const before = lines.slice(0, line).reduce((sum, { length }) => sum + length, 0);
  return new ToolwrightError(
    "TOOL_INPUT_INVALID",
    `Line ${line} alone has ${lines[line]?.length} characters; a page has at most ${maxChars}.`,
    { hint: `Read it by chars: it begins at offset ${before}.`, effect: "none" },
  );
}
