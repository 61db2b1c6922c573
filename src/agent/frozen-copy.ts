/** A copy of what a caller passes in, who may change it afterwards. */
import { defineField } from "../util/encode.ts";

/** @throws for functions, symbols and circular references */
export function frozenCopy(value: unknown): unknown {
  if (typeof value === "function" || typeof value === "symbol") throw new Error(`there is a ${typeof value}`);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy));
  // Bytes, dates and URLs in the parts of a message keep their type.
  if (!isPlain(value)) return value instanceof URL ? new URL(value) : structuredClone(value);
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value))
    defineField(copy, name, frozenCopy((value as Readonly<Record<string, unknown>>)[name]));
  return Object.freeze(copy);
}

export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
