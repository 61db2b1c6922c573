/** Composable checks of option values. Each error says what was expected and what was given. */
import { encode, UnencodableError } from "../util/encode.ts";
import { isForeignAddress } from "../store/open-store.ts";
import { isStorableText, isTooLongForId, LONGEST_ID_BYTES } from "../util/storable-text.ts";
import { suggestion } from "./nearest-name.ts";

/** Throws a `Problem` that names the field. */
export type Check = (value: unknown, field: string) => void;

export class Problem extends Error {
  readonly field: string;
  /** `true` if the message is a whole sentence that names the field itself. */
  readonly isWhole: boolean;

  constructor(field: string, problem: string, isWhole = field === "") {
    super(problem);
    this.field = field;
    this.isWhole = isWhole;
  }

  get sentence(): string {
    return this.isWhole ? this.message : `${this.field} ${this.message}`;
  }
}

export function must(isGood: (value: unknown) => boolean, wanted: string): Check {
  return (value, field) => {
    if (!isGood(value)) throw new Problem(field, `must be ${wanted}, not ${describe(value)}.`);
  };
}

export const aText = must((value) => typeof value === "string", "a string");
export const aFullText = must((value) => typeof value === "string" && value !== "", "a non-empty string");
export const aBoolean = must((value) => typeof value === "boolean", "true or false");
export const aFunction = must((value) => typeof value === "function", "a function");
export const paths: Check = must(
  (value) => Array.isArray(value) && value.every((path) => typeof path === "string" && path !== ""),
  'an array of dotted paths, for example ["card.number"]',
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
  return must(isGood, `an integer of at least ${least}`);
}

export function oneOf(...values: readonly (string | boolean)[]): Check {
  const list = values.map((value) => (typeof value === "string" ? `"${value}"` : String(value)));
  const wanted = list.length < 2 ? list.join("") : `${list.slice(0, -1).join(", ")} or ${list.at(-1)}`;
  return must((value) => values.some((one) => one === value), wanted);
}

export function either(wanted: string, ...checks: readonly Check[]): Check {
  return must((value) => checks.some((check) => passes(check, value)), wanted);
}

/** An object with these optional fields and no others. */
export function fields(shape: Readonly<Record<string, Check>>): Check {
  return (value, field) => {
    anObject(value, field);
    refuseUnknown(value as object, Object.keys(shape), field);
    refuseInherited(value as object, Object.keys(shape), field);
    for (const [name, check] of Object.entries(shape)) {
      const item = (value as Record<string, unknown>)[name];
      if (item !== undefined) check(item, `${field}.${name}`);
    }
  };
}

/** The same, and these must be there. `undefined` is not a value. */
export function fieldsWith(required: readonly string[], shape: Readonly<Record<string, Check>>): Check {
  return (value, field) => {
    fields(shape)(value, field);
    const missing = required.find((name) => (value as Record<string, unknown>)[name] === undefined);
    if (missing !== undefined) throw new Problem(`${field}.${missing}`, "is missing.");
  };
}

export const anObject: Check = must(isOptionsObject, "an object");

/** An object of a class, such as a client, which may have no fields. */
export const anInstance: Check = must(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value) && !isPromise(value),
  "an object",
);

/** An option of a prototype would pass the check and be lost where the options are copied. */
export function refuseInherited(given: object, known: readonly string[], inside = ""): void {
  const prototype: unknown = Object.getPrototypeOf(given);
  if (prototype === Object.prototype || prototype === null) return;
  const name = known.find(
    (one) => !Object.hasOwn(given, one) && (given as Record<string, unknown>)[one] !== undefined,
  );
  if (name === undefined) return;
  const field = inside === "" ? name : `${inside}.${name}`;
  throw new Problem(field, "is inherited. Pass a plain object, with each option as a separate field.");
}

/** An object that can be stored. */
export const storable: Check = (value, field) => {
  anObject(value, field);
  aStorableValue(value, field);
};

export const aStorableValue: Check = (value, field) => {
  try {
    encode(value);
  } catch (error) {
    if (!(error instanceof UnencodableError)) throw error;
    throw new Problem(field, `must be storable: ${error.message}.`);
  }
};

export function refuseUnknown(options: object, known: readonly string[], inside = ""): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const of = inside === "" ? "" : ` of "${inside}"`;
  const rest = suggestion(unknown, known, "Known options");
  const field = inside === "" ? unknown : `${inside}.${unknown}`;
  throw new Problem(field, `unknown option ${JSON.stringify(unknown)}${of}.${rest}`, true);
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

/** In an address: errors must not show it. A password may contain an @. */
const PASSWORD = /([a-z][a-z0-9+.-]*:\/\/[^:@/\s]*:).*@/i;

export function describe(value: unknown): string {
  if (value === null || value === undefined || typeof value === "number" || typeof value === "boolean") {
    return String(value);
  }
  if (typeof value === "string") return JSON.stringify(value.replace(PASSWORD, "$1***@"));
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "symbol") return "a symbol";
  if (Array.isArray(value)) return "an array";
  if (isPromise(value)) return "a promise (await it first)";
  if (typeof value === "function") return "a function";
  if (value instanceof Map) return "a Map";
  if (value instanceof Set) return "a Set";
  if (isOptionsObject(value)) return "an object";
  return `an instance of ${(value.constructor as { readonly name?: string } | undefined)?.name ?? "a class"}`;
}

/**
 * Whether the fields of the value can be options. A promise, a `Map` or a `Date` has no fields, so each option in it would
 * silently be missing.
 */
export function isOptionsObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null || isPromise(value) || Symbol.iterator in value)
    return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  return isPlain || Object.keys(value).length > 0;
}

export function isPromise(value: unknown): boolean {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

export const aSignal: Check = must((value) => value instanceof AbortSignal, "an AbortSignal");

export const aList: Check = must((value) => Array.isArray(value), "an array");

export function listOf(check: Check): Check {
  return (value, field) => {
    aList(value, field);
    // Spread, so that holes are checked too.
    for (const [index, item] of [...(value as unknown[])].entries()) check(item, `${field}[${index}]`);
  };
}

export function valuesOf(check: Check): Check {
  return (value, field) => {
    anObject(value, field);
    for (const [name, item] of Object.entries(value as object)) check(item, `${field}.${name}`);
  };
}

export const anything: Check = () => undefined;

/** An object with these methods. */
export function withMethods(wanted: string, ...methods: readonly string[]): Check {
  return must(
    (value) =>
      typeof value === "object" &&
      value !== null &&
      methods.every((name) => typeof (value as Record<string, unknown>)[name] === "function"),
    wanted,
  );
}

export const aRuntime: Check = withMethods("a runtime from createRuntime", "call", "run");

export const aToolSource: Check = must(
  isToolSource,
  "an array of tools, an object of tools by name, or a registry",
);

/** A registry is an object with its own fields. */
export function isToolSource(value: unknown): value is object {
  return Array.isArray(value) || isOptionsObject(value);
}

/** Part of a query. PostgreSQL refuses some texts, and both stores must answer alike. */
export const aStorableText: Check = (value, field) => {
  aText(value, field);
  if (!isStorableText(value as string))
    throw new Problem(field, "must not contain U+0000 or a lone surrogate.");
};

/** An id that every store accepts. */
export const anId: Check = (value, field) => {
  aFullText(value, field);
  aStorableText(value, field);
  if (isTooLongForId(value as string))
    throw new Problem(field, `must be at most ${LONGEST_ID_BYTES} bytes long.`);
};

/** `.` and `..` are not ids: in a URL or a path they mean a folder. */
export const aRunId: Check = (value, field) => {
  anId(value, field);
  if (value === "." || value === "..")
    throw new Problem(field, `must not be "${value}": in a URL or a path it means a folder.`);
};

const MOST_LABELS = 20;
const LONGEST_LABEL = 200;

/** Short texts by name, such as `{ customer: "acme" }`. */
export const someLabels: Check = (value, field) => {
  if (!isOptionsObject(value))
    throw new Problem(field, `must be an object such as { customer: "acme" }, not ${describe(value)}.`);
  const entries = Object.entries(value);
  if (entries.length > MOST_LABELS) throw new Problem(field, `must have at most ${MOST_LABELS} entries.`);
  for (const [name, text] of entries) {
    if (name === "" || name.includes("=") || name.length > LONGEST_LABEL || !isStorableText(name))
      throw new Problem(
        field,
        `must have names of 1 to ${LONGEST_LABEL} characters without "=", not ${JSON.stringify(name)}.`,
      );
    if (typeof text !== "string" || text.length > LONGEST_LABEL || !isStorableText(text))
      throw new Problem(
        `${field}.${name}`,
        `must be a string of at most ${LONGEST_LABEL} characters, not ${describe(text)}.`,
      );
  }
};

const anAddress: Check = (value, field) => {
  aFullText(value, field);
  if (isForeignAddress(String(value))) {
    throw new Problem(field, "must be a path or a postgres:// address.");
  }
};

export const aStore: Check = either(
  "a path, a postgres:// address or an open store",
  anAddress,
  withMethods("an open store", "transaction", "read", "close"),
);

export const aLanguageModel: Check = either(
  "an AI SDK language model, its name, or an object with invoke()",
  aFullText,
  withMethods("a model", "doGenerate"),
  withMethods("a model", "invoke"),
);

export const anEmbeddingModel: Check = either("an AI SDK embedding model", (value, field) => {
  withMethods("a model", "doEmbed")(value, field);
  aFullText((value as Record<string, unknown>)["modelId"], field);
});

export const anIsolation: Check = oneOf("require", "auto", "off");
