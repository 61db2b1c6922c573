/** What is hidden in a recording. */
import { expect, test } from "vitest";
import { HiddenValues } from "./hidden-values.ts";

test("a hidden list may have any number of values", () => {
  const hidden = new HiddenValues();
  hidden.add(Array.from({ length: 150_000 }, (_, index) => 1_000_000 + index));
  expect(hidden.marks.size).toBe(150_000);
});
