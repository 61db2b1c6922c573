/** `snapshots: "git"`: the state after each side effect can be listed and restored. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bash, createRuntime, read, write } from "toolwright";
import { listGitSnapshots, restoreGitSnapshot } from "toolwright/tools";
import { beforeEach, expect, it } from "vitest";
import { createWorkshop, type Workshop } from "./harness.ts";

const task = { runId: "r1" };
let shop: Workshop;
const git = (...args: string[]): string => execFileSync("git", args, { cwd: shop.root, encoding: "utf8" });

beforeEach(() => {
  shop = createWorkshop();
  mkdirSync(shop.root);
});

it("takes one after each successful side effect, under the run and the number of its call", async () => {
  git("init", "-q");
  const runtime = shop.open({ snapshots: "git" });
  await runtime.call(write, { path: "a.txt", content: "one" }, task);
  await runtime.call(read, { path: "a.txt" }, task);
  await runtime.call(bash, { cmd: "false" }, task);
  await runtime.call(write, { path: "a.txt", content: "two" }, { ...task, toolCallId: "call_7" });
  const snapshots = await listGitSnapshots({ rootDir: shop.root });
  expect(snapshots).toMatchObject([
    { runId: "r1", seq: 1, ref: "refs/toolwright/r1/1", label: "write" },
    { runId: "r1", seq: 4, ref: "refs/toolwright/r1/4", label: "write" },
  ]);
  expect(git("show", "refs/toolwright/r1/1:a.txt")).toBe("one");
  expect(git("log", "-1", "--format=%B", "refs/toolwright/r1/4")).toContain("call_7");
  expect(git("status", "--porcelain")).toBe("?? a.txt\n");

  await restoreGitSnapshot({ rootDir: shop.root, runId: "r1", seq: 1 });
  expect(readFileSync(join(shop.root, "a.txt"), "utf8")).toBe("one");
});

it("separates snapshots of two tasks and of two attempts", async () => {
  git("init", "-q");
  const runtime = shop.open({ snapshots: "git" });
  for (const place of [{}, { nodeId: "other" }, { attempt: 2 }]) {
    await runtime.call(write, { path: "a.txt", content: "x" }, { ...task, ...place });
  }
  expect(await listGitSnapshots({ rootDir: shop.root })).toHaveLength(3);
});

it("does nothing outside a work tree, and a failure never fails the tool", async () => {
  const runtime = shop.open({ snapshots: "git" });
  expect(await runtime.call(write, { path: "a.txt", content: "x" }, task)).toMatchObject({ output: "ok" });
  writeFileSync(join(shop.root, ".git"), "gitdir: /nowhere\n");
  expect(await runtime.call(write, { path: "b.txt", content: "x" }, task)).toMatchObject({ output: "ok" });
  expect(existsSync(join(shop.root, "b.txt"))).toBe(true);
});

it("restores from the named store, and not after retention has deleted the run", async () => {
  git("init", "-q");
  {
    await using runtime = createRuntime({ store: shop.store, rootDir: shop.root, snapshots: "git" });
    await runtime.call(write, { path: "a.txt", content: "one" }, task);
  }
  const restored = { rootDir: shop.root, runId: "r1", seq: 1 };
  await expect(restoreGitSnapshot({ ...restored, store: "missing.db" })).rejects.toMatchObject({
    code: "TOOL_OPTION_INVALID",
    message: expect.stringContaining('"missing.db"'),
  });
  writeFileSync(join(shop.root, "a.txt"), "two");
  expect(await restoreGitSnapshot({ ...restored, store: shop.store })).toMatchObject({ restored: 1 });
  expect(readFileSync(join(shop.root, "a.txt"), "utf8")).toBe("one");
  await using runtime = createRuntime({ store: shop.store });
  expect(await runtime.gc({ olderThanMs: 0 })).toMatchObject({ deletedRuns: 1 });
  await expect(restoreGitSnapshot(restored)).rejects.toMatchObject({ code: "TOOL_FILE_NOT_FOUND" });
  expect(await listGitSnapshots({ rootDir: shop.root })).toEqual([]);
});

it("takes none by default", async () => {
  git("init", "-q");
  await shop.open().call(write, { path: "a.txt", content: "x" }, task);
  expect(await listGitSnapshots({ rootDir: shop.root })).toEqual([]);
});
