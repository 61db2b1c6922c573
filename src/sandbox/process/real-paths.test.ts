import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { toRealPaths } from "./real-paths.ts";

let base: string;
let roots: [string, string];

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-real-")));
  mkdirSync(join(base, "real", "data"), { recursive: true });
  writeFileSync(join(base, "real", "data", "s.db"), "");
  symlinkSync("real", join(base, "link"));
  symlinkSync("data", join(base, "real", "d"));
  roots = [join(base, "link"), join(base, "real")];
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

test("every spelling of a path leads to one place", () => {
  const store = join(base, "real", "data", "s.db");
  const spellings = [
    "data/s.db",
    "d/s.db",
    store,
    join(base, "link", "data", "s.db"),
    join(base, "link", "d", "s.db"),
  ];
  expect(toRealPaths(spellings, roots)).toEqual(spellings.map(() => store));
});

test("a file that is missing is placed by its folder", () => {
  expect(toRealPaths([join(base, "link", "d", "s.db-wal"), "/no/such/file"], roots)).toEqual([
    join(base, "real", "data", "s.db-wal"),
    "/no/such/file",
  ]);
});
