/**
 * The faithful text form of a value: JSON where JSON is enough, tagged objects (`{"$type":…}`) for what JSON
 * would lose. Decoding gives the same value back, so a replayed call returns what the live one did.
 * Never falls back to `[object Object]`: what cannot be kept is an error that names its place.
 */

const TAG = "$type";

/** A value that has no faithful text form, with the path of the part that has none. */
export class UnencodableError extends Error {
  readonly path: string;

  constructor(path: string, what: string) {
    super(`${path === "" ? "the value" : path} ${what}`);
    this.name = "UnencodableError";
    this.path = path;
  }
}

/** @throws UnencodableError for functions, symbols, circular references and objects without data of their own. */
export function encode(value: unknown): string {
  try {
    return JSON.stringify(toTagged(value, "", new Set()));
  } catch (error) {
    if (error instanceof RangeError) throw new UnencodableError("", "is nested too deeply to be stored");
    throw error;
  }
}

export function decode(text: string): unknown {
  const parsed: unknown = JSON.parse(text);
  return text.includes(`"${TAG}"`) ? fromTagged(parsed) : parsed;
}

/** Returns the value itself where nothing in it needs a tag, so that the common case copies nothing. */
function toTagged(value: unknown, path: string, above: Set<object>): unknown {
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

function objectToTagged(value: object, path: string, above: Set<object>): unknown {
  if (above.has(value)) throw new UnencodableError(path, "refers back to an object that contains it");
  if (value instanceof Date) {
    return tag("date", Number.isNaN(value.getTime()) ? "invalid" : value.toISOString());
  }
  if (value instanceof Uint8Array) return tag("bytes", Buffer.from(value).toString("base64"));
  above.add(value);
  const tagged = containerToTagged(value, path, above);
  above.delete(value);
  return tagged;
}

function containerToTagged(value: object, path: string, above: Set<object>): unknown {
  if (Array.isArray(value)) return arrayToTagged(value, path, above);
  if (value instanceof Map) {
    return tag("map", arrayToTagged([...value.entries()], path, above));
  }
  if (value instanceof Set) return tag("set", arrayToTagged([...value], path, above));
  if (value instanceof Error) {
    return { name: value.name, message: value.message };
  }
  if ("toJSON" in value && typeof value.toJSON === "function") {
    const json: unknown = value.toJSON();
    return json === value ? recordToTagged(value, path, above) : toTagged(json, path, above);
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === Object.prototype || prototype === null;
  if (!isPlain && (ArrayBuffer.isView(value) || Object.keys(value).length === 0)) {
    throw new UnencodableError(path, `is a ${value.constructor?.name ?? "object"} without data of its own`);
  }
  return recordToTagged(value, path, above);
}

function arrayToTagged(items: readonly unknown[], path: string, above: Set<object>): unknown {
  let copy: unknown[] | undefined;
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    const tagged = toTagged(item, `${path}[${index}]`, above);
    if (tagged !== item && copy === undefined) copy = items.slice(0, index);
    copy?.push(tagged);
  }
  return copy ?? items;
}

function recordToTagged(record: object, path: string, above: Set<object>): unknown {
  let copy: Record<string, unknown> | undefined;
  const entries = Object.entries(record);
  for (const [index, [name, item]] of entries.entries()) {
    const tagged = toTagged(item, path === "" ? name : `${path}.${name}`, above);
    if (tagged !== item && copy === undefined) copy = Object.fromEntries(entries.slice(0, index));
    if (copy !== undefined) define(copy, name, tagged);
  }
  const plain = copy ?? record;
  return Object.hasOwn(plain, TAG) ? tag("object", Object.entries(plain)) : plain;
}

function fromTagged(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(fromTagged);
  if (!Object.hasOwn(value, TAG)) {
    const record: Record<string, unknown> = {};
    for (const [name, item] of Object.entries(value)) define(record, name, fromTagged(item));
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
    case "map":
      return new Map(
        (content as [unknown, unknown][]).map(([key, item]) => [fromTagged(key), fromTagged(item)]),
      );
    case "set":
      return new Set((content as unknown[]).map(fromTagged));
    case "object": {
      const record: Record<string, unknown> = {};
      for (const [name, item] of content as [string, unknown][]) define(record, name, fromTagged(item));
      return record;
    }
    default:
      throw new Error(`unknown tag "${$type}" in a stored value`);
  }
}

function tag(type: string, value?: unknown): Record<string, unknown> {
  return value === undefined ? { [TAG]: type } : { [TAG]: type, value };
}

function numberText(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

/** A plain assignment would set the prototype for a property called `__proto__`. */
function define(record: Record<string, unknown>, name: string, value: unknown): void {
  if (name === "__proto__") {
    Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
  } else record[name] = value;
}
