/**
 * The values that can be typed for a field, and how the members of a union or an intersection combine. A union accepts
 * what any of its members accepts; the schema validates the whole value later.
 */

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
  /** The shapes of the first items of a tuple, and of the other items. */
  readonly list: { readonly first: readonly Shape[]; readonly items: Shape } | undefined;
  readonly fields: ReadonlyMap<string, Field> | undefined;
  /** The shape of the values of an object with arbitrary keys. */
  readonly values: Shape | undefined;
  /** Unconstrained. */
  readonly any: boolean;
  readonly description: string | undefined;
  readonly format: string | undefined;
  readonly default: unknown;
  readonly examples: readonly unknown[];
}

export const NOTHING: Shape = {
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

export const ANYTHING: Shape = { ...NOTHING, any: true };

export function isObjectShape(shape: Shape): boolean {
  return shape.fields !== undefined || shape.values !== undefined;
}

/** Whether one command line word can express every value. */
export function isScalar(shape: Shape): boolean {
  return (
    !shape.any &&
    shape.list === undefined &&
    !isObjectShape(shape) &&
    (shape.text || shape.number !== undefined || shape.boolean || shape.null || shape.choices.length > 0)
  );
}

/** Whether the value is true or false, or possibly `null`. */
export function isFlag(shape: Shape): boolean {
  return (
    shape.boolean &&
    !shape.text &&
    shape.number === undefined &&
    shape.choices.length === 0 &&
    isScalar(shape)
  );
}

/** Accepts what any of the shapes accepts. */
export function unite(shapes: readonly Shape[]): Shape {
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
    const existing = fields.get(name);
    const isRequired = field.isRequired || existing?.isRequired === true;
    fields.set(name, {
      shape: existing === undefined ? field.shape : both(existing.shape, field.shape),
      isRequired,
    });
  }
  return fields;
}

/** A field that one member of a union lacks is optional. */
function optionalUnlessShared(fields: Shape["fields"], members: readonly Shape[]): Shape["fields"] {
  if (fields === undefined) return undefined;
  return new Map(
    [...fields].map(([name, { shape }]) => [
      name,
      { shape, isRequired: members.every((member) => member.fields?.get(name)?.isRequired === true) },
    ]),
  );
}

/** Objects get the fields of all shapes. Everything else comes from the first shape. */
export function intersect(shapes: readonly Shape[]): Shape {
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
