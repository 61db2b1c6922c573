import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  bytesOfGitDir,
  createRepository,
  filesOf,
  type TestRepository,
} from "../../test/sandbox/snapshot-repository.ts";
import type { ToolwrightError } from "../errors.ts";
import { restoreGitSnapshot } from "./restore-git-snapshot.ts";
import { takeGitSnapshot } from "./take-git-snapshot.ts";

let repository: TestRepository;
beforeEach(() => {
  repository = createRepository();
});
afterEach(() => repository[Symbol.dispose]());

const take = (seq: number) =>
  takeGitSnapshot({ store: repository.store, rootDir: repository.root, name: "run", seq, label: "x" });
const restore = (seq: number) => restoreGitSnapshot({ rootDir: repository.root, runId: "run", seq });
const remove = (path: string) => rmSync(join(repository.root, path), { recursive: true });

describe("restoreGitSnapshot", () => {
  it("brings back deleted and changed files and deletes added ones", async () => {
    repository.write("untracked.txt", "u\n");
    await take(1);
    const before = filesOf(repository.root);
    remove("a.txt");
    remove("untracked.txt");
    repository.write("sub/b.txt", "changed\n");
    repository.write("deep/er/added.txt", "added\n");
    repository.write("added.txt", "added\n");
    expect(await restore(1)).toMatchObject({ restored: 3, removed: 2 });
    expect(filesOf(repository.root)).toEqual(before);
    expect(() => repository.read("deep")).toThrow("ENOENT");
    expect(await restore(1)).toMatchObject({ restored: 0, removed: 0 });
  });

  it("goes back and forth between snapshots", async () => {
    const states: Record<string, string>[] = [];
    for (let seq = 0; seq < 4; seq += 1) {
      repository.write("a.txt", `${seq}`);
      repository.write(`file-${seq}`, "1");
      if (seq > 0) remove(`file-${seq - 1}`);
      states.push(filesOf(repository.root));
      await take(seq);
    }
    for (const seq of [2, 0, 3, 1, 1, 2]) {
      await restore(seq);
      expect(filesOf(repository.root)).toEqual(states[seq]);
    }
  });

  it("turns folders into files and files into folders", async () => {
    await take(1);
    remove("a.txt");
    remove("sub");
    repository.write("a.txt/inner", "1");
    repository.write("sub", "2");
    await take(2);
    await restore(1);
    expect(filesOf(repository.root)).toEqual({ "a.txt": "a\n", "sub/b.txt": "b\n" });
    await restore(2);
    expect(filesOf(repository.root)).toEqual({ "a.txt/inner": "1", sub: "2" });
  });

  it("touches neither the user's index nor HEAD, branches, reflogs, hooks or config", async () => {
    repository.write("a.txt", "staged\n");
    repository.git(["add", "a.txt"]);
    await take(1);
    repository.write("a.txt", "later\n");
    repository.write("added", "1");
    const before = bytesOfGitDir(join(repository.root, ".git"));
    await restore(1);
    expect(bytesOfGitDir(join(repository.root, ".git"))).toEqual(before);
    expect(repository.read("a.txt")).toBe("staged\n");
  });

  it("works after the user has committed, switched the branch and packed everything", async () => {
    repository.write("a.txt", "kept\n");
    await take(1);
    repository.git(["switch", "-qc", "other"]);
    repository.git(["rm", "-qrf", "sub", "a.txt"]);
    repository.write("c.txt", "c\n");
    repository.git(["add", "-A"]);
    repository.git(["commit", "-qm", "other"]);
    repository.git(["gc", "-q", "--prune=now"]);
    await restore(1);
    expect(filesOf(repository.root)).toEqual({ "a.txt": "kept\n", "sub/b.txt": "b\n" });
    expect(repository.git(["symbolic-ref", "HEAD"])).toBe("refs/heads/other");
  });

  it("leaves files alone that are ignored now, or were at the snapshot", async () => {
    repository.write(".gitignore", ".env\nmodules/\n!modules\n");
    repository.write("sub/.gitignore", "local\n");
    repository.write(".env", "secret");
    repository.write("sub/local", "mine");
    await take(1);
    remove(".gitignore");
    remove("sub/.gitignore");
    repository.write(".gitignore", "later\n");
    repository.write("later", "ignored now");
    repository.write("added", "1");
    await take(2);
    expect(await restore(1)).toMatchObject({ removed: 1 });
    expect(filesOf(repository.root)).toEqual({
      ".env": "secret",
      ".gitignore": ".env\nmodules/\n!modules\n",
      "a.txt": "a\n",
      later: "ignored now",
      "sub/.gitignore": "local\n",
      "sub/b.txt": "b\n",
      "sub/local": "mine",
    });
  });

  it("refuses, before it changes anything, to put a file where ignored files are", async () => {
    await take(1);
    remove("a.txt");
    repository.write(".gitignore", "precious\n");
    repository.write("a.txt/precious", "1");
    repository.write("a.txt/other", "2");
    repository.write("sub/b.txt", "changed\n");
    const before = filesOf(repository.root);
    await expect(restore(1)).rejects.toMatchObject({
      code: "TOOL_NOT_A_FILE",
      message: expect.stringContaining('"a.txt"'),
      hint: expect.stringContaining("Move"),
      effect: "none",
    });
    expect(filesOf(repository.root)).toEqual(before);
  });

  it("refuses, before it changes anything, to put a folder where an ignored file is", async () => {
    repository.write("made/file", "1");
    await take(1);
    remove("made");
    repository.write(".gitignore", "made\n");
    repository.write("made", "ignored");
    await expect(restore(1)).rejects.toMatchObject({ code: "TOOL_NOT_A_DIRECTORY", effect: "none" });
    expect(repository.read("made")).toBe("ignored");
  });

  it("refuses to put a file where another repository is", async () => {
    await take(1);
    remove("a.txt");
    repository.git(["init", "-q", "a.txt"]);
    repository.write("a.txt/work", "1");
    await expect(restore(1)).rejects.toMatchObject({ code: "TOOL_NOT_A_FILE", effect: "none" });
    expect(repository.read("a.txt/work")).toBe("1");
  });

  it("keeps what was there before, also over several restores", async () => {
    await take(1);
    repository.write("a.txt", "first\n");
    await restore(1);
    repository.write("a.txt", "second\n");
    const { before } = await restore(1);
    expect(repository.git(["show", `${before.ref}:a.txt`])).toBe("second");
    expect(repository.git(["show", `${before.ref}^:a.txt`])).toBe("first");
  });

  it("says what to do when it stops in the middle, and finishes at the next try", async () => {
    repository.write("closed/lost.txt", "old");
    await take(1);
    repository.write("added", "1");
    remove("a.txt");
    remove("closed/lost.txt");
    chmodSync(join(repository.root, "closed"), 0o555);
    const failed: unknown = await restore(1).catch((error: unknown) => error);
    expect(failed).toMatchObject({
      code: "TOOL_EXECUTION_FAILED",
      effect: "happened",
      message: expect.stringMatching(/snapshot 1 of run "run" stopped in the middle.*checkout-index/s),
      hint: expect.stringMatching(/run the same restore again.*git restore --source=[0-9a-f]{40}/s),
    });
    const { before } = (failed as ToolwrightError).details;
    expect(repository.git(["ls-tree", "--name-only", String(before)]).split("\n")).toEqual(["added", "sub"]);
    chmodSync(join(repository.root, "closed"), 0o755);
    await restore(1);
    expect(filesOf(repository.root)).toEqual({
      "a.txt": "a\n",
      "closed/lost.txt": "old",
      "sub/b.txt": "b\n",
    });
  });

  it("does not let other users read a file that only its owner could read", async () => {
    const place = join(repository.root, "key");
    const mode = () => (statSync(place).mode & 0o777).toString(8);
    repository.write("key", "old");
    chmodSync(place, 0o600);
    await take(1);
    repository.write("key", "new");
    await restore(1);
    expect(mode()).toBe("600");
    chmodSync(place, 0o700);
    await take(2);
    chmodSync(place, 0o600);
    await restore(2);
    expect(mode()).toBe("700");
  });

  it("refuses an unknown snapshot, an invalid number and a folder without git", async () => {
    await take(1);
    repository.write("a.txt", "later\n");
    await expect(restore(2)).rejects.toMatchObject({
      code: "TOOL_FILE_NOT_FOUND",
      message: 'The store has no snapshot 2 of run "run". Nothing was changed.',
    });
    await expect(restore(-1)).rejects.toMatchObject({ code: "TOOL_OPTION_INVALID" });
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "no-git-")));
    await expect(restoreGitSnapshot({ rootDir: folder, runId: "run", seq: 1 })).rejects.toMatchObject({
      code: "TOOL_OPTION_INVALID",
    });
    rmSync(folder, { recursive: true });
    expect(repository.read("a.txt")).toBe("later\n");
  });

  it("refuses an unknown option by name, and an invalid isolation", async () => {
    await take(1);
    const options = { rootDir: repository.root, runId: "run", seq: 1 };
    for (const [wrong, words] of [
      [{ isolaton: "off" }, 'restoreGitSnapshot: unknown option "isolaton". Did you mean "isolation"?'],
      [{ isolation: "none" }, 'isolation must be "require", "auto" or "off", not "none".'],
      [{ isolation: false }, "not false"],
      [{ store: 1 }, "store must be a path"],
    ] as const) {
      await expect(restoreGitSnapshot({ ...options, ...(wrong as object) })).rejects.toMatchObject({
        code: "TOOL_OPTION_INVALID",
        message: expect.stringContaining(words),
      });
    }
  });

  it("leaves empty folders and the root as they are", async () => {
    await take(1);
    mkdirSync(join(repository.root, "empty"));
    repository.write("other/file", "1");
    mkdirSync(join(repository.root, "other/empty"));
    writeFileSync(join(repository.root, "other/file2"), "1");
    expect(await restore(1)).toMatchObject({ removed: 2 });
    expect(filesOf(join(repository.root, "other/empty"))).toEqual({});
    expect(filesOf(join(repository.root, "empty"))).toEqual({});
  });
});
