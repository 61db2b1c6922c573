/** The wait that an error of a service requests. */
import { expect, test } from "vitest";
import { retryAfterMs } from "./retry-after.ts";

const NOW = Date.parse("2030-01-01T00:00:00Z");
const later = "Tue, 01 Jan 2030 00:01:30 GMT";

test.each<[string, unknown, number | undefined]>([
  ["milliseconds on the error", { retryAfterMs: 1_500 }, 1_500],
  ["a header in seconds", { headers: { "Retry-After": "2" } }, 2_000],
  ["a header of any case", { headers: { "RETRY-AFTER": "0.5" } }, 500],
  ["headers of fetch", { headers: new Headers({ "retry-after": "3" }) }, 3_000],
  ["AI SDK headers", { responseHeaders: { "retry-after": "4" } }, 4_000],
  ["headers of a response", { response: { headers: { "retry-after": "5" } } }, 5_000],
  ["a date", { headers: { "retry-after": later } }, 90_000],
  [
    "a date alongside the date of the response",
    { headers: { "retry-after": later, date: "Tue, 01 Jan 2030 00:01:00 GMT" } },
    30_000,
  ],
  ["a date in the past", { headers: { "retry-after": "Mon, 01 Jan 2029 00:00:00 GMT" } }, 0],
  ["a negative number of seconds", { headers: { "retry-after": "-5" } }, 0],
  ["a negative number of milliseconds", { retryAfterMs: -1 }, undefined],
  ["a text that is not a date", { headers: { "retry-after": "soon" } }, undefined],
  ["an empty header", { headers: { "retry-after": " " } }, undefined],
  ["no header", new Error("busy"), undefined],
  ["no error", undefined, undefined],
])("reads %s", (_name, error, expected) => {
  expect(retryAfterMs(error, NOW)).toBe(expected);
});

test("an error that cannot be read requests no wait", () => {
  const hostile = {
    get headers(): never {
      throw new Error("no");
    },
  };
  expect(retryAfterMs(hostile, NOW)).toBeUndefined();
});
