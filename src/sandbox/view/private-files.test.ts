import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
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

const found = (depth = 2): string[] => {
  const { files: single, folders } = files.find(folder, depth);
  return [...single, ...folders].map((path) => path.slice(folder.length + 1)).toSorted();
};

test("what others may not read is private, at any depth that is asked for", () => {
  mkdirSync(join(folder, "a/b"), { recursive: true });
  mkdirSync(join(folder, "closed"), { mode: 0o700 });
  keep("closed/key", 0o644);
  keep("key", 0o600);
  keep("open", 0o644);
  keep("group", 0o640);
  keep("a/b/deep", 0o600);
  expect(found()).toEqual(["a/b/deep", "closed", "group", "key"]);
  expect(found(1)).toEqual(["closed", "group", "key"]);
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
  expect(files.find(join(folder, "nowhere"), 2)).toEqual({ files: [], folders: [] });
});
