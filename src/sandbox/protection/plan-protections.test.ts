import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { planProtections } from "./plan-protections.ts";

let root: string;
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), "toolwright-root-"))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

const make = (path: string): void => {
  mkdirSync(join(root, path, ".."), { recursive: true });
  writeFileSync(join(root, path), "x");
};
const found = (hidden: string[] = [], readOnly: string[] = []): string[] => {
  const plan = planProtections({ root, hidden, readOnly, rootReadOnly: false });
  plan.close();
  return plan.protections.map(({ kind, path }) => `${kind} ${path.slice(root.length + 1)}`);
};

test("an empty root has nothing to guard, and nothing is made in it", () => expect(found()).toEqual([]));

test("git's settings and hooks are read-only and their folder is pinned, submodules included", () => {
  for (const path of [".git/config", ".git/hooks/pre-commit", ".git/modules/sub/config"]) make(path);
  expect(found()).toEqual([
    "pin .git",
    "readOnly .git/hooks",
    "readOnly .git/config",
    "pin .git/modules",
    "pin .git/modules/sub",
    "readOnly .git/modules/sub/config",
  ]);
});

test("where a link stands in for git's settings, the whole folder is read-only", () => {
  make(".git/HEAD");
  symlinkSync("/etc/hostname", join(root, ".git/config"));
  expect(found()).toEqual(["readOnly .git"]);
});

test("where the root is a git folder with such a link, the rest is read-only", () => {
  for (const path of ["HEAD", "objects/x", "refs/x", "config"]) make(path);
  symlinkSync("/etc", join(root, "hooks"));
  expect(found()).toEqual(["readOnly config"]);
});

test("a worktree's .git file is read-only", () => {
  make(".git");
  expect(found()).toEqual(["readOnly .git"]);
});

test("a store is hidden, with the folders above it pinned", () => {
  make("a/b/store.db");
  expect(found([join(root, "a/b/store.db")])).toEqual(["pin a", "pin a/b", "hideFile a/b/store.db"]);
});

test("a store's log that is not there yet is made empty, so that it cannot be forged", () => {
  make("a/store.db");
  expect(found(["a/store.db-wal"])).toEqual(["pin a", "hideFile a/store.db-wal"]);
  expect(readFileSync(join(root, "a/store.db-wal"), "utf8")).toBe("");
});

test("nothing is made or mounted below a folder that is hidden as a whole", () => {
  make(".toolwright/store.db");
  expect(found([join(root, ".toolwright/store.db"), join(root, ".toolwright/store.db-wal")])).toEqual([
    "hideFolder .toolwright",
  ]);
  expect(existsSync(join(root, ".toolwright/store.db-wal"))).toBe(false);
});

test("settings of every spelling are read-only, and what the caller names", () => {
  for (const path of ["toolwright.config.ts", "toolwright.config.json", "src/a", "toolwright.txt"])
    make(path);
  expect(found([], ["src"]).toSorted()).toEqual([
    "readOnly src",
    "readOnly toolwright.config.json",
    "readOnly toolwright.config.ts",
  ]);
});

test("if descriptors run out, the plan fails instead of leaving paths unprotected", () => {
  for (let count = 0; count < 40; count += 1) make(`r${count}/.git/config`);
  const module = JSON.stringify(join(import.meta.dirname, "plan-protections.ts"));
  const program = `const { planProtections } = await import(${module});
    try { planProtections({ root: ${JSON.stringify(root)}, hidden: [], readOnly: [], rootReadOnly: false }); console.log("planned"); }
    catch (error) { console.log(error.code); }`;
  const argv = ["--nofile=64:64", process.execPath, "--no-warnings", "--experimental-strip-types"];
  const ended = spawnSync("prlimit", [...argv, "--input-type=module", "-e", program], { encoding: "utf8" });
  expect(ended.stdout).toBe("EMFILE\n");
});

test("if the disk is full, the plan fails instead of leaving a missing path to the command", () => {
  const module = JSON.stringify(join(import.meta.dirname, "plan-protections.ts"));
  const program = `const { mkdirSync, writeFileSync } = await import("node:fs"); process.chdir(${JSON.stringify(root)});
    const { planProtections } = await import(${module});
    mkdirSync(".git"); writeFileSync(".git/config", "[core]\\nhooksPath = .husky\\n");
    try { for (let each = 0; ; each += 1) mkdirSync("f" + each); } catch (error) { console.log(error.code); }
    try { planProtections({ root: process.cwd(), hidden: [], readOnly: [], rootReadOnly: false }); console.log("planned"); }
    catch (error) { console.log(error.code); }`;
  const mount = `mount -t tmpfs -o nr_inodes=16 none ${root} && exec "$@"`;
  const node = [process.execPath, "--no-warnings", "--experimental-strip-types", "--input-type=module"];
  const argv = ["-Urm", "/bin/sh", "-c", mount, "sh", ...node, "-e", program];
  expect(spawnSync("unshare", argv, { encoding: "utf8" }).stdout).toBe("ENOSPC\nTOOL_DISK_FULL\n");
});

test("paths outside the root are not its business", () =>
  expect(found(["/etc/passwd"], ["/usr"])).toEqual([]));
