/** Inputs as a model sent them. */
import { expect, test } from "vitest";
import { parseInput } from "./parse-input.ts";

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

test("JSON is parsed, and null is a value", () => {
  expect(parseInput('{"a":[1]}')).toEqual({ value: { a: [1] } });
  expect(parseInput("null")).toEqual({ value: null });
});

test("text that is not JSON, or is nested too deeply, has no value", () => {
  expect(parseInput('{"a":')).toBeUndefined();
  expect(parseInput(nested(199))).toBeDefined();
  expect(parseInput(nested(100_000))).toBeUndefined();
});
