import { expect, test } from "vitest";
import { parseDuration, toMoment } from "./duration.ts";

test.each([
  ["2h", 7_200_000],
  ["90s", 90_000],
  ["1d 12h", 129_600_000],
  ["1h30m", 5_400_000],
  ["250ms", 250],
  ["1.5s", 1_500],
  ["1w", 604_800_000],
  ["0s", 0],
  [1_000, 1_000],
  [0.2, 1],
])("%j is %d ms", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(["", "2", "h", "2 hours", "-2h", "2h-", "1e3s", "36526d", Number.NaN, -1, Infinity, null, {}])(
  "%j is not a duration",
  (value) => {
    expect(parseDuration(value)).toBeUndefined();
  },
);

test("accepts a date or milliseconds as a time, and rejects an invalid date", () => {
  expect(toMoment(new Date(1_000))).toBe(1_000);
  expect(toMoment(1_000)).toBe(1_000);
  expect(toMoment(new Date("never"))).toBeUndefined();
  expect(toMoment("2026-01-01")).toBeUndefined();
  expect(toMoment(9e15)).toBeUndefined();
});
