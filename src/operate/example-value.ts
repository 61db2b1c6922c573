/** A small value that fits a JSON Schema, for a command that can be pasted and then edited. */
import type { JsonSchema } from "../definition/json-schema.ts";

const DEEPEST = 8;
const LONGEST = 100;

/** A guess where the schema says more than this knows, such as a pattern. */
export function exampleOf(schema: JsonSchema, depth = 0): unknown {
  const { const: constant, default: usual, examples, enum: choices } = schema;
  for (const given of [constant, usual, first(examples), first(choices)])
    if (given !== undefined) return given;
  const branch = [schema["anyOf"], schema["oneOf"]].map(first).find(isSchema);
  if (branch !== undefined) return depth > DEEPEST ? null : exampleOf(branch, depth + 1);
  const type = Array.isArray(schema["type"]) ? first(schema["type"]) : schema["type"];
  switch (type) {
    case "string":
      return textFor(schema);
    case "number":
    case "integer":
      return numberFor(schema);
    case "boolean":
      return false;
    case "null":
      return null;
    case "array":
      return listFor(schema, depth);
    default:
      return objectFor(schema, depth);
  }
}

function objectFor(schema: JsonSchema, depth: number): object {
  const properties = isSchema(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  if (depth > DEEPEST) return {};
  const fields = required.map((name: unknown) => {
    const field = properties[String(name)];
    return [String(name), isSchema(field) ? exampleOf(field, depth + 1) : null] as const;
  });
  return Object.fromEntries(fields);
}

function listFor(schema: JsonSchema, depth: number): unknown[] {
  const { items, minItems } = schema;
  const length = depth > DEEPEST ? 0 : Math.min(numberOr(minItems, 0), LONGEST);
  return Array.from({ length }, () => (isSchema(items) ? exampleOf(items, depth + 1) : null));
}

function numberFor({ minimum, exclusiveMinimum, maximum }: JsonSchema): number {
  const above = typeof exclusiveMinimum === "number" ? Math.floor(exclusiveMinimum) + 1 : -Infinity;
  const least = Math.max(numberOr(minimum, -Infinity), above);
  return Math.max(Math.min(0, numberOr(maximum, 0)), least);
}

const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "2000-01-01T00:00:00Z",
  date: "2000-01-01",
  time: "00:00:00",
  email: "someone@example.com",
  uri: "https://example.com",
  uuid: "00000000-0000-4000-8000-000000000000",
};

function textFor({ format, minLength }: JsonSchema): string {
  const known = typeof format === "string" ? FORMATS[format] : undefined;
  return known ?? "…".repeat(Math.min(numberOr(minLength, 1), LONGEST));
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

function first(list: unknown): unknown {
  return Array.isArray(list) ? (list as readonly unknown[])[0] : undefined;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
