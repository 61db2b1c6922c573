/**
 * What a value may be, as far as typing it on a command line goes. A union is what its members take, together: whether
 * the whole fits is for the schema to say, in the words that a model gets too.
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
