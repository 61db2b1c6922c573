import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { SLOW } from "../sequence.ts";

test("each name in the patterns of test/sequence.ts is a file or folder", () => {
  const project = resolve(import.meta.dirname, "../..");
  const paths = ["src", "test"].flatMap((top) =>
    readdirSync(resolve(project, top), { recursive: true, encoding: "utf8" }).map((path) => `${top}/${path}`),
  );
  const known = new Set(paths.flatMap((path) => path.split(/[/.]/)));
  const named = SLOW.flatMap(({ source }) => source.match(/[a-z]+(?:-[a-z]+)*/g) ?? []);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});
