/** Random values, and a normal form of each that knows nothing of canonical texts: equal forms are equal values. */

type Random = () => number;

export type Spec =
  | { readonly kind: "leaf"; readonly name: string }
  | { readonly kind: "hole" }
  | { readonly kind: "array" | "set"; readonly items: readonly Spec[] }
  | { readonly kind: "map"; readonly entries: readonly (readonly [Spec, Spec])[] }
  | { readonly kind: "record" | "error"; readonly fields: Readonly<Record<string, Spec>> };

/** Texts that look like parts of canonical texts, so that a missing quote or bracket shows. */
const TEXTS = [
  "",
  "a",
  "b",
  "1",
  "1n",
  "null",
  "undefined",
  "hole",
  "date(0)",
  '"',
  ",",
  "=>",
  "[]",
  "{}",
  "\ud800",
];

const STORABLE: Readonly<Record<string, () => unknown>> = {
  ...Object.fromEntries(TEXTS.map((text) => [`text ${text}`, () => text])),
  ...Object.fromEntries(
    [0, 1, -1, 1e21, Number.NaN, Infinity].map((number) => [`number ${number}`, () => number]),
  ),
  ...Object.fromEntries([0n, 1n, -1n].map((number) => [`bigint ${number}`, () => number])),
  null: () => null,
  undefined: () => undefined,
  true: () => true,
  false: () => false,
  "date 0": () => new Date(0),
  "date 1": () => new Date(1),
  "date invalid": () => new Date(Number.NaN),
  "bytes none": () => new Uint8Array([]),
  "bytes 1": () => new Uint8Array([1]),
};

const OTHERS: Readonly<Record<string, () => unknown>> = {
  "pattern a": () => /a/,
  "pattern b": () => /b/g,
  "wide 1": () => new Uint16Array([1]),
  "float 1": () => new Float32Array([1]),
};

const FIELDS = ["a", "b", "$type", "value", "__proto__", "1", "", '"', "a,b", "name", "message"];
const DEEPEST = 3;
const MOST_ITEMS = 3;

export function randomSpec(random: Random, range: "storable" | "any", depth = 0): Spec {
  const kinds = ["array", "record", "map", "set", ...(range === "any" ? ["error"] : [])] as const;
  if (depth >= DEEPEST || random() < 0.4) {
    const leaves = Object.keys(range === "any" ? { ...STORABLE, ...OTHERS } : STORABLE);
    return { kind: "leaf", name: pick(random, leaves) };
  }
  const inner = (): Spec => randomSpec(random, range, depth + 1);
  const many = <T>(make: () => T): T[] =>
    Array.from({ length: Math.floor(random() * (MOST_ITEMS + 1)) }, make);
  const kind = pick(random, kinds);
  switch (kind) {
    case "array":
      return { kind, items: many(() => (random() < 0.1 ? { kind: "hole" } : inner())) };
    case "set":
      return { kind, items: unique(many(inner), normalForm) };
    case "map":
      return {
        kind,
        entries: unique(
          many(() => [inner(), inner()] as const),
          ([key]) => normalForm(key),
        ),
      };
    case "error": {
      const texts = many(() => [pick(random, ["message", "name", "code"]), leafText(random)] as const);
      return { kind, fields: { message: leafText(random), ...Object.fromEntries(texts) } };
    }
    default: {
      const fields: Record<string, Spec> = {};
      for (const name of many(() => pick(random, FIELDS))) defineField(fields, name, inner());
      return { kind: "record", fields };
    }
  }
}

export function makeValue(spec: Spec): unknown {
  switch (spec.kind) {
    case "leaf":
      return (STORABLE[spec.name] ?? OTHERS[spec.name])?.();
    case "hole":
      return undefined;
    case "array": {
      const items: unknown[] = [];
      items.length = spec.items.length;
      for (const [index, item] of spec.items.entries())
        if (item.kind !== "hole") items[index] = makeValue(item);
      return items;
    }
    case "set":
      return new Set(spec.items.map(makeValue));
    case "map":
      return new Map(spec.entries.map(([key, item]) => [makeValue(key), makeValue(item)]));
    case "record":
    case "error": {
      const value = spec.kind === "error" ? new Error("") : {};
      for (const [name, item] of Object.entries(spec.fields)) defineField(value, name, makeValue(item));
      return value;
    }
  }
}

/** JSON of the description, in one order. A field that is undefined equals a missing one. */
export function normalForm(spec: Spec): string {
  switch (spec.kind) {
    case "leaf":
      return JSON.stringify(["leaf", spec.name]);
    case "hole":
      return '["hole"]';
    case "array":
      return JSON.stringify(["array", ...spec.items.map(normalForm)]);
    case "set":
      return JSON.stringify(["set", ...spec.items.map(normalForm).sort()]);
    case "map":
      return JSON.stringify([
        "map",
        ...spec.entries.map(([key, item]) => JSON.stringify([normalForm(key), normalForm(item)])).sort(),
      ]);
    case "record":
    case "error": {
      const fields = Object.entries(spec.fields).map(([name, item]) => [name, normalForm(item)] as const);
      const given = fields.filter(([, form]) => form !== '["leaf","undefined"]');
      const named = spec.kind === "error" && !("name" in spec.fields) ? [["name", "Error"] as const] : [];
      return JSON.stringify([
        spec.kind,
        ...[...given, ...named].map((field) => JSON.stringify(field)).sort(),
      ]);
    }
  }
}

/** The same value with its fields, entries and items in another order, where order does not count. */
export function shuffled(random: Random, spec: Spec): Spec {
  const mix = <T>(items: readonly T[]): T[] =>
    items
      .map((item) => ({ item, at: random() }))
      .sort((one, other) => one.at - other.at)
      .map(({ item }) => item);
  switch (spec.kind) {
    case "leaf":
    case "hole":
      return spec;
    case "array":
      return { ...spec, items: spec.items.map((item) => shuffled(random, item)) };
    case "set":
      return { ...spec, items: mix(spec.items.map((item) => shuffled(random, item))) };
    case "map":
      return {
        ...spec,
        entries: mix(
          spec.entries.map(([key, item]) => [shuffled(random, key), shuffled(random, item)] as const),
        ),
      };
    case "record":
    case "error": {
      const fields: Record<string, Spec> = {};
      for (const [name, item] of mix(Object.entries(spec.fields)))
        defineField(fields, name, shuffled(random, item));
      return { ...spec, fields };
    }
  }
}

function leafText(random: Random): Spec {
  return { kind: "leaf", name: `text ${pick(random, TEXTS)}` };
}

function pick<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T;
}

function unique<T>(items: readonly T[], formOf: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [formOf(item), item])).values()];
}

/** Also one called `__proto__`. */
function defineField(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}
