import { expect, test } from "vitest";
import { carveOut } from "./carve-out.ts";

const folder = (path: string, leftOut: string[], more: object = {}): object => {
  return { kind: "folder", path, leftOut, hides: false, readOnly: false, ...more };
};

test("a folder without exceptions is one rule", () => {
  expect(carveOut("/r", [{ path: "/other/x", access: "" }])).toEqual([folder("/r", [])]);
});

test("each folder on the way to an exception is allowed entry by entry", () => {
  expect(carveOut("/r", [{ path: "/r/.git/config", access: "r" }])).toEqual([
    folder("/r", [".git"]),
    folder("/r/.git", ["config"]),
    { kind: "exception", path: "/r/.git/config", access: "r" },
  ]);
});

test("where something is hidden, the folders above it may be listed and not read as a whole", () => {
  expect(carveOut("/r", [{ path: "/r/.toolwright", access: "" }])).toEqual([
    folder("/r", [".toolwright"], { hides: true }),
    { kind: "exception", path: "/r/.toolwright", access: "" },
  ]);
});

test("hidden paths in a read-only folder stay hidden, and the rest of the folder read-only", () => {
  const carving = carveOut("/r", [
    { path: "/r/code", access: "r" },
    { path: "/r/code/store.db", access: "" },
  ]);
  expect(carving).toContainEqual(folder("/r/code", ["store.db"], { hides: true, readOnly: true }));
  expect(carving).not.toContainEqual({ kind: "exception", path: "/r/code", access: "r" });
});

test("an exception within a stricter one adds nothing", () => {
  const carving = carveOut("/r", [
    { path: "/r/a", access: "" },
    { path: "/r/a/b", access: "r" },
  ]);
  expect(carving).toEqual([
    folder("/r", ["a"], { hides: true }),
    { kind: "exception", path: "/r/a", access: "" },
  ]);
});
