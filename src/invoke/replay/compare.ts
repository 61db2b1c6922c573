/**
 * Compares a value of a replay with the recorded one, field by field. Hidden values cannot be compared: a mark matches any
 * value, except a mark that the fixture has for another value.
 */
import { canonicalText } from "../../util/canonical.ts";
import { toShownValue } from "../../util/shown-value.ts";
import { SCRUBBED } from "../recording/hidden-values.ts";
import { holdsMark } from "../redact.ts";
import { LEFT_OUT } from "../storable.ts";

export interface FieldDifference {
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** Which of the marks in a text the fixture has. */
export type KnownMarks = ReadonlySet<string>;

const MARKS = /\[redacted sha256:[A-Za-z0-9_-]{43}\]/g;

export function marksIn(text: string): string[] {
  return text.match(MARKS) ?? [];
}

/** At most this many: one change of a long text would otherwise fill the screen. */
const MOST = 20;

/** In the order of the fields. Empty when the values are equal. */
export function compare(expected: unknown, actual: unknown, known: KnownMarks, path = ""): FieldDifference[] {
  const found: FieldDifference[] = [];
  visit(expected, actual, path, { known, found });
  return found;
}

export function isEqual(expected: unknown, actual: unknown, known: KnownMarks): boolean {
  return compare(expected, actual, known).length === 0;
}

interface Comparing {
  readonly known: KnownMarks;
  readonly found: FieldDifference[];
}

function visit(expected: unknown, actual: unknown, path: string, comparing: Comparing): void {
  const { known, found } = comparing;
  if (found.length >= MOST || Object.is(expected, actual)) return;
  if (matchesHidden(expected, actual, known)) return;
  const at = (name: string | number): string => (path === "" ? String(name) : `${path}.${name}`);
  if (Array.isArray(expected) && Array.isArray(actual)) {
    for (let index = 0; index < Math.max(expected.length, actual.length); index += 1)
      visit(expected[index], actual[index], at(index), comparing);
    return;
  }
  if (isPlain(expected) && isPlain(actual)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)]))
      visit(expected[name], actual[name], at(name), comparing);
    return;
  }
  if (sameText(expected, actual)) return;
  found.push({ path, expected: toShownValue(expected), actual: toShownValue(actual) });
}

/** Dates, bytes, maps and the like. */
function sameText(expected: unknown, actual: unknown): boolean {
  if (typeof expected !== "object" || typeof actual !== "object") return false;
  try {
    return canonicalText(expected) === canonicalText(actual);
  } catch {
    return false;
  }
}

function matchesHidden(expected: unknown, actual: unknown, known: KnownMarks): boolean {
  if (isMadeHere(actual, known)) return true;
  // Loops wrap an input that is not an object.
  if (isPlain(actual) && Object.keys(actual).join() === "input" && isMadeHere(actual["input"], known))
    return true;
  if (typeof expected !== "string") return false;
  const isMark = marksIn(expected)[0] === expected;
  if (expected === LEFT_OUT || expected === SCRUBBED || isMark)
    return actual !== undefined && !(typeof actual === "string" && holdsMark(actual) && known.has(actual));
  return typeof actual === "string" && (matchesPattern(expected, actual) || matchesPattern(actual, expected));
}

/** A mark that this replay made itself, of a value that it has in plain text, or that does not fit the schema as a mark. */
function isMadeHere(actual: unknown, known: KnownMarks): boolean {
  if (typeof actual !== "string") return false;
  // Some formats have arguments as JSON.
  const text = actual.startsWith('"') && actual.endsWith('"') ? actual.slice(1, -1) : actual;
  return text === LEFT_OUT || (marksIn(text)[0] === text && !known.has(text));
}

/** A text with hidden parts matches any text that has the other parts in their order. */
function matchesPattern(pattern: string, actual: string): boolean {
  if (!pattern.includes(SCRUBBED) && !holdsMark(pattern)) return false;
  const parts = pattern.split(/\[redacted(?: sha256:[A-Za-z0-9_-]{43})?\]/);
  let from = 0;
  for (const [index, part] of parts.entries()) {
    const position = index === parts.length - 1 ? actual.length - part.length : actual.indexOf(part, from);
    const isPlaced =
      index === 0 ? actual.startsWith(part) : position >= from && actual.startsWith(part, position);
    if (!isPlaced) return false;
    from = (index === 0 ? 0 : position) + part.length;
  }
  return true;
}

export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
