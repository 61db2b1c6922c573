/** One text per value. test/formats/golden.test.ts pins it. */
import { describe, expect, it, test } from "vitest";
import { canonicalText, writeCanonical } from "./canonical.ts";
import { UnencodableError, UnreadableError } from "./encode.ts";
import { createRandom } from "../../test/random.ts";
import { makeValue, normalForm, randomSpec, shuffled } from "../../test/formats/random-values.ts";

test("different values have different texts, and equal values have one", () => {
  const random = createRandom(7);
  const texts = new Map<string, string>();
  const forms = new Map<string, string>();
  for (let round = 0; round < 20_000; round += 1) {
    const spec = randomSpec(random, "any");
    const form = normalForm(spec);
    const text = canonicalText(makeValue(shuffled(random, spec)));
    expect(texts.get(form) ?? text, form).toBe(text);
    expect(forms.get(text) ?? form, text).toBe(form);
    texts.set(form, text);
    forms.set(text, form);
  }
  expect(texts.size).toBeGreaterThan(5_000);
});

describe("values that version 1 confused", () => {
  it.each<[string, unknown, unknown]>([
    ["two errors", new Error("a"), new Error("b")],
    ["errors of two kinds", new Error("a"), new TypeError("a")],
    ["an error with a code and one without", Object.assign(new Error("a"), { code: "E" }), new Error("a")],
    [
      "errors with two causes",
      new Error("a", { cause: new Error("b") }),
      new Error("a", { cause: new Error("c") }),
    ],
    ["an error and its fields", new Error("a"), { name: "Error", message: "a" }],
    ["an error and nothing", new Error("a"), {}],
    // oxlint-disable-next-line no-sparse-arrays
    ["a hole and nothing", [,], []],
    // oxlint-disable-next-line no-sparse-arrays
    ["a hole and undefined", [,], [undefined]],
    ["numbers of two widths", new Uint16Array([1, 0]), new Int16Array([1, 0])],
    ["numbers and an object", new Float64Array([1]), { 0: 1 }],
    ["two patterns", /a/, /a/g],
    ["two buffers", new ArrayBuffer(1), new ArrayBuffer(2)],
    ["a text and an object of letters", new String("ab"), { 0: "a", 1: "b" }],
    ["two numbers that are objects", new Number(1), new Number(2)],
  ])("%s", (_what, one, other) => {
    expect(canonicalText(one)).not.toBe(canonicalText(other));
  });
});

describe("values that count as equal", () => {
  it.each<[string, unknown, unknown]>([
    ["a missing field and one that is undefined", { a: 1 }, { a: 1, b: undefined }],
    ["0 and -0", 0, -0],
    ["a Buffer and the same bytes", Buffer.from("a"), new Uint8Array([97])],
    ["a URL and its text", new URL("https://example.org/"), "https://example.org/"],
    ["a boxed primitive and the primitive", new String("a"), "a"],
    ["maps in another order", new Map([[1, 1], [2, 2]]), new Map([[2, 2], [1, 1]])], // oxfmt-ignore
    ["sets in another order", new Set([1, 2]), new Set([2, 1])],
    ["errors made in two places", new Error("a"), ((): Error => new Error("a"))()],
  ])("%s", (_what, one, other) => {
    expect(canonicalText(one)).toBe(canonicalText(other));
  });
});

test("an error that is its own cause has a text", () => {
  const error = new Error("a");
  error.cause = error;
  expect(canonicalText(error)).toBe(canonicalText(new Error("a")));
});

test("reports whether a text depends on the version", () => {
  expect(writeCanonical({ a: [1, new Date(0)] })).toEqual({
    text: '{"a":[1,date(0)]}',
    dependsOnVersion: false,
  });
  expect(writeCanonical({ a: [new Error("x")] })).toMatchObject({ dependsOnVersion: true });
  expect(writeCanonical({ a: [new Error("x")] }, 1)).toMatchObject({ text: '{"a":[{}]}' });
});

test("refuses values that are nested too deeply, circular or unreadable", () => {
  let deep: unknown[] = [];
  for (let level = 0; level < 200_000; level += 1) deep = [deep];
  expect(() => canonicalText(deep)).toThrow(UnencodableError);
  const circular: unknown[] = [];
  circular.push(circular);
  expect(() => canonicalText(circular)).toThrow(/circular/);
  const unreadable = {
    get a(): never {
      throw new Error("no");
    },
  };
  expect(() => canonicalText(unreadable)).toThrow(UnreadableError);
  expect(() => canonicalText(unreadable, 1)).toThrow(UnreadableError);
});
