/** An output as JSON that other programs read: dates as their text, maps as objects, sets as lists. */

export function toPlainJson(value: unknown): unknown {
  if (value === undefined || typeof value === "function" || typeof value === "symbol") return null;
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (value instanceof Map) return fromEntries([...value].map(([key, item]) => [String(key), item]));
  if (value instanceof Set) return [...value].map(toPlainJson);
  if (Array.isArray(value)) return value.map(toPlainJson);
  return fromEntries(Object.entries(value).filter(([, item]) => item !== undefined));
}

function fromEntries(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries(entries.map(([name, item]) => [name, toPlainJson(item)]));
}
