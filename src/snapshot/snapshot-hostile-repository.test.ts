/** A repository in which an agent has written everything it can. Each trap is shown to work with the user's git. */
import { chmodSync, cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createRepository, type TestRepository } from "../../test/sandbox/snapshot-repository.ts";
import { listGitSnapshots } from "./list-git-snapshots.ts";
import { removeGitSnapshots } from "./remove-git-snapshots.ts";
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

/** Runs every snapshot operation on a repository. */
const everything = async (rootDir = repository.root) => {
  await takeGitSnapshot({ store: repository.store, rootDir, name: "run", seq: 1, label: "one" });
  repository.write("a.txt", "later\n");
  repository.write("added.txt", "added\n");
  const taken = await takeGitSnapshot({
    store: repository.store,
    rootDir,
    name: "run",
    seq: 2,
    label: "two",
  });
  await restoreGitSnapshot({ rootDir, runId: "run", seq: 1 });
  await listGitSnapshots({ rootDir });
  await removeGitSnapshots({ rootDir, runId: "run" });
  return taken;
};
/** Git may fail: only the programs that it runs matter. */
const userGit = (...args: string[]) => {
  try {
    repository.git(args);
  } catch {
    // Git may fail.
  }
};

describe("a repository that an agent has written to", () => {
  it("runs no hook", async () => {
    const names = [
      "reference-transaction",
      "post-index-change",
      "post-checkout",
      "pre-commit",
      "post-commit",
    ];
    for (const name of names) cpSync(repository.trap(name), join(repository.root, ".git/hooks", name));
    mkdirSync(join(repository.base, "more"));
    cpSync(repository.trap("reference-transaction"), join(repository.base, "more/reference-transaction"));
    await everything();
    repository.git(["config", "core.hooksPath", join(repository.base, "more")]);
    await everything();
    expect(repository.trapped()).toEqual([]);
    userGit("update-ref", "refs/x", "HEAD");
    expect(repository.trapped()).toEqual(["reference-transaction.ran"]);
  });

  it("runs no filter, and keeps the bytes as they are", async () => {
    repository.git(["config", "filter.evil.clean", repository.trap("clean")]);
    repository.git(["config", "filter.evil.smudge", repository.trap("smudge")]);
    repository.git(["config", "filter.long.process", repository.trap("process")]);
    repository.git(["config", "filter.long.required", "true"]);
    repository.git(["config", "core.autocrlf", "input"]);
    repository.write(
      ".gitattributes",
      "[attr]m filter=evil\n*.txt m text eol=lf ident\n*.bin filter=long\n*.enc working-tree-encoding=UTF-16\n",
    );
    const bytes = { "x.txt": "one\r\n$Id$\r\n", "x.bin": "\r\n\0", "x.enc": "plain" };
    for (const [name, content] of Object.entries(bytes)) repository.write(name, content);
    await everything();
    await takeGitSnapshot({
      store: repository.store,
      rootDir: repository.root,
      name: "run",
      seq: 1,
      label: "one",
    });
    for (const name of Object.keys(bytes)) repository.write(name, "changed");
    await restoreGitSnapshot({ rootDir: repository.root, runId: "run", seq: 1 });
    for (const [name, content] of Object.entries(bytes)) expect(repository.read(name)).toBe(content);
    expect(repository.trapped()).toEqual([]);
    userGit("add", "x.txt");
    expect(repository.trapped()).toEqual(["clean.ran"]);
  });

  it("runs no monitor, no diff program, no pager, no editor and no signer", async () => {
    repository.git(["config", "core.fsmonitor", repository.trap("fsmonitor")]);
    repository.git(["config", "diff.external", repository.trap("external")]);
    repository.git(["config", "diff.evil.textconv", repository.trap("textconv")]);
    repository.git(["config", "diff.evil.command", repository.trap("command")]);
    repository.git(["config", "core.pager", repository.trap("pager")]);
    repository.git(["config", "core.editor", repository.trap("editor")]);
    repository.git(["config", "gpg.program", repository.trap("gpg")]);
    repository.git(["config", "commit.gpgSign", "true"]);
    repository.git(["config", "alias.ls-files", `!${repository.trap("alias")}`]);
    writeFileSync(join(repository.root, ".git/info/attributes"), "* diff=evil\n");
    await everything();
    expect(repository.trapped()).toEqual([]);
    userGit("status");
    expect(repository.trapped()).toEqual(["fsmonitor.ran"]);
  });

  it("runs nothing that the config of a submodule or of a nested repository names", async () => {
    const inner = createRepository();
    repository.git(["-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.root, "module"]);
    repository.git(["commit", "-qm", "module"]);
    repository.git(["clone", "-q", inner.root, "nested"]);
    for (const name of ["module", "nested"]) {
      const folder = join(repository.root, name);
      repository.git(["config", "core.fsmonitor", repository.trap(`${name}-fsmonitor`)], folder);
      repository.git(["config", "filter.evil.clean", repository.trap(`${name}-clean`)], folder);
      repository.write(`${name}/.gitattributes`, "* filter=evil\n");
      repository.write(`${name}/a.txt`, "changed\n");
    }
    // A submodule's own setting for how closely git inspects it.
    repository.git(["config", "-f", ".gitmodules", "submodule.module.ignore", "none"]);
    await everything();
    expect(repository.trapped()).toEqual([]);
    userGit("status");
    expect(repository.trapped()).toContain("module-fsmonitor.ran");
    inner[Symbol.dispose]();
  });

  it("fetches nothing for a partial clone that lacks an object", async () => {
    repository.git(["config", "core.repositoryformatversion", "1"]);
    repository.git(["config", "extensions.partialClone", "evil"]);
    repository.git(["config", "remote.evil.promisor", "true"]);
    repository.git(["config", "remote.evil.url", "ssh://host/path"]);
    repository.git(["config", "protocol.allow", "always"]);
    repository.git(["config", "protocol.ssh.allow", "always"]);
    repository.git(["config", "core.sshCommand", repository.trap("ssh")]);
    writeFileSync(join(repository.root, ".git/refs/heads/main"), `${"1".repeat(40)}\n`);
    await expect(everything()).rejects.toMatchObject({ code: "TOOL_COMMAND_FAILED" });
    expect(repository.trapped()).toEqual([]);
    userGit("show", "HEAD");
    expect(repository.trapped()).toEqual(["ssh.ran"]);
  });

  it("stays in the work tree that the files show, and ignores core.worktree", async () => {
    const outside = join(repository.base, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "private.txt"), "private");
    for (const place of [outside, repository.base, "/"]) {
      repository.git(["config", "-f", ".git/config", "core.worktree", place]);
      const taken = await everything();
      const names = repository.git(["ls-tree", "--full-tree", "-r", "--name-only", taken?.commit ?? ""]);
      expect(names.split("\n")).toEqual(["a.txt", "added.txt", "sub/b.txt"]);
    }
  });

  it("uses no git that is in the root, by its path or by a link to it", async () => {
    repository.write("bin/git", "");
    cpSync(repository.trap("git"), join(repository.root, "bin/git"));
    chmodSync(join(repository.root, "bin/git"), 0o755);
    vi.stubEnv("PATH", `${repository.root}/bin:./bin:${process.env["PATH"]}`);
    await everything();
    expect(repository.trapped()).toEqual([]);
    mkdirSync(join(repository.base, "links"));
    symlinkSync(join(repository.root, "bin/git"), join(repository.base, "links/git"));
    vi.stubEnv("PATH", `${repository.base}/links`);
    await expect(everything()).rejects.toMatchObject({ code: "TOOL_COMMAND_NOT_FOUND" });
    expect(repository.trapped()).toEqual([]);
  });

  it("takes over no variable of git's from this process", async () => {
    const other = createRepository();
    const before = other.git(["for-each-ref"]);
    vi.stubEnv("GIT_DIR", join(other.root, ".git"));
    vi.stubEnv("GIT_WORK_TREE", other.root);
    vi.stubEnv("GIT_INDEX_FILE", join(other.root, ".git/index"));
    vi.stubEnv("GIT_OBJECT_DIRECTORY", join(other.root, ".git/objects"));
    vi.stubEnv("GIT_EXTERNAL_DIFF", repository.trap("external"));
    vi.stubEnv("GIT_TRACE", join(repository.base, "trace"));
    vi.stubEnv("GIT_CONFIG_COUNT", "1");
    vi.stubEnv("GIT_CONFIG_KEY_0", "core.fsmonitor");
    vi.stubEnv("GIT_CONFIG_VALUE_0", repository.trap("fsmonitor"));
    const options = { store: repository.store, rootDir: repository.root, name: "run", label: "x" };
    await takeGitSnapshot({ ...options, seq: 1 });
    expect(existsSync(join(repository.base, "trace"))).toBe(false);
    expect(other.git(["for-each-ref"])).toBe(before);
    expect(repository.git(["for-each-ref", "refs/toolwright"])).not.toBe("");
    expect(repository.trapped()).toEqual([]);
    other[Symbol.dispose]();
  });

  it("is not fooled by a replaced object", async () => {
    repository.write("a.txt", "fake\n");
    const fake = repository.git(["hash-object", "-w", "a.txt"]);
    repository.write("a.txt", "a\n");
    repository.git(["replace", repository.git(["rev-parse", "HEAD:a.txt"]), fake]);
    await takeGitSnapshot({
      store: repository.store,
      rootDir: repository.root,
      name: "run",
      seq: 1,
      label: "x",
    });
    repository.write("a.txt", "broken\n");
    await restoreGitSnapshot({ rootDir: repository.root, runId: "run", seq: 1 });
    expect(repository.read("a.txt")).toBe("a\n");
  });
});
