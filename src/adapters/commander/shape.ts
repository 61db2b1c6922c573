/**
 * The values that can be typed for a field. A union accepts what any of its members accepts; the schema validates the
 * whole value later.
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
