/** Small checks that can be put together: what an option may be, and what is said when it is something else. */
import { encode, UnencodableError } from "../util/encode.ts";
import { BASE_CONTEXT_FIELDS } from "./context.ts";

/** Throws a `Problem` that names the field. */
export type Check = (value: unknown, field: string) => void;

export class Problem extends Error {
  readonly field: string;

  constructor(field: string, problem: string) {
    super(problem);
    this.field = field;
  }
}

function must(isGood: (value: unknown) => boolean, wanted: string): Check {
  return (value, field) => {
    if (!isGood(value)) throw new Problem(field, `must be ${wanted}, not ${describe(value)}.`);
  };
}

export const aText = must((value) => typeof value === "string", "a text");
export const aFullText = must(
  (value) => typeof value === "string" && value !== "",
  "a text that is not empty",
);
export const aBoolean = must((value) => typeof value === "boolean", "true or false");
export const aFunction = must((value) => typeof value === "function", "a function");
export const paths: Check = must(
  (value) => Array.isArray(value) && value.every((path) => typeof path === "string" && path !== ""),
  'a list of dotted paths, for example ["card.number"]',
);

export function aNumber(least: number): Check {
  return must((value) => typeof value === "number" && value >= least, `a number of at least ${least}`);
}

export function aNumberIn(least: number, most: number): Check {
  const wanted = most === Infinity ? "a number above 0" : `a number above 0 and at most ${most}`;
  return must((value) => typeof value === "number" && value >= least && value <= most, wanted);
}

export function anInteger(least: number): Check {
  const isGood = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= least;
  return must(isGood, `a whole number of at least ${least}`);
}

export function oneOf(...values: readonly string[]): Check {
  const list = values.map((value) => `"${value}"`).join(", ");
  return must((value) => values.some((one) => one === value), list);
}

export function either(wanted: string, ...checks: readonly Check[]): Check {
  return must((value) => checks.some((check) => passes(check, value)), wanted);
}

/** An object with these fields and no others; each may be left out. */
export function fields(shape: Readonly<Record<string, Check>>): Check {
  return (value, field) => {
    anObject(value, field);
    refuseUnknown(value as object, Object.keys(shape), field);
    for (const [name, check] of Object.entries(shape)) {
      const item = (value as Record<string, unknown>)[name];
      if (item !== undefined) check(item, `${field}.${name}`);
    }
  };
}

export const anObject: Check = must(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "an object",
);

/** Something that can be written down. */
export const storable: Check = (value, field) => {
  anObject(value, field);
  try {
    encode(value);
  } catch (error) {
    if (!(error instanceof UnencodableError)) throw error;
    throw new Problem(field, `must be something that can be stored: ${error.message}.`);
  }
};

export function refuseUnknown(
  options: object,
  known: readonly string[],
  inside = "",
  whole = "a tool",
): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const near = known.find((name) => areAlike(name, unknown));
  const owner = inside === "" ? whole : `"${inside}"`;
  const suggestion = near === undefined ? "" : ` Did you mean "${near}"?`;
  const field = inside === "" ? unknown : `${inside}.${unknown}`;
  throw new Problem(field, `is not an option of ${owner}.${suggestion}`);
}

function passes(check: Check, value: unknown): boolean {
  try {
    check(value, "");
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}

function areAlike(one: string, other: string): boolean {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  return a.startsWith(b) || b.startsWith(a) || distance(a, b) <= 2;
}

/** How many letters have to be added, removed or changed. */
export function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next[j] = Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
    }
    row = next;
  }
  return row[other.length] ?? 0;
}

export function describe(value: unknown): string {
  if (value === null || value === undefined || typeof value === "number" || typeof value === "boolean") {
    return String(value);
  }
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "function" ? "a function" : "an object";
}

/** Names that tools read in `ctx` already: a capability under such a name would never reach a tool. */
export const noContextFields: Check = (value, field) => {
  for (const name of Object.keys(value as object)) {
    if (!(name in BASE_CONTEXT_FIELDS)) continue;
    throw new Problem(
      `${field}.${name}`,
      `cannot be given: every tool's context has its own "${name}". Give the capability another name.`,
    );
  }
};
