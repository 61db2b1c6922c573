/**
 * The JSON form in which values are shown: to models, on the command line, in MCP, agent states, approvals and previews.
 * It represents values that plain JSON would lose, without tags. Unlike the stored form (`encode.ts`), it is never decoded.
 * docs/internals/formats.md has the table.
 */
import { types } from "node:util";

export type JsonValue = null | string | number | boolean | JsonValue[] | { [key: string]: JsonValue };

/** @returns `undefined` only for `undefined`: the caller decides how to show that */
export function toShownValue(value: unknown): JsonValue | undefined {
  return shown(value, new Set());
}

/** One line of JSON, or indented; `null` for `undefined`. */
export function toShownJson(value: unknown, indent = 0): string {
  return JSON.stringify(toShownValue(value) ?? null, null, indent);
}

/** A string as it is, everything else as JSON. */
export function toShownText(value: unknown): string {
  return typeof value === "string" ? value : toShownJson(value);
}

// Deeper than any stored value (MAX_DEPTH in encode.ts).
const DEEPEST = 1_100;

function shown(value: unknown, above: Set<object>): JsonValue | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "bigint":
      return value.toString();
    case "object":
      return value === null ? null : shownObject(value, above);
    case "undefined":
      return undefined;
    default:
      return `[${typeof value}]`;
  }
}

function shownObject(value: object, above: Set<object>): JsonValue | undefined {
  if (above.has(value)) return "[circular]";
  if (above.size >= DEEPEST) return "[nested too deeply]";
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (ArrayBuffer.isView(value))
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
  above.add(value);
  const container = shownContainer(value, above);
  above.delete(value);
  return container;
}

function shownContainer(value: object, above: Set<object>): JsonValue | undefined {
  if (Array.isArray(value)) return list(value, above);
  if (value instanceof Set) return list([...value], above);
  if (value instanceof Map) {
    const entries = [...value];
    // Only strings can name fields: 1 and "1" are two keys of a map.
    return entries.every(([key]) => typeof key === "string")
      ? record(entries as [string, unknown][], above)
      : list(entries, above);
  }
  if ("toJSON" in value && typeof value.toJSON === "function") {
    const json: unknown = value.toJSON();
    if (json !== value) return shown(json, above);
  }
  if (types.isBoxedPrimitive(value)) return shown(value.valueOf(), above);
  // The fields that are stored of an error. The stack is left out.
  if (value instanceof Error) return { name: value.name, message: value.message };
  return record(Object.entries(value), above);
}

/** Holes and `undefined` become `null`, so that the other items keep their index. */
function list(items: readonly unknown[], above: Set<object>): JsonValue[] {
  return Array.from(items, (item) => shown(item, above) ?? null);
}

/** A field without a value is left out. */
function record(fields: readonly [string, unknown][], above: Set<object>): JsonValue {
  return Object.fromEntries(
    fields.flatMap(([name, item]) => {
      const value = shown(item, above);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
