/**
 * Parses command line text. A field that only accepts text gets it unchanged. Other fields also read `null`, `true`,
 * numbers and JSON; a quoted JSON string is text.
 */
import { describeShape } from "./describe-shape.ts";
import { isObjectShape, type Shape } from "./shape.ts";

/** Receives a note when a text does not match the type of its field. */
export type OnUnread = (note: string) => void;

/**
 * A text that does not match the type of the field is passed on unchanged: the tool's validation reports it, with the
 * same message as for a model.
 *
 * @param label the field as typed, such as `--limit`
 * @param texts the values, one per occurrence
 */
export function parseTexts(
  shape: Shape,
  label: string,
  texts: readonly string[],
  onUnread: OnUnread,
): unknown {
  if (isOnlyPairs(shape)) return parsePairs(shape, label, texts, onUnread);
  const last = texts.at(-1) ?? "";
  const read = parseOne(shape, last);
  const isList = texts.length > 1 || read === undefined || Array.isArray(read.value);
  if (shape.list !== undefined && isList) return parseList(shape.list, label, texts, onUnread);
  return read === undefined ? unread(shape, label, last, onUnread) : read.value;
}

interface Read {
  readonly value: unknown;
}

function parseOne(shape: Shape, text: string): Read | undefined {
  if (isOnlyText(shape)) return { value: text };
  const choice = shape.choices.find((one) => String(one) === text || String(one) === text.trim());
  if (choice !== undefined) return { value: choice };
  return (
    parseWord(shape, text.trim()) ??
    parseJson(shape, text) ??
    (shape.text || shape.any ? { value: text } : undefined)
  );
}

/** Literals and numbers. */
function parseWord(shape: Shape, word: string): Read | undefined {
  if (word === "null" && (shape.null || shape.any)) return { value: null };
  if ((word === "true" || word === "false") && (shape.boolean || shape.any))
    return { value: word === "true" };
  const isNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(word);
  if (isNumber && (shape.number !== undefined || shape.any) && Number.isFinite(Number(word)))
    return { value: Number(word) };
  return undefined;
}

function parseJson(shape: Shape, text: string): Read | undefined {
  const value = jsonIn(text);
  if (typeof value === "string") {
    return shape.text || shape.any || shape.choices.includes(value) ? { value } : undefined;
  }
  if (Array.isArray(value)) return shape.list !== undefined || shape.any ? { value } : undefined;
  if (typeof value === "object") return isObjectShape(shape) || shape.any ? { value } : undefined;
  return undefined;
}

/** A list, an object or a quoted string; otherwise `undefined`. */
function jsonIn(text: string): unknown {
  if (!/^\s*[[{"]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Not JSON after all. The caller decides whether that is an error.
    return undefined;
  }
}

function parseList(
  { first, items }: NonNullable<Shape["list"]>,
  label: string,
  texts: readonly string[],
  onUnread: OnUnread,
): unknown[] {
  const takesOnlyLists = items.list !== undefined && !items.any && !items.text;
  const values: unknown[] = [];
  for (const text of texts) {
    const json = jsonIn(text);
    const isWhole =
      Array.isArray(json) &&
      (texts.length === 1 ? !takesOnlyLists || json.every(Array.isArray) : items.list === undefined);
    if (isWhole) values.push(...(json as unknown[]));
    else values.push(parseTexts(first[values.length] ?? items, label, [text], onUnread));
  }
  return values;
}

/** `key=value`, repeated for each key, or JSON. */
function parsePairs(shape: Shape, label: string, texts: readonly string[], onUnread: OnUnread): unknown {
  const entries: [string, unknown][] = [];
  for (const text of texts) {
    const json = jsonIn(text);
    const at = text.indexOf("=");
    if (typeof json === "object" && json !== null && !Array.isArray(json))
      entries.push(...Object.entries(json));
    else if (text.trim() === "null" && shape.null) return null;
    else if (at > 0 && shape.values !== undefined) {
      const key = text.slice(0, at);
      entries.push([key, parseTexts(shape.values, `${label} ${key}`, [text.slice(at + 1)], onUnread)]);
    } else return unread(shape, label, text, onUnread);
  }
  return Object.fromEntries(entries);
}

function isOnlyText(shape: Shape): boolean {
  return (
    shape.text &&
    shape.number === undefined &&
    !shape.boolean &&
    !shape.null &&
    shape.choices.length === 0 &&
    shape.list === undefined &&
    !isObjectShape(shape)
  );
}

function isOnlyPairs(shape: Shape): boolean {
  return (
    shape.values !== undefined &&
    !shape.text &&
    shape.number === undefined &&
    !shape.boolean &&
    shape.choices.length === 0 &&
    shape.list === undefined
  );
}

function unread(shape: Shape, label: string, text: string, onUnread: OnUnread): unknown {
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  onUnread(`${label} takes ${describeShape(shape)}, not ${JSON.stringify(shown)}.`);
  const json = jsonIn(text);
  return typeof json === "object" ? json : text;
}
