/**
 * What a value may be, as far as typing it on a command line goes. A union is what its members take, together: whether
 * the whole fits is for the schema to say, in the words that a model gets too.
 */
import type { JsonSchema } from "../../definition/json-schema.ts";

export type Scalar = string | number | boolean | null;

export interface Field {
  readonly shape: Shape;
  readonly isRequired: boolean;
}

export interface Shape {
  readonly text: boolean;
  readonly number: "number" | "integer" | undefined;
  readonly boolean: boolean;
  readonly null: boolean;
  /** The values of enums and literals. */
  readonly choices: readonly Scalar[];
  /** The shapes of the first items, and of the others. */
  readonly list: { readonly first: readonly Shape[]; readonly items: Shape } | undefined;
  readonly fields: ReadonlyMap<string, Field> | undefined;
  /** The shape of the values of an object whose keys are free. */
  readonly values: Shape | undefined;
  /** Nothing is said about it. */
  readonly any: boolean;
  readonly description: string | undefined;
  readonly format: string | undefined;
  readonly default: unknown;
  readonly examples: readonly unknown[];
}

const NOTHING: Shape = {
  text: false,
  number: undefined,
  boolean: false,
  null: false,
  choices: [],
  list: undefined,
  fields: undefined,
  values: undefined,
  any: false,
  description: undefined,
  format: undefined,
  default: undefined,
  examples: [],
};

const ANYTHING: Shape = { ...NOTHING, any: true };

export function toShape(schema: JsonSchema): Shape {
  return shapeOf(schema, { root: schema, refs: new Set(), isShallow: false });
}

export function isObjectShape(shape: Shape): boolean {
  return shape.fields !== undefined || shape.values !== undefined;
}

/** One word on a command line is enough to say it. */
export function isScalar(shape: Shape): boolean {
  return (
    !shape.any &&
    shape.list === undefined &&
    !isObjectShape(shape) &&
    (shape.text || shape.number !== undefined || shape.boolean || shape.null || shape.choices.length > 0)
  );
}

/** True or false, and nothing else but perhaps `null`. */
export function isFlag(shape: Shape): boolean {
  return (
    shape.boolean &&
    !shape.text &&
    shape.number === undefined &&
    shape.choices.length === 0 &&
    isScalar(shape)
  );
}

interface Reading {
  readonly root: JsonSchema;
  /** The references that lead here: one that comes again is a recursion. */
  readonly refs: ReadonlySet<string>;
  /** Inside a recursion: JSON is the only way to say what is in it. */
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
  // Before 2020 a tuple was a list of items.
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
  // A reference that leads nowhere is the schema's to complain about.
  if (reading.isShallow || target === undefined) return ANYTHING;
  const isAgain = reading.refs.has(reference) || target === reading.root;
  return shapeOf(target, {
    ...reading,
    refs: new Set([...reading.refs, reference]),
    isShallow: isAgain,
  });
}

/** What any of them takes. */
function unite(shapes: readonly Shape[]): Shape {
  if (shapes.some((shape) => shape.any)) return ANYTHING;
  const [first = NOTHING, ...rest] = shapes;
  const united = rest.reduce(uniteTwo, first);
  const objects = shapes.filter(isObjectShape);
  return {
    ...united,
    fields: objects.length < 2 ? united.fields : optionalUnlessShared(united.fields, objects),
  };
}

function uniteTwo(one: Shape, other: Shape): Shape {
  return {
    text: one.text || other.text,
    number: one.number === "number" || other.number === "number" ? "number" : (one.number ?? other.number),
    boolean: one.boolean || other.boolean,
    null: one.null || other.null,
    choices: [...new Set([...one.choices, ...other.choices])],
    list: uniteLists(one.list, other.list),
    fields: uniteFields(one.fields, other.fields, (a, b) => unite([a, b])),
    values: uniteMaybe(one.values, other.values),
    any: one.any || other.any,
    description: one.description ?? other.description,
    format: one.format ?? other.format,
    default: one.default ?? other.default,
    examples: [...one.examples, ...other.examples],
  };
}

function uniteLists(one: Shape["list"], other: Shape["list"]): Shape["list"] {
  if (one === undefined || other === undefined) return one ?? other;
  return { first: [], items: unite([...one.first, ...other.first, one.items, other.items]) };
}

function uniteMaybe(one: Shape | undefined, other: Shape | undefined): Shape | undefined {
  return one === undefined || other === undefined ? (one ?? other) : unite([one, other]);
}

function uniteFields(
  one: Shape["fields"],
  other: Shape["fields"],
  both: (a: Shape, b: Shape) => Shape,
): Shape["fields"] {
  if (one === undefined || other === undefined) return one ?? other;
  const fields = new Map(one);
  for (const [name, field] of other) {
    const known = fields.get(name);
    const isRequired = field.isRequired || known?.isRequired === true;
    fields.set(name, {
      shape: known === undefined ? field.shape : both(known.shape, field.shape),
      isRequired,
    });
  }
  return fields;
}

/** A field that one member lacks may be left out. */
function optionalUnlessShared(fields: Shape["fields"], members: readonly Shape[]): Shape["fields"] {
  if (fields === undefined) return undefined;
  return new Map(
    [...fields].map(([name, { shape }]) => [
      name,
      { shape, isRequired: members.every((member) => member.fields?.get(name)?.isRequired === true) },
    ]),
  );
}

/** What all of them take, for objects: the fields of all. Of the rest the first one speaks. */
function intersect(shapes: readonly Shape[]): Shape {
  const [first, ...rest] = shapes;
  if (first === undefined) return ANYTHING;
  return rest.reduce(
    (one, other) => ({
      ...one,
      fields: uniteFields(one.fields, other.fields, (a) => a),
      values: uniteMaybe(one.values, other.values),
      description: one.description ?? other.description,
    }),
    first,
  );
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
