/** Durations, ages and values for people. */
import { expect, test } from "vitest";
import { toAge, toDuration, toShortText } from "./readable.ts";

test.each([
  [-5, "0 ms"],
  [999, "999 ms"],
  [1_500, "1.5 s"],
  [61_000, "1 min 1 s"],
  [3_660_000, "1 h 1 min"],
])("%d ms is %s", (ms, text) => {
  expect(toDuration(ms)).toBe(text);
});

test.each([
  [90_000, "1 min ago"],
  [3 * 3_600_000, "3 h ago"],
  [49 * 3_600_000, "2 d ago"],
  [-60_000, "0 ms ago"],
])("an age of %d ms is %s", (ms, text) => {
  expect(toAge(1_000_000_000 - ms, 1_000_000_000)).toBe(text);
});

test("a value is on one line, and cut to the limit", () => {
  expect(toShortText("a\n  b")).toBe("a b");
  expect(toShortText({ a: "x".repeat(50) }, 10)).toBe('{"a":"xxx…');
  expect(toShortText(undefined)).toBe("");
});
