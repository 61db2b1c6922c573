/** The wait before a retry. */
import { expect, test } from "vitest";
import { backoffOf } from "./retry.ts";

test("the wait doubles with every retry", () => {
  const waits = [0, 1, 2, 3].map((retries) => backoffOf({ backoffMs: 100 }, retries, 0));
  expect(waits).toEqual([100, 200, 400, 800]);
});

test("the defaults are 200 ms at first, and 30 s at most", () => {
  expect(backoffOf({}, 0, 0)).toBe(200);
  expect(backoffOf({}, 40, 0)).toBe(30_000);
});

test("jitter adds at most a quarter, and never exceeds the maximum", () => {
  expect(backoffOf({ backoffMs: 100 }, 0, 1)).toBe(125);
  expect(backoffOf({ backoffMs: 100, maxBackoffMs: 110 }, 0, 1)).toBe(110);
});

test("a backoff of zero retries immediately", () => {
  expect(backoffOf({ backoffMs: 0 }, 5, 1)).toBe(0);
});
