import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  bytesOfGitDir,
  createRepository,
  type TestRepository,
} from "../../test/sandbox/snapshot-repository.ts";
import { takeGitSnapshot, type TakeGitSnapshotOptions } from "./take-git-snapshot.ts";

let repository: TestRepository;
beforeEach(() => {
  repository = createRepository();
});
afterEach(() => repository[Symbol.dispose]());

const take = async (more: Partial<TakeGitSnapshotOptions> = {}) => {
  const taken = await takeGitSnapshot({
    store: repository.store,
    rootDir: repository.root,
    name: "run",
    seq: 1,
    label: "before bash",
    ...more,
  });
  if (taken === undefined) throw new Error("no snapshot was taken");
  return taken;
};
const namesIn = (commit: string) => repository.git(["ls-tree", "-r", "--name-only", commit]).split("\n");
const contentIn = (commit: string, path: string) => repository.git(["show", `${commit}:${path}`]);

describe("takeGitSnapshot", () => {
  it("keeps changed, new and deleted files, and leaves ignored ones out", async () => {
    repository.write("a.txt", "changed\n");
    repository.write("new/c.txt", "c\n");
    repository.write(".gitignore", "secret\n");
    repository.write("secret", "s\n");
    rmSync(join(repository.root, "sub/b.txt"));
    const { ref, commit } = await take();
    expect(ref).toBe("refs/toolwright/run/1");
    expect(repository.git(["rev-parse", ref])).toBe(commit);
    expect(namesIn(commit)).toEqual([".gitignore", "a.txt", "new/c.txt"]);
    expect(contentIn(commit, "a.txt")).toBe("changed");
  });

  it("keeps a file that is tracked although it is ignored", async () => {
    repository.write("kept.log", "1");
    repository.git(["add", "kept.log"]);
    repository.git(["commit", "-qm", "log"]);
    repository.write(".gitignore", "*.log\n");
    repository.write("kept.log", "2");
    repository.write("other.log", "3");
    await take();
    const { commit } = await take({ seq: 2 });
    expect(contentIn(commit, "kept.log")).toBe("2");
    expect(namesIn(commit)).not.toContain("other.log");
  });

  it("stops keeping an untracked file once it is ignored", async () => {
    repository.write("build/out", "1");
    await take();
    repository.write(".gitignore", "build\n");
    expect(namesIn((await take({ seq: 2 })).commit)).not.toContain("build/out");
  });

  it("leaves out files that the repository's own exclude file names", async () => {
    repository.write("mine", "1");
    writeFileSync(join(repository.root, ".git/info/exclude"), "mine\n");
    expect(namesIn((await take()).commit)).not.toContain("mine");
  });

  it("changes no byte of the user's index, HEAD, branches, reflogs, hooks and config", async () => {
    repository.write("staged.txt", "staged\n");
    repository.git(["add", "staged.txt"]);
    repository.write("staged.txt", "later\n");
    repository.git(["config", "core.logAllRefUpdates", "always"]);
    const before = bytesOfGitDir(join(repository.root, ".git"));
    const status = repository.git(["--no-optional-locks", "status", "--porcelain"]);
    const { commit } = await take();
    await take({ seq: 2 });
    expect(bytesOfGitDir(join(repository.root, ".git"))).toEqual(before);
    expect(Object.keys(before)).toEqual(expect.arrayContaining(["index", "HEAD", "logs/HEAD", "config"]));
    expect(repository.git(["--no-optional-locks", "status", "--porcelain"])).toBe(status);
    expect(contentIn(commit, "staged.txt")).toBe("later");
    expect(repository.git(["fsck", "--strict"])).not.toContain("error");
  });

  it("follows HEAD first and then the snapshot before it in the run", async () => {
    const head = repository.git(["rev-parse", "HEAD"]);
    const first = await take({ seq: 9 });
    const second = await take({ seq: 10 });
    const other = await take({ name: "other", seq: 1 });
    const parent = (commit: string) => repository.git(["rev-parse", `${commit}^`]);
    expect(parent(first.commit)).toBe(head);
    expect(parent(second.commit)).toBe(first.commit);
    expect(parent(other.commit)).toBe(head);
    const again = await take({ seq: 10, label: "again" });
    expect(parent(again.commit)).toBe(first.commit);
  });

  it("says who, when and what in the commit", async () => {
    const takenAtMs = 1_700_000_000_123;
    const { commit } = await take({ label: "edit\nline", toolUseId: "call_7", takenAtMs });
    const format = "--format=%an <%ae>|%cn|%at|%ct|%s";
    expect(repository.git(["log", "-1", format, commit])).toBe(
      "Toolwright <toolwright@localhost>|Toolwright|1700000000|1700000000|edit line (call_7)",
    );
  });

  it("writes a ref even when nothing changed", async () => {
    const first = await take();
    const second = await take({ seq: 2 });
    expect(repository.git(["diff", first.commit, second.commit])).toBe("");
    expect(repository.git(["for-each-ref", "refs/toolwright"]).split("\n")).toHaveLength(2);
  });

  it("takes concurrent snapshots of one run one after the other", async () => {
    const seqs = [1, 2, 3, 4, 5, 6];
    const taken = await Promise.all(seqs.map((seq) => take({ seq })));
    const history = repository.git(["log", "--format=%H", "refs/toolwright/run/6"]).split("\n");
    expect(history.slice(0, 6)).toEqual(taken.map(({ commit }) => commit).toReversed());
  });

  it("is undefined outside a work tree, in a git folder and next to a bare one", async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "no-git-")));
    const options = { name: "run", seq: 1, label: "x" };
    expect(await takeGitSnapshot({ store: repository.store, rootDir: folder, ...options })).toBeUndefined();
    mkdirSync(join(folder, ".git"));
    expect(await takeGitSnapshot({ store: repository.store, rootDir: folder, ...options })).toBeUndefined();
    rmSync(folder, { recursive: true });
    expect(
      await takeGitSnapshot({ store: repository.store, rootDir: join(repository.root, ".git"), ...options }),
    ).toBeUndefined();
    repository.git(["config", "core.bare", "true"]);
    expect(
      await takeGitSnapshot({ store: repository.store, rootDir: repository.root, ...options }),
    ).toBeUndefined();
  });

  it("refuses a root that is not a folder, and an invalid number", async () => {
    await expect(take({ rootDir: join(repository.root, "none") })).rejects.toMatchObject({
      code: "TOOL_OPTION_INVALID",
    });
    for (const seq of [-1, 1.5, Number.NaN]) {
      await expect(take({ seq })).rejects.toMatchObject({ code: "TOOL_OPTION_INVALID" });
    }
  });

  it("says in git's words why it failed", async () => {
    writeFileSync(join(repository.root, ".git/HEAD"), "nonsense\n");
    await expect(take()).rejects.toMatchObject({
      code: "TOOL_COMMAND_FAILED",
      message: expect.stringContaining("not a git repository"),
    });
  });

  it("stops when it is aborted", async () => {
    await expect(take({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "TOOL_ABORTED" });
    repository.write("big", Buffer.alloc(60_000_000, "x"));
    await expect(take({ signal: AbortSignal.timeout(30) })).rejects.toMatchObject({ code: "TOOL_ABORTED" });
    expect(repository.git(["for-each-ref", "refs/toolwright"])).toBe("");
  });

  it("leaves nothing behind in the git folder but the refs, objects and its index", async () => {
    await take();
    expect(statSync(join(repository.root, ".git/toolwright-index")).isFile()).toBe(true);
    expect(repository.git(["status", "--porcelain"])).toBe("");
  });
});
