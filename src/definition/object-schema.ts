/**
 * Providers require an object at the top of a schema, without a union, and restrict its field names. A tool with any other
 * schema is offered with one field, `input`, that contains the arguments.
 */
import type { JsonSchema } from "./json-schema.ts";

export interface ObjectSchema extends JsonSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
}

const FIELD = "input";
/** Anthropic's rule. It applies to the top level only. */
const FIELD_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
const REFUSED_AT_TOP = ["anyOf", "oneOf", "allOf", "not", "$ref", "enum", "const"];

export function toObjectSchema(schema: JsonSchema): ObjectSchema {
  if (!isWrapped(schema)) return { properties: {}, required: [], ...schema, type: "object" };
  const { $defs, ...rest } = schema;
  return {
    type: "object",
    properties: { [FIELD]: moveRoot(rest) },
    required: [FIELD],
    ...($defs === undefined ? {} : { $defs: moveRoot($defs) }),
  };
}

/** The tool's arguments in the input that the model sent. */
export function fromObjectInput(schema: JsonSchema, input: unknown): unknown {
  if (!isWrapped(schema)) return input;
  return typeof input === "object" && input !== null && FIELD in input ? input[FIELD] : input;
}

/** The input that the model sent, with different arguments. */
export function withArguments(schema: JsonSchema, input: unknown, args: unknown): unknown {
  const isInside = isWrapped(schema) && typeof input === "object" && input !== null && FIELD in input;
  return isInside ? { ...input, [FIELD]: args } : args;
}

export function isWrapped(schema: JsonSchema): boolean {
  return (
    schema["type"] !== "object" ||
    REFUSED_AT_TOP.some((name) => name in schema) ||
    Object.keys(schema["properties"] ?? {}).some((name) => !FIELD_NAME.test(name))
  );
}

/** `#` refers to the original schema, which is now one level down. */
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
