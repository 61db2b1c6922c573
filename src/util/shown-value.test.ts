/** The form in which readers see values: the table of docs/internals/formats.md. */
import { expect, test } from "vitest";
import { toShownJson, toShownText, toShownValue } from "./shown-value.ts";

test.each<[string, unknown, unknown]>([
  ["NaN", Number.NaN, "NaN"],
  ["infinity", -Infinity, "-Infinity"],
  ["a bigint", 12n, "12"],
  ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
  ["an invalid date", new Date(Number.NaN), "Invalid Date"],
  ["bytes", new Uint8Array([1, 2, 3]), "AQID"],
  ["a part of a buffer", new Uint8Array([1, 2, 3]).subarray(1), "AgM="],
  ["a set", new Set([1, 1n]), [1, "1"]],
  ["a map with texts as keys", new Map([["a", 1]]), { a: 1 }],
  ["a map with different keys", new Map<unknown, number>([[1, 2]]), [[1, 2]]],
  ["an error", new TypeError("bad"), { name: "TypeError", message: "bad" }],
  ["an object with toJSON", { toJSON: () => ({ a: 1 }) }, { a: 1 }],
  // oxlint-disable-next-line no-new-wrappers, unicorn/new-for-builtins -- a boxed value is what is tested
  ["a boxed value", new Number(1), 1],
  ["a function", () => 1, "[function]"],
  ["a list with holes", [undefined, 1], [null, 1]],
  ["a field without a value", { a: undefined, b: 1 }, { b: 1 }],
])("%s", (_name, value, expected) => {
  expect(toShownValue(value)).toEqual(expected);
});

test("a circular value ends, and a value that appears twice is shown twice", () => {
  const shared = { a: 1 };
  const value: Record<string, unknown> = { one: shared, two: shared };
  value["self"] = value;
  expect(toShownValue(value)).toEqual({ one: { a: 1 }, two: { a: 1 }, self: "[circular]" });
});

test("a value that is nested too deeply ends", () => {
  let value: unknown = 1;
  for (let depth = 0; depth < 5_000; depth += 1) value = [value];
  expect(toShownJson(value)).toContain("[nested too deeply]");
});

test("a string is text, undefined is null in JSON", () => {
  expect([toShownText("a"), toShownText(["a"]), toShownJson(undefined)]).toEqual(["a", '["a"]', "null"]);
});
