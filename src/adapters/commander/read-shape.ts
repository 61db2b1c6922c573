/** Derives a shape from a JSON Schema. Recursive references are followed once. */
import type { JsonSchema } from "../../definition/json-schema.ts";
import { ANYTHING, intersect, NOTHING, type Scalar, type Shape, unite } from "./shape.ts";

export function toShape(schema: JsonSchema): Shape {
  return shapeOf(schema, { root: schema, refs: new Set(), isShallow: false });
}

interface Reading {
  readonly root: JsonSchema;
  /** The references on the path to this schema; a repeated one is a recursion. */
  readonly refs: ReadonlySet<string>;
  /** Inside a recursion, values are available as JSON only. */
  readonly isShallow: boolean;
}

function shapeOf(schema: unknown, reading: Reading): Shape {
  if (typeof schema !== "object" || schema === null) return schema === false ? NOTHING : ANYTHING;
  const given = schema as JsonSchema;
  const parts = [
    ...ownShape(given, reading),
    ...["anyOf", "oneOf"].flatMap((name) => {
      const members = listOf(given[name]);
      return members.length === 0 ? [] : [unite(members.map((member) => shapeOf(member, reading)))];
    }),
    ...listOf(given["allOf"]).map((member) => shapeOf(member, reading)),
    ...(typeof given["$ref"] === "string" ? [referred(given["$ref"], reading)] : []),
  ].filter((part) => !part.any);
  const shape = "not" in given && parts.length === 0 ? NOTHING : intersect(parts);
  return {
    ...shape,
    description: textOf(given["description"]) ?? textOf(given["title"]) ?? shape.description,
    format: textOf(given["format"]) ?? shape.format,
    default: "default" in given ? given["default"] : shape.default,
    examples: Array.isArray(given["examples"]) ? given["examples"] : shape.examples,
  };
}

function ownShape(schema: JsonSchema, reading: Reading): Shape[] {
  if ("const" in schema) return [{ ...NOTHING, choices: scalars([schema["const"]]) }];
  if (Array.isArray(schema["enum"])) return [{ ...NOTHING, choices: scalars(schema["enum"]) }];
  const types = typeof schema["type"] === "string" ? [schema["type"]] : listOf(schema["type"]);
  if (types.length === 0) return "properties" in schema ? [objectShape(schema, reading)] : [];
  return [unite(types.map((type) => typeShape(type, schema, reading)))];
}

function typeShape(type: unknown, schema: JsonSchema, reading: Reading): Shape {
  switch (type) {
    case "string":
      return { ...NOTHING, text: true };
    case "number":
    case "integer":
      return { ...NOTHING, number: type };
    case "boolean":
      return { ...NOTHING, boolean: true };
    case "null":
      return { ...NOTHING, null: true };
    case "array":
      return listShape(schema, reading);
    case "object":
      return objectShape(schema, reading);
    default:
      return ANYTHING;
  }
}

function listShape(schema: JsonSchema, reading: Reading): Shape {
  if (reading.isShallow) return { ...NOTHING, list: { first: [], items: ANYTHING } };
  // Before draft 2020-12, a tuple was a list in `items`.
  const first = listOf(schema["prefixItems"] ?? (Array.isArray(schema["items"]) ? schema["items"] : []));
  const rest = Array.isArray(schema["items"]) ? schema["additionalItems"] : schema["items"];
  return {
    ...NOTHING,
    list: { first: first.map((item) => shapeOf(item, reading)), items: shapeOf(rest, reading) },
  };
}

function objectShape(schema: JsonSchema, reading: Reading): Shape {
  if (reading.isShallow) return { ...NOTHING, values: ANYTHING };
  const required = listOf(schema["required"]);
  const properties = Object.entries((schema["properties"] ?? {}) as Record<string, unknown>);
  const fields = properties.map(
    ([name, field]) =>
      [name, { shape: shapeOf(field, reading), isRequired: required.includes(name) }] as const,
  );
  const extra = schema["additionalProperties"];
  const values =
    extra === false || (extra === undefined && fields.length > 0) ? undefined : shapeOf(extra, reading);
  return {
    ...NOTHING,
    fields: fields.length === 0 && values !== undefined ? undefined : new Map(fields),
    values,
  };
}

function referred(reference: string, reading: Reading): Shape {
  let target: unknown = reading.root;
  for (const part of reference.replace(/^#\/?/, "").split("/")) {
    if (part === "") continue;
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    target = typeof target === "object" && target !== null ? (target as JsonSchema)[name] : undefined;
  }
  // The validation of the tool reports a broken reference.
  if (reading.isShallow || target === undefined) return ANYTHING;
  const isRecursive = reading.refs.has(reference) || target === reading.root;
  return shapeOf(target, {
    ...reading,
    refs: new Set([...reading.refs, reference]),
    isShallow: isRecursive,
  });
}

function scalars(values: readonly unknown[]): Scalar[] {
  return values.filter(
    (value): value is Scalar => value === null || ["string", "number", "boolean"].includes(typeof value),
  );
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
