import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  bytesOfGitDir,
  createRepository,
  type TestRepository,
} from "../../test/sandbox/snapshot-repository.ts";
import { listGitSnapshots } from "./list-git-snapshots.ts";
import { removeGitSnapshots } from "./remove-git-snapshots.ts";
import { restoreGitSnapshot } from "./restore-git-snapshot.ts";
import { takeGitSnapshot } from "./take-git-snapshot.ts";

let repository: TestRepository;
beforeEach(() => {
  repository = createRepository();
});
afterEach(() => repository[Symbol.dispose]());

const take = (runId: string, seq: number, label = "x") =>
  takeGitSnapshot({
    store: repository.store,
    rootDir: repository.root,
    name: runId,
    seq,
    label,
    takenAtMs: 1_700_000_000_000 + seq,
  });
const list = (runId?: string) => listGitSnapshots({ rootDir: repository.root, runId });
const short = async (runId?: string) => (await list(runId)).map((one) => `${one.runId}/${one.seq}`);

describe("listGitSnapshots", () => {
  it("returns the message that the snapshot was taken with", async () => {
    const options = {
      store: repository.store,
      rootDir: repository.root,
      name: "Run 1",
      seq: 3,
      label: "a\n\nb \0 ü\ud800",
    };
    const taken = await takeGitSnapshot({ ...options, toolUseId: "call_1", takenAtMs: 1_700_000_000_123 });
    expect(await list()).toEqual([
      {
        runId: "Run 1",
        seq: 3,
        ref: taken?.ref,
        commit: taken?.commit,
        label: "a\n\nb \0 ü\ud800",
        toolUseId: "call_1",
        takenAtMs: 1_700_000_000_123,
      },
    ]);
  });

  it("orders by run and number, and can be asked for one run", async () => {
    for (const seq of [10, 9, 100, 0]) await take("b", seq);
    await take("a", 1);
    await take("b/c", 1);
    expect(await short()).toEqual(["a/1", "b/0", "b/9", "b/10", "b/100", "b/c/1"]);
    expect(await short("b")).toEqual(["b/0", "b/9", "b/10", "b/100"]);
    expect(await short("c")).toEqual([]);
  });

  it("passes over refs that are not snapshots, and is empty without git", async () => {
    await take("run", 1);
    repository.git(["update-ref", "refs/toolwright/run/2", "HEAD"]);
    repository.git(["update-ref", "refs/toolwright/run/x", "HEAD"]);
    repository.git(["update-ref", "refs/toolwright/other/1", "refs/toolwright/run/1"]);
    repository.git(["update-ref", "refs/toolwright/run/3", "HEAD:a.txt"]);
    expect(await short()).toEqual(["run/1"]);
    const folder = mkdtempSync(join(tmpdir(), "no-git-"));
    expect(await listGitSnapshots({ rootDir: folder })).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  it("does not list the snapshots that a restore makes", async () => {
    await take("run", 1);
    await restoreGitSnapshot({ rootDir: repository.root, runId: "run", seq: 1 });
    expect(await short()).toEqual(["run/1"]);
  });
});

describe("removeGitSnapshots", () => {
  const remove = (runId: string) => removeGitSnapshots({ rootDir: repository.root, runId });

  it("removes the snapshots of one run and no other", async () => {
    for (const seq of [1, 2, 3]) await take("run", seq);
    await take("run/1", 1);
    await restoreGitSnapshot({ rootDir: repository.root, runId: "run", seq: 1 });
    expect(await remove("run")).toEqual({ removed: 3 });
    expect(await remove("run")).toEqual({ removed: 0 });
    expect(repository.git(["for-each-ref", "--format=%(refname)", "refs/toolwright"])).toBe(
      "refs/toolwright/run%2f1/1",
    );
  });

  it("removes packed ones, and leaves the user's refs as they were", async () => {
    await take("run", 1);
    repository.git(["pack-refs", "--all"]);
    await take("run", 2);
    const before = repository.git(["for-each-ref", "refs/heads"]);
    expect(await remove("run")).toEqual({ removed: 2 });
    expect(repository.git(["for-each-ref"])).toBe(before);
    expect(repository.git(["fsck"])).not.toContain("error");
  });

  it("leaves every other byte of the git folder alone", async () => {
    await take("run", 1);
    const before = bytesOfGitDir(join(repository.root, ".git"));
    await remove("run");
    expect(bytesOfGitDir(join(repository.root, ".git"))).toEqual(before);
  });
});
