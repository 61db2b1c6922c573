/**
 * The stored form of a value: JSON where JSON is enough, tagged objects (`{"$type":…}`) for values that JSON would lose.
 * Decoding returns an equal value, so a replayed call returns the same value as the live call. A value that cannot be
 * stored is an error that names its path; nothing falls back to `[object Object]`.
 *
 * This is a stored format. Tags may be added; a released tag keeps its meaning. See docs/internals/formats.md.
 */
import { types } from "node:util";

const TAG = "$type";
const LONGEST_PATH = 200;
const TOO_DEEP = "is nested too deeply to be stored";

/** Deeper values are refused, however much call stack is left: every stored value must be readable later. */
export const MAX_DEPTH = 1_000;
/** An array with more holes is sparse: its length says nothing about its size. */
export const MAX_HOLES = 10_000;

/** The value cannot be stored. `path` names the part of it that cannot. */
export class UnencodableError extends Error {
  readonly path: string;

  constructor(path: string, what: string, options?: ErrorOptions) {
    const shown = path.length > LONGEST_PATH ? `${path.slice(0, LONGEST_PATH)}…` : path;
    super(`${path === "" ? "the value" : shown} ${what}`, options);
    this.name = "UnencodableError";
    this.path = path;
  }
}

/** Reading the value threw: a getter, `toJSON`, or a revoked proxy. `cause` is the thrown value. */
export class UnreadableError extends UnencodableError {
  constructor(path: string, cause: unknown) {
    super(path, `cannot be read: ${reasonOf(cause)}`, { cause });
    this.name = "UnreadableError";
  }
}

const HOST_VALUE = Symbol.for("toolwright.host-value");

/**
 * An object of another library as data: its kind, and the data to rebuild it from. It has its own tag, so that no plain
 * output of a tool can be mistaken for one.
 */
export class HostValue {
  readonly [HOST_VALUE] = true;
  readonly kind: string;
  readonly data: unknown;
  /** The original object, until the value was stored and decoded. */
  readonly #source: { readonly value: unknown } | undefined;

  constructor(kind: string, data: unknown, source?: { readonly value: unknown }) {
    this.kind = kind;
    this.data = data;
    this.#source = source;
  }

  get source(): { readonly value: unknown } | undefined {
    return this.#source;
  }

  /** Also true for instances of another copy of the package. */
  static is(value: unknown): value is HostValue {
    return typeof value === "object" && value !== null && HOST_VALUE in value;
  }
}

/** @throws UnencodableError for functions, symbols, circular references, and objects without data of their own. */
export function encode(value: unknown): string {
  try {
    return JSON.stringify(toTagged(value, "", []));
  } catch (error) {
    throw asUnencodable("", error);
  }
}

export function decode(text: string): unknown {
  const parsed: unknown = JSON.parse(text);
  return text.includes(`"${TAG}"`) ? fromTagged(parsed) : parsed;
}

/** Wraps an error that was thrown while a value was read. */
export function asUnencodable(path: string, error: unknown): UnencodableError {
  try {
    if (error instanceof UnencodableError) return error;
    const isOverflow = error instanceof RangeError && /call stack|string length/i.test(error.message);
    if (isOverflow) return new UnencodableError(path, TOO_DEEP);
  } catch {
    // The thrown value may itself be unreadable, such as a revoked proxy.
  }
  return new UnreadableError(path, error);
}

/** Boxed primitives count as the primitive, as they do in JSON. */
export function unbox(value: object): unknown {
  return types.isBoxedPrimitive(value) ? value.valueOf() : value;
}

/** Returns the value itself if nothing in it needs a tag: the common case makes no copy. */
function toTagged(value: unknown, path: string, above: object[]): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0) ? value : tag("number", numberText(value));
    case "undefined":
      return tag("undefined");
    case "bigint":
      return tag("bigint", value.toString());
    case "object":
      return value === null ? null : objectToTagged(value, path, above);
    default:
      throw new UnencodableError(path, `is a ${typeof value}, which cannot be stored`);
  }
}

function objectToTagged(value: object, path: string, above: object[]): unknown {
  if (above.includes(value)) throw new UnencodableError(path, "refers back to an object that contains it");
  if (above.length >= MAX_DEPTH) throw new UnencodableError(path, TOO_DEEP);
  try {
    if (value instanceof Date) {
      return tag("date", Number.isNaN(value.getTime()) ? "invalid" : value.toISOString());
    }
    if (value instanceof Uint8Array) {
      return tag(Buffer.isBuffer(value) ? "buffer" : "bytes", Buffer.from(value).toString("base64"));
    }
    above.push(value);
    const tagged = containerToTagged(value, path, above);
    above.pop();
    return tagged;
  } catch (error) {
    throw asUnencodable(path, error);
  }
}

function containerToTagged(value: object, path: string, above: object[]): unknown {
  if (Array.isArray(value)) return arrayToTagged(value, path, above);
  if (HostValue.is(value)) return tag("host", [value.kind, toTagged(value.data, path, above)]);
  if (value instanceof Map) {
    return tag("map", arrayToTagged([...value.entries()], path, above));
  }
  if (value instanceof Set) return tag("set", arrayToTagged([...value], path, above));
  if (value instanceof Error) {
    return recordToTagged({ name: value.name, message: value.message }, path, above);
  }
  if ("toJSON" in value && typeof value.toJSON === "function") {
    const json: unknown = value.toJSON();
    return json === value ? recordToTagged(value, path, above) : toTagged(json, path, above);
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return recordToTagged(value, path, above);
  const primitive = unbox(value);
  if (primitive !== value) return toTagged(primitive, path, above);
  if (ArrayBuffer.isView(value) || Object.keys(value).length === 0) {
    throw new UnencodableError(
      path,
      `is a ${value.constructor?.name ?? "object"}, which cannot be stored; use plain data, or a Uint8Array for bytes`,
    );
  }
  return recordToTagged(value, path, above);
}

function arrayToTagged(items: readonly unknown[], path: string, above: object[]): unknown {
  let copy: unknown[] | undefined;
  let holes = 0;
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    const isHole = item === undefined && !(index in items);
    if (isHole && (holes += 1) > MAX_HOLES) {
      throw new UnencodableError(path, `is a sparse array with more than ${MAX_HOLES} holes`);
    }
    const tagged = isHole ? tag("hole") : toTagged(item, `${path}[${index}]`, above);
    if (tagged !== item && copy === undefined) copy = items.slice(0, index);
    copy?.push(tagged);
  }
  return copy ?? items;
}

function recordToTagged(record: object, path: string, above: object[]): unknown {
  let copy: Record<string, unknown> | undefined;
  const names = Object.keys(record);
  // Each field is read once: a getter may answer differently the second time.
  const read: unknown[] = [];
  for (const name of names) {
    const fieldPath = path === "" ? name : `${path}.${name}`;
    const item = readField(record, name, fieldPath);
    const tagged = toTagged(item, fieldPath, above);
    if (tagged !== item) copy ??= fromNames(names, read);
    if (copy === undefined) read.push(item);
    else defineField(copy, name, tagged);
  }
  const plain = copy ?? record;
  return Object.hasOwn(plain, TAG) ? tag("object", Object.entries(plain)) : plain;
}

/** A record of the first `values.length` names. */
function fromNames(names: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  values.forEach((value, index) => defineField(record, names[index] ?? "", value));
  return record;
}

/** A getter may throw; the error names it. */
function readField(record: object, name: string, path: string): unknown {
  try {
    return (record as Record<string, unknown>)[name];
  } catch (error) {
    throw asUnencodable(path, error);
  }
}

function fromTagged(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return fromTaggedItems(value);
  if (!Object.hasOwn(value, TAG)) {
    const record: Record<string, unknown> = {};
    for (const [name, item] of Object.entries(value)) defineField(record, name, fromTagged(item));
    return record;
  }
  const { $type, value: content } = value as { $type: string; value: unknown };
  switch ($type) {
    case "undefined":
      return undefined;
    case "number":
      return content === "-0" ? -0 : Number(content);
    case "bigint":
      return BigInt(content as string);
    case "date":
      return new Date(content as string);
    case "bytes":
      return new Uint8Array(Buffer.from(content as string, "base64"));
    case "buffer":
      return Buffer.from(content as string, "base64");
    case "map":
      return new Map(
        (content as [unknown, unknown][]).map(([key, item]) => [fromTagged(key), fromTagged(item)]),
      );
    case "set":
      return new Set((content as unknown[]).map(fromTagged));
    case "host": {
      const [kind, data] = content as [string, unknown];
      return new HostValue(kind, fromTagged(data));
    }
    case "object": {
      const record: Record<string, unknown> = {};
      for (const [name, item] of content as [string, unknown][]) defineField(record, name, fromTagged(item));
      return record;
    }
    default:
      throw new Error(`unknown tag "${$type}" in a stored value`);
  }
}

function fromTaggedItems(items: readonly unknown[]): unknown[] {
  const decoded: unknown[] = [];
  decoded.length = items.length;
  for (const [index, item] of items.entries()) if (!isHoleTag(item)) decoded[index] = fromTagged(item);
  return decoded;
}

function isHoleTag(item: unknown): boolean {
  return typeof item === "object" && item !== null && TAG in item && item[TAG] === "hole";
}

function tag(type: string, value?: unknown): Record<string, unknown> {
  return value === undefined ? { [TAG]: type } : { [TAG]: type, value };
}

function numberText(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

/** A plain assignment would set the prototype for a property called `__proto__`. */
export function defineField(record: Record<string, unknown>, name: string, value: unknown): void {
  if (name === "__proto__") {
    Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
  } else record[name] = value;
}

function reasonOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    return "unknown error";
  }
}
