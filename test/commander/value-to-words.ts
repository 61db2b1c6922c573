/** Converts any value to command line words, in one of the documented forms: the inverse of the tested parser. */
import type { JsonSchema } from "../../src/definition/json-schema.ts";
import type { Random } from "../random.ts";

/** The words for an input whose JSON Schema has properties. */
export function toWords(
  schema: JsonSchema,
  input: Readonly<Record<string, unknown>>,
  random: Random,
): string[] {
  const properties = schema["properties"] as Record<string, JsonSchema>;
  const required = (schema["required"] ?? []) as string[];
  const positionals: string[] = [];
  const options: string[] = [];
  let areInOrder = true;
  for (const [name, field] of Object.entries(properties)) {
    const value = input[name];
    const isPositional = required.includes(name) && isScalarSchema(field);
    if (value === undefined) {
      areInOrder &&= !isPositional;
      continue;
    }
    if (isPositional && areInOrder && random.next() < 0.6) positionals.push(textOf(field, value));
    else options.push(...fieldToWords(field, [name], value, random));
  }
  return [...options, "--", ...positionals];
}

function fieldToWords(schema: JsonSchema, path: readonly string[], value: unknown, random: Random): string[] {
  const flag = path.map(kebab).join(".");
  const fields = schema["properties"] as Record<string, JsonSchema> | undefined;
  if (schema["type"] === "boolean") return [value === true ? `--${flag}` : `--no-${flag}`];
  const isKnown = isRecord(value) && Object.keys(value).every((name) => fields?.[name] !== undefined);
  // Fields that the schema does not declare have no option.
  if (isKnown && fields !== undefined && Object.keys(value).length > 0 && random.next() < 0.5) {
    return Object.entries(value).flatMap(([name, item]) =>
      item === undefined ? [] : fieldToWords(fields[name] ?? {}, [...path, name], item, random),
    );
  }
  const items = schema["items"] as JsonSchema | undefined;
  if (isTexts(value) && value.length > 1 && items?.["type"] === "string" && random.next() < 0.5) {
    return value.flatMap((item) => [`--${flag}`, isJsonList(item) ? JSON.stringify([item]) : item]);
  }
  if (Array.isArray(value) && value.length > 1 && items?.["type"] === "number" && random.next() < 0.5) {
    return value.flatMap((item) => [`--${flag}`, String(item)]);
  }
  const values = schema["additionalProperties"] as JsonSchema | undefined;
  if (isRecord(value) && values?.["type"] === "number" && Object.keys(value).length > 0) {
    return Object.entries(value).flatMap(([key, item]) => [`--${flag}`, `${key}=${String(item)}`]);
  }
  return random.next() < 0.5 ? [`--${flag}=${textOf(schema, value)}`] : [`--${flag}`, textOf(schema, value)];
}

function textOf(schema: JsonSchema, value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  if (schema["type"] === "string" || schema["enum"] !== undefined || schema["const"] !== undefined)
    return value;
  // If a field accepts more than text, ambiguous text is quoted.
  return /^[\s"[{]|^(?:null|true|false)$|^[-+.\d]/.test(value.trim()) || value.trim() !== value
    ? JSON.stringify(value)
    : value;
}

function isScalarSchema(schema: JsonSchema): boolean {
  const types = [schema["type"]].flat();
  const members = (schema["anyOf"] ?? schema["oneOf"]) as JsonSchema[] | undefined;
  if (schema["enum"] !== undefined || schema["const"] !== undefined) return true;
  if (members !== undefined) return members.every(isScalarSchema);
  return types.every((type) => ["string", "number", "integer", "boolean", "null"].includes(String(type)));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isJsonList(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(text));
  } catch {
    // Not JSON.
    return false;
  }
}

function kebab(name: string): string {
  return name
    .replaceAll(/([a-z])([A-Z])/g, "$1-$2")
    .replaceAll("_", "-")
    .toLowerCase();
}
