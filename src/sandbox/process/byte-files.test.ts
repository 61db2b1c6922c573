import { closeSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createByteFiles } from "./byte-files.ts";

function read(descriptor: number | undefined): string {
  if (descriptor === undefined) throw new Error("There is no file.");
  const text = readFileSync(descriptor, "utf8");
  closeSync(descriptor);
  return text;
}

test("every reader gets all of the bytes, even if they were read before", () => {
  const files = createByteFiles();
  const first = files.open(Buffer.from("filter"));
  const second = files.open(Buffer.from("filter"));
  expect([read(second), read(first), read(files.open(Buffer.from("filter")))]).toEqual([
    "filter",
    "filter",
    "filter",
  ]);
});

test("many different bytes do not run out of descriptors", () => {
  const files = createByteFiles();
  for (let index = 0; index < 3_000; index += 1) {
    expect(read(files.open(Buffer.from(`options ${index}`)))).toBe(`options ${index}`);
  }
});
