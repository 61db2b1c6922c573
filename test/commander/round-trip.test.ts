/** Any value of any schema can be typed: from value to words and back, for Zod and for JSON Schema. */
import { afterAll, describe, expect, it } from "vitest";
import { createRuntime, defineTool, fromTool, type Tool } from "toolwright";
import { z } from "zod";
import { run } from "./program.ts";
import { Random } from "../random.ts";
import { toWords } from "./value-to-words.ts";

const TEXTS = [
  "plain",
  "two words",
  "",
  " ",
  "line\nbreak",
  'quo"te',
  "it's",
  "null",
  "true",
  "5",
  "-5",
  "--flag",
  "[1]",
  "[broken",
  '{"a":1}',
  '"quoted"',
  "a=b",
  "ünï→😀",
  "$HOME `x` \\",
  "@file",
];
const NUMBERS = [0, 1, -1, 2.5, -0.001, 1e21, 1e-7, 9_007_199_254_740_991];

const text = (random: Random): string => random.pick(TEXTS);
const number = (random: Random): number => random.pick(NUMBERS);
const bool = (random: Random): boolean => random.next() < 0.5;
const list =
  <T>(item: (random: Random) => T) =>
  (random: Random): T[] =>
    Array.from({ length: random.below(4) }, () => item(random));
const maybe =
  <T, U>(item: (random: Random) => T, other: U) =>
  (random: Random): T | U =>
    random.next() < 0.3 ? other : item(random);

type Make = (random: Random) => unknown;

interface Tree {
  name: string;
  children: Tree[];
}
const tree: z.ZodType<Tree, Tree> = z.lazy(() => z.object({ name: z.string(), children: z.array(tree) }));
const makeTree = (random: Random): Tree => ({
  name: text(random),
  children: random.next() < 0.5 ? [] : [makeTree(random)],
});

const DATES = ["2026-01-31T12:00:00Z", "1999-12-31T23:59:59.999Z"];

const SHAPES: Readonly<Record<string, readonly [z.ZodType, Make]>> = {
  string: [z.string(), text],
  "optional string": [z.string().optional(), maybe(text, undefined)],
  "nullable string": [z.string().nullable(), maybe(text, null)],
  "nullish string": [z.string().nullish(), maybe(maybe(text, null), undefined)],
  "string with a default": [z.string().default("x"), maybe(text, undefined)],
  email: [z.email(), () => "a@example.com"],
  url: [z.url(), () => "https://example.com/?a=b&c=%20#d"],
  uuid: [z.uuid(), () => "123e4567-e89b-42d3-a456-426614174000"],
  "date and time": [z.iso.datetime(), (random) => random.pick(DATES)],
  date: [z.iso.date(), () => "2026-01-31"],
  "coerced date": [z.coerce.date(), (random) => random.pick(DATES)],
  "template literal": [z.templateLiteral(["v", z.number()]), () => "v12"],
  number: [z.number(), number],
  integer: [z.int(), (random) => random.pick([0, -7, 12_345])],
  "optional number": [z.number().optional(), maybe(number, undefined)],
  "nullable number": [z.number().nullable(), maybe(number, null)],
  "coerced number": [z.coerce.number(), number],
  boolean: [z.boolean(), bool],
  "boolean that is true by default": [z.boolean().default(true), maybe(bool, undefined)],
  "nullable boolean": [z.boolean().nullable(), maybe(bool, null)],
  "yes or no as text": [z.stringbool(), (random) => random.pick(["yes", "no", "true"])],
  enum: [z.enum(["one", "two words", "3"]), (random) => random.pick(["one", "two words", "3"])],
  "nullable enum": [z.enum(["a", "b"]).nullable(), (random) => random.pick(["a", "b", null])],
  "enum of numbers": [z.literal([1, 2, 30]), (random) => random.pick([1, 2, 30])],
  literal: [z.literal("only"), () => "only"],
  null: [z.null(), () => null],
  "string or number": [z.union([z.string(), z.number()]), (random) => random.pick([text, number])(random)],
  "number or boolean": [z.union([z.number(), z.boolean()]), (random) => random.pick([number, bool])(random)],
  "string or list": [
    z.union([z.string(), z.array(z.string())]),
    (random) => random.pick([text, list(text)])(random),
  ],
  strings: [z.array(z.string()), list(text)],
  "strings with a default": [z.array(z.string()).default(["x"]), maybe(list(text), undefined)],
  numbers: [z.array(z.number()), list(number)],
  "nullable list": [z.array(z.string()).nullable(), maybe(list(text), null)],
  "lists of lists": [z.array(z.array(z.number())), list(list(number))],
  "list of objects": [
    z.array(z.object({ id: z.string(), n: z.number().optional() })),
    list((random) => ({ id: text(random), n: number(random) })),
  ],
  tuple: [z.tuple([z.string(), z.number()]), (random) => [text(random), number(random)]],
  "tuple with a rest": [
    z.tuple([z.boolean()], z.string()),
    (random) => [bool(random), ...list(text)(random)],
  ],
  object: [
    z.object({ street: z.string(), zipCode: z.string().optional(), floor: z.number().nullable() }),
    (random) => ({ street: text(random), floor: maybe(number, null)(random) }),
  ],
  "optional object": [
    z.object({ deepOne: z.object({ a: z.string(), on: z.boolean() }) }).optional(),
    maybe((random) => ({ deepOne: { a: text(random), on: bool(random) } }), undefined),
  ],
  "nullable object": [z.object({ a: z.string() }).nullable(), maybe((random) => ({ a: text(random) }), null)],
  "discriminated union": [
    z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("circle"), radius: z.number() }),
      z.object({ kind: z.literal("label"), text: z.string() }),
    ]),
    (random) =>
      random.next() < 0.5
        ? { kind: "circle", radius: number(random) }
        : { kind: "label", text: text(random) },
  ],
  intersection: [
    z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() })),
    (random) => ({ a: text(random), b: number(random) }),
  ],
  record: [z.record(z.string(), z.number()), (random) => ({ k: number(random), "a b": number(random) })],
  "record of texts": [
    z.record(z.string(), z.string()),
    (random) => ({ k: text(random), __proto: text(random) }),
  ],
  "record of known keys": [
    z.partialRecord(z.enum(["x", "y"]), z.number()),
    (random) => ({ x: number(random) }),
  ],
  "object with more": [
    z.looseObject({ a: z.string() }),
    (random) => ({ a: text(random), more: list(text)(random) }),
  ],
  recursion: [tree, makeTree],
  anything: [
    z.json(),
    (random) => random.pick<Make>([text, number, bool, list(text), () => null, () => ({ a: [1] })])(random),
  ],
  preprocessed: [z.preprocess((value) => value, z.number()), number],
};

const TRIES = 25;
const runtime = createRuntime({ store: ":memory:" });
afterAll(() => runtime[Symbol.asyncDispose]());

function recorder(make: (execute: (args: unknown) => unknown) => Tool): { tool: Tool; seen: unknown[] } {
  const seen: unknown[] = [];
  return { tool: make((args) => seen.push(args)), seen };
}

describe.each(Object.entries(SHAPES))("%s", (_name, [field, make]) => {
  // Two of each, with other fields around them, so that a parser could confuse neighbouring words.
  const schema = z.object({
    firstOne: z.string(),
    value: field,
    count: z.int().optional(),
    last_value: field,
  });
  const mine = recorder((execute) => defineTool({ name: "t", schema, execute: (args) => execute(args) }));
  const jsonSchema = mine.tool.inputSchema.jsonSchema;
  const foreign = recorder((invoke) =>
    fromTool({ name: "t", schema: jsonSchema, invoke }, { sideEffect: false }),
  );

  it.each([
    ["Zod", mine, (input: unknown) => schema.parse(input) as unknown],
    ["JSON Schema", foreign, (input: unknown) => JSON.parse(JSON.stringify(input)) as unknown],
  ] as const)("comes back from the command line, by %s", async (_how, { tool, seen }, expected) => {
    const random = new Random(TRIES);
    for (let index = 0; index < TRIES; index += 1) {
      const input = {
        firstOne: text(random),
        value: make(random),
        ...(random.next() < 0.5 ? { count: index } : {}),
        last_value: make(random),
      };
      const words = toWords(jsonSchema, withoutHoles(input), random);
      const ran = await run([tool], ["t", ...words], { runtime });
      const got = { words, code: ran.code, stderr: ran.stderr, args: seen.pop() };
      expect(got).toEqual({
        words,
        code: 0,
        stderr: "",
        args: withDefaults(expected(withoutHoles(input)), got.args),
      });
    }
  });
});

function withoutHoles(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}

/** Removes the defaults of the JSON Schema, which are applied too and not tested here. */
function withDefaults(expected: unknown, got: unknown): unknown {
  return { ...(got as object), ...(expected as object) };
}
