import { chmodSync, linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createPrivateFiles, type PrivateFiles } from "./private-files.ts";

let folder: string;
let now: number;
let files: PrivateFiles;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolwright-private-"));
  now = 0;
  // As if every change happened a while ago. Otherwise a folder is read again because it has just changed.
  files = createPrivateFiles({ now: () => now, wallClock: () => Date.now() + 1_000 });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function keep(name: string, mode: number): void {
  writeFileSync(join(folder, name), "x");
  chmodSync(join(folder, name), mode);
}

const found = (): string[] => {
  const { files: single, folders } = files.find(folder);
  return [...single, ...folders].map((path) => path.slice(folder.length + 1)).toSorted();
};

test("a file that others cannot read is private, at any depth", () => {
  mkdirSync(join(folder, "a/b"), { recursive: true });
  mkdirSync(join(folder, "closed"), { mode: 0o700 });
  keep("closed/key", 0o644);
  keep("key", 0o600);
  keep("open", 0o644);
  keep("group", 0o640);
  keep("a/b/deep", 0o600);
  mkdirSync(join(folder, "1/2/3/4/5/6/7"), { recursive: true });
  keep("1/2/3/4/5/6/7/deep", 0o600);
  expect(found()).toEqual(["1/2/3/4/5/6/7/deep", "a/b/deep", "closed", "group", "key"]);
});

test("of a folder that a package manager fills, only its own entries are looked at", () => {
  files = createPrivateFiles({
    now: () => now,
    wallClock: () => Date.now() + 1_000,
    libraries: /\/packages$/,
  });
  mkdirSync(join(folder, "lib/packages/one"), { recursive: true });
  mkdirSync(join(folder, "lib/other/one/inner"), { recursive: true });
  for (const name of ["packages/key", "packages/one/key", "other/one/inner/key"]) keep(`lib/${name}`, 0o600);
  expect(found()).toEqual(["lib/other/one/inner/key", "lib/packages/key"]);
});

test("what is private and empty is found as soon as it is filled", () => {
  writeFileSync(join(folder, "empty"), "", { mode: 0o600 });
  mkdirSync(join(folder, "keys"), { mode: 0o700 });
  expect(found()).toEqual([]);
  writeFileSync(join(folder, "empty"), "x");
  writeFileSync(join(folder, "keys", "key"), "x");
  expect(found()).toEqual(["empty", "keys"]);
});

test("a key that is made after the first look is found at the next", () => {
  mkdirSync(join(folder, "a"));
  expect(found()).toEqual([]);
  keep("a/key", 0o600);
  expect(found()).toEqual(["a/key"]);
});

test("a file whose mode is changed is found two seconds later at most", () => {
  keep("key", 0o644);
  expect(found()).toEqual([]);
  chmodSync(join(folder, "key"), 0o600);
  now += 2_000;
  expect(found()).toEqual(["key"]);
});

test("a folder that is gone has nothing in it", () => {
  expect(files.find(join(folder, "nowhere"))).toEqual({ files: [], folders: [] });
});

test("a folder that is too large for one look is searched to its end before its first use", async () => {
  mkdirSync(join(folder, "wide/deep/deeper"), { recursive: true });
  keep("wide/deep/deeper/key", 0o600);
  keep("first", 0o644);
  for (let index = 0; index < 1_200; index += 1)
    linkSync(join(folder, "first"), join(folder, "wide", `${index}`));
  expect(found()).toEqual([]);
  await files.complete(folder);
  expect(found()).toEqual(["wide/deep/deeper/key"]);
  // The next search has to list the folder again. Until it has ended, the last result counts.
  now += 1_000_000;
  expect(found()).toEqual(["wide/deep/deeper/key"]);
  rmSync(join(folder, "wide/deep/deeper/key"));
  expect(found()).toEqual([]);
});
