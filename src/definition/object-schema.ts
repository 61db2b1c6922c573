/**
 * Providers take an object at the top and no union there. A tool that takes something else is offered with one field,
 * `input`, that holds it.
 */
import type { JsonSchema } from "./json-schema.ts";

const FIELD = "input";
const REFUSED_AT_TOP = ["anyOf", "oneOf", "allOf", "not", "$ref", "enum", "const"];

export function toObjectSchema(schema: JsonSchema): JsonSchema & { readonly type: "object" } {
  if (!isWrapped(schema)) return { ...schema, type: "object" };
  const { $defs, ...rest } = schema;
  return {
    type: "object",
    properties: { [FIELD]: moveRoot(rest) },
    required: [FIELD],
    ...($defs === undefined ? {} : { $defs: moveRoot($defs) }),
  };
}

/** The arguments of the tool in what the model sent. */
export function fromObjectInput(schema: JsonSchema, input: unknown): unknown {
  if (!isWrapped(schema)) return input;
  return typeof input === "object" && input !== null && FIELD in input ? input[FIELD] : input;
}

/** What the model sent, with other arguments in it. */
export function withArguments(schema: JsonSchema, input: unknown, args: unknown): unknown {
  const isInside = isWrapped(schema) && typeof input === "object" && input !== null && FIELD in input;
  return isInside ? { ...input, [FIELD]: args } : args;
}

function isWrapped(schema: JsonSchema): boolean {
  return schema["type"] !== "object" || REFUSED_AT_TOP.some((name) => name in schema);
}

/** `#` meant the schema itself, which stands one level down now. */
function moveRoot(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(moveRoot);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) =>
      name === "$ref" && typeof item === "string" ? [name, movedRef(item)] : [name, moveRoot(item)],
    ),
  );
}

function movedRef(ref: string): string {
  if (ref === "#") return `#/properties/${FIELD}`;
  return ref.startsWith("#/") && !ref.startsWith("#/$defs/") ? `#/properties/${FIELD}${ref.slice(1)}` : ref;
}
