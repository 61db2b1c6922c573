/** Unusual work trees: each is snapshotted, changed beyond recognition and restored. */
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createRepository, filesOf, type TestRepository } from "../../test/sandbox/snapshot-repository.ts";
import { restoreGitSnapshot } from "./restore-git-snapshot.ts";
import { takeGitSnapshot } from "./take-git-snapshot.ts";

let repository: TestRepository;
beforeEach(() => {
  repository = createRepository();
});
afterEach(() => {
  vi.unstubAllEnvs();
  repository[Symbol.dispose]();
});

const take = async (seq: number, rootDir = repository.root) => {
  const taken = await takeGitSnapshot({ store: repository.store, rootDir, name: "run", seq, label: "x" });
  if (taken === undefined) throw new Error("no snapshot was taken");
  return taken.commit;
};
const restore = (seq: number, rootDir = repository.root) =>
  restoreGitSnapshot({ rootDir, runId: "run", seq });
const namesIn = (commit: string, cwd?: string) =>
  repository.git(["ls-tree", "-r", "-z", "--name-only", commit], cwd).split("\0").filter(Boolean);

describe("a snapshot of a work tree", () => {
  it("without a commit", async () => {
    using empty = createRepository({ empty: true });
    expect(namesIn(await take(1, empty.root), empty.root)).toEqual([]);
    empty.write("first.txt", "1");
    const commit = await take(2, empty.root);
    expect(namesIn(commit, empty.root)).toEqual(["first.txt"]);
    expect(empty.git(["rev-list", "--count", commit])).toBe("2");
    await restore(1, empty.root);
    expect(filesOf(empty.root)).toEqual({});
    await restore(2, empty.root);
    expect(filesOf(empty.root)).toEqual({ "first.txt": "1" });
  });

  it("with a submodule keeps its commit and leaves its files alone", async () => {
    using inner = createRepository();
    repository.git(["-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.root, "module"]);
    repository.git(["commit", "-qm", "module"]);
    repository.write("module/a.txt", "in the module\n");
    repository.git(["-c", "user.name=u", "commit", "-qam", "moved"], join(repository.root, "module"));
    const moved = repository.git(["rev-parse", "HEAD"], join(repository.root, "module"));
    const commit = await take(1);
    expect(repository.git(["rev-parse", `${commit}:module`])).toBe(moved);
    repository.write("module/a.txt", "later\n");
    repository.write("a.txt", "later\n");
    await restore(1);
    expect(repository.read("module/a.txt")).toBe("later\n");
    expect(repository.read("a.txt")).toBe("a\n");
    expect(await take(2)).toBeTruthy();
    rmSync(join(repository.root, "module"), { recursive: true });
    expect(namesIn(await take(3))).not.toContain("module");
  });

  it("with nested repositories, with and without a commit", async () => {
    repository.git(["clone", "-q", repository.root, "nested"]);
    repository.git(["init", "-q", "unborn"]);
    repository.write("unborn/file", "1");
    repository.git(["init", "-q", "--bare", "plain.git"]);
    const commit = await take(1);
    expect(repository.git(["rev-parse", `${commit}:nested`])).toBe(repository.git(["rev-parse", "HEAD"]));
    expect(namesIn(commit)).not.toContain("unborn/file");
    repository.git(["clone", "-q", repository.root, "younger"]);
    repository.write("nested/a.txt", "later");
    expect(await restore(1)).toMatchObject({ restored: 0, removed: 0 });
    expect(repository.read("nested/a.txt")).toBe("later");
    expect(repository.read("younger/.git/HEAD")).toContain("ref:");
  });

  it("in a submodule, and in a work tree made by `git worktree`, even of a bare repository", async () => {
    using inner = createRepository();
    repository.git(["-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.root, "module"]);
    repository.git(["worktree", "add", "-q", join(repository.base, "linked"), "-b", "linked"]);
    repository.git(["clone", "-q", "--bare", repository.root, join(repository.base, "bare/.git")]);
    repository.git(["worktree", "add", "-q", "../wt"], join(repository.base, "bare/.git"));
    const roots = [
      join(repository.root, "module"),
      join(repository.base, "linked"),
      join(repository.base, "bare/wt"),
    ];
    for (const root of roots) {
      const before = filesOf(root);
      writeFileSync(join(root, "new.txt"), "new");
      const commit = await take(1, root);
      expect(namesIn(commit, root)).toEqual(["a.txt", "new.txt", "sub/b.txt"]);
      expect(repository.git(["rev-parse", "refs/toolwright/run/1"], root)).toBe(commit);
      expect(repository.git(["rev-parse", `${commit}^`], root)).toBe(
        repository.git(["rev-parse", "HEAD"], root),
      );
      rmSync(join(root, "sub"), { recursive: true });
      await restore(1, root);
      expect(filesOf(root)).toEqual({ ...before, "new.txt": "new" });
    }
  });

  it("from a subfolder keeps the subfolder, and HEAD's content next to it", async () => {
    const rootDir = join(repository.root, "sub");
    repository.write("a.txt", "changed outside\n");
    repository.write("private.txt", "outside\n");
    repository.write("sub/new.txt", "new\n");
    const commit = await take(1, rootDir);
    expect(namesIn(commit)).toEqual(["a.txt", "sub/b.txt", "sub/new.txt"]);
    expect(repository.git(["show", `${commit}:a.txt`])).toBe("a");
    rmSync(join(rootDir, "new.txt"));
    rmSync(join(rootDir, "b.txt"));
    repository.write("sub/deep/er", "1");
    expect(await restore(1, rootDir)).toMatchObject({ restored: 2, removed: 1 });
    expect(filesOf(repository.root)).toEqual({
      "a.txt": "changed outside\n",
      "private.txt": "outside\n",
      "sub/b.txt": "b\n",
      "sub/new.txt": "new\n",
    });
  });

  it("with a rootDir that is a link, or whose name holds a line break or a pattern", async () => {
    symlinkSync(repository.root, join(repository.base, "link"));
    expect(namesIn(await take(1, join(repository.base, "link")))).toHaveLength(2);
    for (const name of ["line\nbreak", ":(glob)*", "[s]ub"]) {
      repository.write(`${name}/file`, name);
      repository.write("beside", "1");
      const commit = await take(2, join(repository.root, name));
      expect(namesIn(commit).toSorted()).toEqual(["a.txt", `${name}/file`, "sub/b.txt"].toSorted());
      rmSync(join(repository.root, name, "file"));
      await restore(2, join(repository.root, name));
      expect(repository.read(`${name}/file`)).toBe(name);
      rmSync(join(repository.root, name), { recursive: true });
    }
    const moved = join(repository.base, "new\nline ");
    renameSync(repository.root, moved);
    expect(await take(3, moved)).toMatch(/^[0-9a-f]{40}$/);
  });

  it("with links, which are kept as links and never followed", async () => {
    writeFileSync(join(repository.base, "outside"), "outside");
    mkdirSync(join(repository.base, "folder"));
    writeFileSync(join(repository.base, "folder/b.txt"), "outside");
    symlinkSync("../outside", join(repository.root, "to-file"));
    symlinkSync("nowhere", join(repository.root, "to-nothing"));
    await take(1);
    unlinkSync(join(repository.root, "to-file"));
    unlinkSync(join(repository.root, "to-nothing"));
    rmSync(join(repository.root, "sub"), { recursive: true });
    symlinkSync("../folder", join(repository.root, "sub"));
    const commit = await take(2);
    expect(namesIn(commit)).toEqual(["a.txt", "sub"]);
    await restore(1);
    expect(readlinkSync(join(repository.root, "to-file"))).toBe("../outside");
    expect(readlinkSync(join(repository.root, "to-nothing"))).toBe("nowhere");
    expect(filesOf(repository.root)["sub/b.txt"]).toBe("b\n");
    await restore(2);
    expect(filesOf(repository.root)).toEqual({ "a.txt": "a\n", sub: "-> ../folder" });
    expect(filesOf(join(repository.base, "folder"))).toEqual({ "b.txt": "outside" });
  });

  it("with names of any bytes", async () => {
    const names = ["line\nbreak", " space ", "tab\t", '"quoted"', ":colon", "-dash", "*", "ümlaut", "a\\b"];
    for (const name of names) repository.write(name, name);
    const raw = Buffer.concat([Buffer.from(`${repository.root}/`), Buffer.from([0xff, 0xfe, 0x41])]);
    writeFileSync(raw, "not UTF-8");
    await take(1);
    const before = filesOf(repository.root);
    expect(Object.keys(before)).toHaveLength(12);
    for (const name of names) rmSync(join(repository.root, name));
    unlinkSync(raw);
    await take(2);
    await restore(1);
    expect(filesOf(repository.root)).toEqual(before);
    expect(await restore(2)).toMatchObject({ removed: 10 });
    expect(Object.keys(filesOf(repository.root))).toEqual(["a.txt", "sub/b.txt"]);
  });

  it("while the user holds the index", async () => {
    writeFileSync(join(repository.root, ".git/index.lock"), "");
    writeFileSync(join(repository.root, ".git/HEAD.lock"), "");
    repository.write("a.txt", "changed\n");
    await take(1);
    repository.write("a.txt", "again\n");
    await restore(1);
    expect(repository.read("a.txt")).toBe("changed\n");
  });

  it("with a damaged or missing index of the user", async () => {
    writeFileSync(join(repository.root, ".git/index"), "damaged");
    expect(namesIn(await take(1))).toEqual(["a.txt", "sub/b.txt"]);
    rmSync(join(repository.root, ".git/index"));
    expect(namesIn(await take(2))).toEqual(["a.txt", "sub/b.txt"]);
  });

  it("with large binary files, executables, hard links and pipes", async () => {
    const bytes = randomBytes(40_000_000);
    repository.write("large.bin", bytes);
    repository.write("run.sh", "#!/bin/sh\n");
    chmodSync(join(repository.root, "run.sh"), 0o755);
    linkSync(join(repository.root, "a.txt"), join(repository.root, "hard"));
    execFileSync("mkfifo", [join(repository.root, "pipe")]);
    await take(1);
    repository.write("large.bin", "small");
    chmodSync(join(repository.root, "run.sh"), 0o644);
    await restore(1);
    expect(Buffer.from(repository.read("run.sh")).length).toBe(10);
    expect(statSync(join(repository.root, "run.sh")).mode & 0o111).toBe(0o111);
    expect(filesOf(repository.root)["large.bin"] === bytes.toString("latin1")).toBe(true);
    expect(statSync(join(repository.root, "pipe")).isFIFO()).toBe(true);
  });

  it("with SHA-256 objects", async () => {
    const root = join(repository.base, "sha256");
    mkdirSync(root);
    repository.git(["init", "-q", "--object-format=sha256"], root);
    writeFileSync(join(root, "f"), "1");
    expect(await take(1, root)).toMatch(/^[0-9a-f]{64}$/);
    rmSync(join(root, "f"));
    await restore(1, root);
    expect(filesOf(root)).toEqual({ f: "1" });
  });

  it("leaves out files that the user's own ignore file names", async () => {
    const home = join(repository.base, "home");
    mkdirSync(home);
    writeFileSync(join(home, ".gitconfig"), "[core]\n\texcludesFile = ~/my ignores\n");
    writeFileSync(join(home, "my ignores"), "*.secret\n");
    vi.stubEnv("HOME", realpathSync(home));
    repository.write("x.secret", "1");
    expect(namesIn(await take(1))).toEqual(["a.txt", "sub/b.txt"]);
  });

  it("leaves its private folder out of a root that holds the temporary folder", async () => {
    repository.write("tmp/file", "1");
    vi.stubEnv("TMPDIR", join(repository.root, "tmp"));
    expect(namesIn(await take(1))).toEqual(["a.txt", "sub/b.txt", "tmp/file"]);
    expect(Object.keys(filesOf(join(repository.root, "tmp")))).toEqual(["file"]);
  });
});
