/**
 * One text per value, whatever the order of its keys: the base of every key and hash. A `Date` differs from
 * its ISO string, `1n` from `1`, `undefined` from `null`; a property that is `undefined` equals a missing one,
 * as it does in JSON and in Zod. Never used for storage: it cannot be decoded.
 */
import { UnencodableError } from "./encode.ts";

export function canonicalText(value: unknown): string {
  try {
    return write(value, new Set());
  } catch (error) {
    if (error instanceof RangeError) throw new UnencodableError("", "is nested too deeply");
    throw error;
  }
}

function write(value: unknown, above: Set<object>): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
      return Object.is(value, -0) ? "0" : String(value);
    case "boolean":
      return value ? "true" : "false";
    case "undefined":
      return "undefined";
    case "bigint":
      return `${value}n`;
    case "object":
      return value === null ? "null" : writeObject(value, above);
    default:
      throw new UnencodableError("", `holds a ${typeof value}, which cannot be an argument`);
  }
}

function writeObject(value: object, above: Set<object>): string {
  if (value instanceof Date) return `date(${value.getTime()})`;
  if (value instanceof Uint8Array) return `bytes(${Buffer.from(value).toString("base64")})`;
  if (above.has(value)) throw new UnencodableError("", "holds a circular reference");
  above.add(value);
  const text = writeContainer(value, above);
  above.delete(value);
  return text;
}

function writeContainer(value: object, above: Set<object>): string {
  if (Array.isArray(value)) return `[${value.map((item) => write(item, above)).join(",")}]`;
  if (value instanceof Map) {
    const entries = [...value].map(([key, item]) => `${write(key, above)}=>${write(item, above)}`);
    return `map(${entries.sort().join(",")})`;
  }
  if (value instanceof Set)
    return `set(${[...value]
      .map((item) => write(item, above))
      .sort()
      .join(",")})`;
  if ("toJSON" in value && typeof value.toJSON === "function") {
    const json: unknown = value.toJSON();
    if (json !== value) return write(json, above);
  }
  let text = "";
  const record = value as Record<string, unknown>;
  for (const name of Object.keys(record).sort()) {
    const item = record[name];
    if (item !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${write(item, above)}`;
  }
  return `{${text}}`;
}
