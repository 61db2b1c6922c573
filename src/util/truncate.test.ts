/** Previews of values that are too long for the log. */
import { expect, test } from "vitest";
import { encode } from "./encode.ts";
import { isPreview, toShownStored, truncateJson } from "./truncate.ts";

test("a text that fits stays unchanged", () => {
  expect(truncateJson('{"a":1}', 7)).toEqual({ text: '{"a":1}', truncated: false });
});

test("a longer text becomes its size and a preview", () => {
  const { text, truncated } = truncateJson(JSON.stringify({ a: "x".repeat(100) }), 20);
  expect(truncated).toBe(true);
  expect(JSON.parse(text)).toEqual({ truncated: true, bytes: 108, preview: '{"a":"xxxxxxxxxxxxxx' });
  expect(isPreview(text)).toBe(true);
});

test("bytes count, not characters", () => {
  expect(truncateJson(JSON.stringify(["ü".repeat(10)]), 14).truncated).toBe(true);
  expect(truncateJson(JSON.stringify(["u".repeat(10)]), 14).truncated).toBe(false);
});

test("a string fits if the text without quotes and escapes fits", () => {
  expect(truncateJson(JSON.stringify("\n".repeat(20)), 20).truncated).toBe(false);
});

test("a preview never ends in half a character", () => {
  const { text } = truncateJson(JSON.stringify(["😀".repeat(50)]), 21);
  expect((JSON.parse(text) as { preview: string }).preview.isWellFormed()).toBe(true);
});

test("a preview shows values as readers see them, not as they are stored", () => {
  const date = new Date("2030-01-01T00:00:00Z");
  expect(toShownStored(encode({ at: date }))).toBe('{"at":"2030-01-01T00:00:00.000Z"}');
});

test("a value that only resembles a preview is not one", () => {
  expect(isPreview('{"truncated":true,"bytes":1,"preview":"x","more":1}')).toBe(false);
  expect(isPreview('{"truncated":true,"bytes":1.5,"preview":"x"}')).toBe(false);
  expect(isPreview('{"truncated":true,"bytes":')).toBe(false);
});
