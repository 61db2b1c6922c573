/** A copy of what a caller passes in, who may change it afterwards. */
import { defineField, encode } from "../util/encode.ts";

/** @throws for values that cannot be stored, or sent to a model as JSON */
export function frozenCopy(value: unknown): unknown {
  if (REFUSED.has(typeof value)) throw new Error(`there is a ${typeof value}`);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy));
  if (!isPlain(value)) return copyOfOther(value);
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value))
    defineField(copy, name, frozenCopy((value as Readonly<Record<string, unknown>>)[name]));
  return Object.freeze(copy);
}

const REFUSED: ReadonlySet<string> = new Set(["function", "symbol", "bigint"]);

/** Bytes, dates and URLs in the parts of a message keep their type. */
function copyOfOther(value: object): unknown {
  if (value instanceof URL) return new URL(value);
  const copy: unknown = structuredClone(value);
  if (!(copy instanceof Uint8Array)) encode(copy);
  return copy;
}

export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
