/** Texts that every store accepts. */
import { expect, test } from "vitest";
import { isStorableText, isTooLongForId, toStorableText } from "./storable-text.ts";

test("U+0000 and lone surrogates are refused, and replaced in texts that are only shown", () => {
  for (const text of ["a\u0000b", "a\ud800b"]) {
    expect(isStorableText(text)).toBe(false);
    expect(toStorableText(text)).toBe("a\ufffdb");
  }
  expect(isStorableText("a 😀 ü\n")).toBe(true);
});

test("an id is limited in bytes, not in characters", () => {
  expect(isTooLongForId("a".repeat(512))).toBe(false);
  expect(isTooLongForId("ü".repeat(257))).toBe(true);
});
