import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { isMainThread } from "node:worker_threads";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { guardCommand, type CommandGuard } from "./guard-command.ts";
import { planProtections } from "./plan-protections.ts";

const isRoot = process.getuid?.() === 0;
const EVIL = "[core]\n\tbare = false\n\tfsmonitor = ./evil # mine\n";
let root = "";
let close = (): void => {};
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "guard-")));
});
afterEach(() => {
  close();
  rmSync(root, { recursive: true });
});

const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;

/** For root, every folder can be listed. Threads of vitest cannot change their user. */
const canBecomeOther = isRoot && process.seteuid !== undefined && isMainThread;
function asOther(work: () => void): void {
  if (isRoot) process.seteuid?.(65_534);
  try {
    work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

/** As if a command ran from now on. */
function guard(readOnly: readonly string[] = []): CommandGuard {
  const plan = planProtections({ root, hidden: [], readOnly, rootReadOnly: false });
  close = () => plan.close();
  return guardCommand(plan, "bwrap");
}

function makeRepository(path: string): string {
  const folder = join(root, path, ".git");
  for (const name of ["objects", "refs", "hooks"]) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(folder, "config"), EVIL);
  writeFileSync(join(folder, "hooks/pre-commit"), "#!/bin/sh\n", { mode: 0o755 });
  return folder;
}

test("a protected file that is removed and comes back has lost its mount, so the command is stopped", async () => {
  const [file, other] = [join(root, "toolwright.config.ts"), join(root, "other")];
  writeFileSync(file, "");
  const running = guard();
  const stopped = new AbortController();
  running.start(() => stopped.abort());
  while (!stopped.signal.aborted) {
    linkSync(file, other);
    unlinkSync(file);
    renameSync(other, file);
    await new Promise((done) => setTimeout(done, 5));
  }
  expect(() => running.finish()).toThrow(/"toolwright.config.ts" was replaced/);
});

test("git's settings that are replaced stay, and the error names what git would run", () => {
  const folder = makeRepository(".");
  writeFileSync(join(folder, "config"), "[core]\n\tbare = false\n");
  const running = guard();
  writeFileSync(join(root, "new"), EVIL);
  renameSync(join(root, "new"), join(folder, "config"));
  expect(() => running.finish()).toThrow(
    /".git\/config" was replaced .* Check what git would run from there: core.fsmonitor, hooks\/pre-commit\./,
  );
  expect(readFileSync(join(folder, "config"), "utf8")).toBe(EVIL);
});

test("links in a git folder that lead out of the root are removed, so that git writes nothing there", () => {
  const out = realpathSync(mkdtempSync(join(tmpdir(), "guard-out-")));
  const git = makeRepository(".");
  writeFileSync(join(git, "config"), "[core]\n\tbare = false\n");
  for (const name of ["logs/refs", "objects/info", "info"]) mkdirSync(join(git, name), { recursive: true });
  symlinkSync(out, join(git, "mine"));
  symlinkSync("../inside", join(git, "inside"));
  let running = guard();
  const links = [
    "logs/HEAD",
    "logs/refs/heads",
    "COMMIT_EDITMSG",
    "index",
    "objects/ab",
    "objects/info/x",
    "info/y",
  ];
  for (const name of links) symlinkSync(join(out, "bashrc"), join(git, name));
  expect(() => running.finish()).toThrow(/through which git would write outside the root/);
  expect(links.filter((name) => existsSync(join(git, name)) || isLink(join(git, name)))).toEqual([]);
  // Those that were there, and those within the root, stay.
  expect([isLink(join(git, "mine")), isLink(join(git, "inside"))]).toEqual([true, true]);
  close();
  // A later command may turn a harmless link into one that leads out.
  mkdirSync(join(root, "way"));
  symlinkSync("../way/file", join(git, "FETCH_HEAD"));
  running = guard();
  rmSync(join(root, "way"), { recursive: true });
  symlinkSync(out, join(root, "way"));
  expect(() => running.finish()).toThrow(/FETCH_HEAD/);
  expect(isLink(join(git, "FETCH_HEAD"))).toBe(false);
  rmSync(out, { recursive: true });
});

test("links in a git folder that lead to protected files are removed, so that git writes nothing there", () => {
  const git = makeRepository(".");
  writeFileSync(join(git, "config"), "[core]\n\tbare = false\n");
  writeFileSync(join(root, "toolwright.config.ts"), "");
  mkdirSync(join(git, "logs/refs/heads"), { recursive: true });
  mkdirSync(join(git, "objects/pack"));
  symlinkSync("config", join(git, "mine"));
  symlinkSync("/nowhere/mine", join(git, "moved"));
  const running = guard();
  const links: readonly (readonly [string, string])[] = [
    ["MERGE_MSG", "config"],
    ["SQUASH_MSG", "hooks/pre-commit"],
    ["COMMIT_EDITMSG", "hooks/not-there"],
    ["MERGE_HEAD", "rebase-merge/git-rebase-todo"],
    ["logs/HEAD", "../../toolwright.config.ts"],
    ["AUTO_MERGE", "../deep/toolwright.config.mjs"],
    // A branch named `x/hooks/pre-commit` has its log there.
    ["logs/refs/heads/x", "../../.."],
    ["objects/pack/multi-pack-index", "/nowhere/file"],
    ["moved", "/nowhere/other"],
    // Spelled as a plain file of the root, which is not where it leads.
    ["TAG_EDITMSG", "../way/../config"],
  ];
  symlinkSync(".git/objects", join(root, "way"));
  rmSync(join(git, "moved"));
  for (const [name, target] of links) symlinkSync(target, join(git, name));
  symlinkSync("../plain", join(git, "description"));
  expect(() => running.finish()).toThrow(/MERGE_MSG" \(to "config"\), through which git would write/);
  expect(links.filter(([name]) => isLink(join(git, name)))).toEqual([]);
  expect([isLink(join(git, "mine")), isLink(join(git, "description"))]).toEqual([true, true]);
});

test("refs through which git would write to its other files are removed", () => {
  const git = makeRepository(".");
  writeFileSync(join(git, "config"), "[core]\n\tbare = false\n");
  for (const name of ["refs/heads", "refs/tags", "worktrees/w/refs/bisect"])
    mkdirSync(join(git, name), { recursive: true });
  writeFileSync(join(git, "refs/heads/mine"), "ref: mine");
  const running = guard();
  const forged: readonly (readonly [string, string])[] = [
    ["ORIG_HEAD", "ref: commondir\n"],
    ["refs/heads/spaces", "ref:\n\t commondir \r\n "],
    ["refs/tags/zero", "ref: hooks/x\0"],
    ["refs/tags/large", `ref: ${" ".repeat(70_000)}commondir`],
    ["refs/x", "ref: main-worktree/commondir"],
    ["refs/y", "ref: ORIG"],
    ["worktrees/w/HEAD", "ref: worktrees/w/commondir"],
    ["worktrees/w/refs/bisect/bad", "ref: config.worktree"],
  ];
  for (const [name, text] of forged) writeFileSync(join(git, name), text);
  symlinkSync("../plain", join(git, "FETCH_HEAD"));
  symlinkSync("../../plain", join(git, "refs/linked"));
  symlinkSync("refs/../plain", join(git, "X_HEAD"));
  const kept: readonly (readonly [string, string])[] = [
    ["HEAD", "ref: refs/heads/main\n"],
    ["refs/heads/id", `${"0".repeat(40)}\n`],
    ["refs/heads/named", "ref: refs/heads/x\n"],
    ["worktrees/w/ORIG_HEAD", "ref: main-worktree/HEAD\n"],
    ["COMMIT_EDITMSG", "ref: commondir\n"],
  ];
  for (const [name, text] of kept) writeFileSync(join(git, name), text);
  symlinkSync("refs/heads/main", join(git, "CHERRY_PICK_HEAD"));
  expect(() => running.finish()).toThrow(/symbolic ref ".git\/ORIG_HEAD" \(to "commondir"\)/);
  const names = [...forged.map(([name]) => name), "FETCH_HEAD", "X_HEAD", "refs/linked"];
  expect(names.filter((name) => existsSync(join(git, name)) || isLink(join(git, name)))).toEqual([]);
  expect(kept.map(([name]) => readFileSync(join(git, name), "utf8"))).toEqual(kept.map(([, text]) => text));
  expect(readFileSync(join(git, "refs/heads/mine"), "utf8")).toBe("ref: mine");
  expect(isLink(join(git, "CHERRY_PICK_HEAD"))).toBe(true);
});

test("what a rebase updates in the end can only be refs", () => {
  const git = makeRepository(".");
  writeFileSync(join(git, "config"), "[core]\n\tbare = false\n");
  mkdirSync(join(git, "rebase-merge"));
  const list = join(git, "rebase-merge/update-refs");
  const [branch, id] = ["refs/heads/b", "0".repeat(40)];
  const running = guard();
  writeFileSync(list, [branch, id, id, "commondir\r", id, id].join("\n"));
  expect(() => running.finish()).toThrow(/update-refs" \(commondir\)/);
  expect(readFileSync(list, "utf8")).toBe(`${branch}\n${id}\n${id}\n`);
});

test.runIf(!isRoot || canBecomeOther)("links in a folder that a command made unlistable are removed", () => {
  const git = makeRepository(".");
  writeFileSync(join(git, "config"), "[core]\n\tbare = false\n");
  mkdirSync(join(git, "logs/refs"), { recursive: true });
  if (isRoot) execFileSync("chown", ["-R", "65534:65534", root]);
  asOther(() => {
    const running = guard();
    symlinkSync("/nowhere", join(git, "logs/HEAD"));
    symlinkSync("/nowhere", join(git, "logs/refs/x"));
    for (const name of ["logs/refs", "logs", "."]) chmodSync(join(git, name), 0o300);
    expect(() => running.finish()).toThrow(
      /permission to list or enter the folder ".git".*"\.git\/logs\/HEAD"/s,
    );
    expect([isLink(join(git, "logs/HEAD")), isLink(join(git, "logs/refs/x"))]).toEqual([false, false]);
  });
});

test.runIf(!isRoot || canBecomeOther)(
  "a repository is turned off below many folders that cannot be listed, or in one that cannot be entered",
  () => {
    if (isRoot) execFileSync("chown", ["-R", "65534:65534", root]);
    asOther(() => {
      const running = guard();
      const chain = Array.from({ length: 70 }, () => "d");
      const inner = makeRepository(chain.join("/"));
      for (let depth = chain.length; depth > 0; depth -= 1)
        chmodSync(join(root, ...chain.slice(0, depth)), 0o311);
      const other = makeRepository("listed/inner");
      chmodSync(join(root, "listed"), 0o600);
      const odd = Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff])]);
      mkdirSync(odd);
      renameSync(dirname(makeRepository("moved/inner")), Buffer.concat([odd, Buffer.from("/inner")]));
      chmodSync(odd, 0o311);
      expect(() => running.finish()).toThrow(/the folder "listed".*the folder "\uFFFD"/s);
      expect([inner, other].map((git) => readFileSync(join(git, "config"), "utf8"))).toEqual([
        expect.stringContaining("#| "),
        expect.stringContaining("#| "),
      ]);
      const config = Buffer.concat([odd, Buffer.from("/inner/.git/config")]);
      expect(readFileSync(config, "utf8")).toContain("#| ");
      expect(lstatSync(join(root, "d")).mode & 0o777).toBe(0o711);
    });
  },
);

test("a repository is turned off however deep it is below a name that is not UTF-8", () => {
  const running = guard();
  const odd = Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff])]);
  const folder = Buffer.concat([odd, Buffer.from("/a".repeat(300))]);
  mkdirSync(folder, { recursive: true });
  renameSync(makeRepository("moved"), Buffer.concat([folder, Buffer.from("/.git")]));
  expect(() => running.finish()).toThrow(/a\/\.git" appeared or changed/);
  expect(readFileSync(Buffer.concat([folder, Buffer.from("/.git/config")]), "utf8")).toContain("#| ");
});

/** An index with one path. */
const indexOf = (name: string): Buffer =>
  Buffer.concat([
    Buffer.from("DIRC\0\0\0\x02\0\0\0\x01", "latin1"),
    Buffer.alloc(61),
    Buffer.from([name.length]),
    Buffer.from(name),
    Buffer.alloc(40),
  ]);

test("forged lists of paths and options that write files are removed", () => {
  const git = makeRepository(".");
  writeFileSync(join(git, "config"), "[core]\n\tbare = false\n");
  const running = guard();
  writeFileSync(join(git, "index"), indexOf("../victim"));
  writeFileSync(join(git, "MERGE_RR"), `${"0".repeat(40)}\t../key\0`);
  mkdirSync(join(git, "rebase-apply"));
  writeFileSync(join(git, "rebase-apply/apply-opt"), " '-p2' '--build-fake-ancestor=/etc/x' '--directory=a'");
  expect(() => running.finish()).toThrow(
    /".git\/index" that git never lists \("..\/victim"\).*MERGE_RR.*apply-opt/s,
  );
  expect([existsSync(join(git, "index")), existsSync(join(git, "MERGE_RR"))]).toEqual([false, false]);
  expect(readFileSync(join(git, "rebase-apply/apply-opt"), "utf8")).toBe(" '-p2' '--directory=a'");
});

test("forged lists and links are removed below folders whose names are not UTF-8", () => {
  const running = guard();
  const folder = Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff])]);
  const below = (path: string): Buffer => Buffer.concat([folder, Buffer.from(path)]);
  mkdirSync(folder);
  renameSync(makeRepository("made"), below("/.git"));
  writeFileSync(below("/.git/config"), "");
  writeFileSync(below("/.git/index"), indexOf("../victim"));
  symlinkSync("/nowhere", below("/.git/COMMIT_EDITMSG"));
  symlinkSync("config", below("/.git/MERGE_MSG"));
  expect(() => running.finish()).toThrow(/index, COMMIT_EDITMSG, MERGE_MSG, hooks\/pre-commit/);
  expect(readdirSync(below("/.git")).toSorted()).toEqual(["HEAD", "config", "hooks", "objects", "refs"]);
});

describe("a repository that was there, but incomplete", () => {
  test.each([
    ["an empty .git", () => mkdirSync(join(root, "sub/.git"), { recursive: true })],
    ["a submodule with hooks only", () => mkdirSync(join(root, ".git/modules/a/hooks"), { recursive: true })],
  ])("%s gets no settings and no hooks from a command", (name, make) => {
    make();
    const running = guard();
    const folder = name.includes("hooks") ? join(root, ".git/modules/a") : join(root, "sub/.git");
    const made = makeRepository("made");
    // The hooks of the submodule are read-only for a command.
    for (const part of name.includes("hooks") ? ["HEAD", "objects", "refs", "config"] : readdirSync(made))
      renameSync(join(made, part), join(folder, part));
    rmSync(join(root, "made"), { recursive: true });
    expect(() => running.finish()).toThrow("core.fsmonitor");
    expect(readFileSync(join(folder, "config"), "utf8")).toContain("#| ");
    expect(lstatSync(join(folder, "hooks")).isDirectory()).toBe(true);
  });

  test("is replaced by a folder that was protected elsewhere: its settings are turned off", () => {
    const [git, other] = [makeRepository("."), makeRepository("other")];
    for (const folder of [git, other]) writeFileSync(join(folder, "config"), "[core]\n\tbare = false\n");
    const running = guard();
    renameSync(git, join(root, "kept"));
    renameSync(other, git);
    writeFileSync(join(git, "config"), EVIL);
    expect(() => running.finish()).toThrow("core.fsmonitor");
    expect(readFileSync(join(git, "config"), "utf8")).toContain("#| ");
  });

  test("settings of a work tree stay off, even if git does not read them yet", () => {
    const git = makeRepository(".");
    writeFileSync(join(git, "config"), "[core]\n\tbare = false\n");
    const running = guard();
    writeFileSync(join(git, "config.worktree"), EVIL);
    expect(() => running.finish()).toThrow("core.fsmonitor");
    expect(readFileSync(join(git, "config.worktree"), "utf8")).toContain("#| ");
    expect(lstatSync(join(git, "hooks/pre-commit")).mode & 0o111).toBe(0o111);
  });
});

describe("a repository with a program that appears while a command runs", () => {
  test("is turned off, and its settings can be restored", () => {
    const running = guard();
    const folder = makeRepository("new");
    expect(() => running.finish()).toThrow(/core.fsmonitor, hooks\/pre-commit/);
    expect(() => execFileSync("git", ["config", "-f", join(folder, "config"), "core.fsmonitor"])).toThrow(
      "Command failed",
    );
    const restored = execFileSync("sed", ["-n", "s/^#| //p", join(folder, "config")], { encoding: "utf8" });
    expect(restored.trimEnd()).toBe(EVIL.trimEnd());
  });

  test("stays as it is in a folder that the command could not change", () => {
    mkdirSync(join(root, "vendor/deep"), { recursive: true });
    const running = guard(["vendor"]);
    const folder = makeRepository("vendor/deep/new");
    running.finish();
    expect(readFileSync(join(folder, "config"), "utf8")).toBe(EVIL);
  });

  test.runIf(isRoot)("stays as it is if another user made it, unless it was only moved", () => {
    const give = (path: string): void => void execFileSync("chown", ["-R", "65534:65534", path]);
    const fixture = makeRepository("fixture");
    renameSync(fixture, join(root, "fixture/plain"));
    give(join(root, "fixture"));
    const running = guard();
    const folder = makeRepository("new");
    give(join(root, "new"));
    // A command may rename a folder of another user within its parent.
    renameSync(join(root, "fixture/plain"), fixture);
    expect(() => running.finish()).toThrow(/"fixture\/.git"/);
    expect(readFileSync(join(folder, "config"), "utf8")).toBe(EVIL);
    expect(readFileSync(join(fixture, "config"), "utf8")).not.toBe(EVIL);
  });

  test.runIf(isRoot)("is turned off if another user made it and the command could change it", () => {
    const running = guard();
    const folder = makeRepository("new");
    execFileSync("chown", ["-R", "65534:65534", join(root, "new")]);
    execFileSync("chmod", ["666", join(folder, "config")]);
    expect(() => running.finish()).toThrow(/core.fsmonitor/);
  });
});

describe("a link on the way to what git runs or obeys", () => {
  const program = "#!/bin/sh\n";
  const isProgram = (path: string): boolean => (lstatSync(join(root, path)).mode & 0o111) !== 0;
  /** `kept` is where each link leads; git uses `link`, or something in it. */
  const prepare = (settings: string): CommandGuard => {
    writeFileSync(join(makeRepository("."), "config"), `[core]\n\tbare = false\n${settings}`);
    mkdirSync(join(root, "kept"), { recursive: true });
    writeFileSync(join(root, "kept/program"), program, { mode: 0o755 });
    writeFileSync(join(root, "kept/settings"), "");
    return guard();
  };
  const replaced = /"link" was replaced/;

  test.each([
    ["another link", () => symlinkSync("evil", join(root, "link"))],
    ["nothing", () => undefined],
  ])("comes back if a command replaces it by %s", (_, plant) => {
    symlinkSync("kept/program", join(root, "link"));
    const running = prepare('[filter "f"]\n\tclean = ./link\n');
    unlinkSync(join(root, "link"));
    plant();
    expect(() => running.finish()).toThrow(replaced);
    expect(readlinkSync(join(root, "link"))).toBe("kept/program");
  });

  test("leads to a program: a file in its place stays, and cannot be run", () => {
    symlinkSync("kept/program", join(root, "link"));
    const running = prepare('[filter "f"]\n\tclean = ./link %f\n');
    unlinkSync(join(root, "link"));
    writeFileSync(join(root, "link"), program, { mode: 0o755 });
    expect(() => running.finish()).toThrow(replaced);
    expect(readFileSync(join(root, "link"), "utf8")).toBe(program);
    expect(isProgram("link")).toBe(false);
  });

  test("is the hooks folder of a root that is a git folder itself: a folder in its place has no programs", () => {
    for (const name of ["objects", "refs", "mine"]) mkdirSync(join(root, name));
    writeFileSync(join(root, "HEAD"), "ref: refs/heads/main\n");
    writeFileSync(join(root, "config"), EVIL);
    symlinkSync("mine", join(root, "hooks"));
    const running = guard();
    unlinkSync(join(root, "hooks"));
    mkdirSync(join(root, "hooks"));
    writeFileSync(join(root, "hooks/update"), "#!/bin/sh\n", { mode: 0o755 });
    expect(() => running.finish()).toThrow(/"hooks" was replaced/);
    expect(lstatSync(join(root, "hooks/update")).mode & 0o111).toBe(0);
    expect(readFileSync(join(root, "config"), "utf8")).toBe(EVIL);
  });

  test("is the second of two that a hook leads through", () => {
    symlinkSync("kept/program", join(root, "link"));
    mkdirSync(join(root, ".git/hooks"), { recursive: true });
    symlinkSync("../../link", join(root, ".git/hooks/pre-push"));
    const running = prepare("");
    unlinkSync(join(root, "link"));
    writeFileSync(join(root, "link"), program, { mode: 0o755 });
    expect(() => running.finish()).toThrow(replaced);
    expect(isProgram("link")).toBe(false);
  });

  test("is reached through a link outside the root", () => {
    const outside = `${root}-outside`;
    symlinkSync(join(root, "link"), outside);
    try {
      symlinkSync("kept/program", join(root, "link"));
      const running = prepare(`\tfsmonitor = ${outside}\n`);
      unlinkSync(join(root, "link"));
      writeFileSync(join(root, "link"), program, { mode: 0o755 });
      expect(() => running.finish()).toThrow(replaced);
      expect(isProgram("link")).toBe(false);
    } finally {
      unlinkSync(outside);
    }
  });

  test("leads to a folder of hooks: the hooks of a folder in its place cannot be run", () => {
    symlinkSync("kept", join(root, "link"));
    const running = prepare("\thooksPath = link/hooks\n");
    unlinkSync(join(root, "link"));
    mkdirSync(join(root, "link/hooks"), { recursive: true });
    writeFileSync(join(root, "link/hooks/pre-commit"), program, { mode: 0o755 });
    expect(() => running.finish()).toThrow(replaced);
    expect(isProgram("link/hooks/pre-commit")).toBe(false);
  });

  test("leads to settings: those of a file in its place become comments", () => {
    symlinkSync("kept/settings", join(root, "link"));
    const running = prepare("[include]\n\tpath = ../link\n");
    unlinkSync(join(root, "link"));
    writeFileSync(join(root, "link"), EVIL);
    expect(() => running.finish()).toThrow(replaced);
    expect(readFileSync(join(root, "link"), "utf8")).toMatch(/^#\| \tfsmonitor = .\/evil # mine$/m);
    expect(readFileSync(join(root, "link"), "utf8")).not.toMatch(/^\s*fsmonitor/m);
  });

  test("leads through another link to nothing: the program is created and protected", () => {
    symlinkSync("later", join(root, "link"));
    mkdirSync(join(root, ".git/hooks"), { recursive: true });
    symlinkSync("../../link", join(root, ".git/hooks/pre-push"));
    prepare("");
    expect(readFileSync(join(root, "later"), "utf8")).toBe("");
  });

  test("leads to nothing: its target is created and protected, and the folder of the target cannot be moved", () => {
    mkdirSync(join(root, "a/b"), { recursive: true });
    symlinkSync("../../later", join(root, "a/b/link"));
    writeFileSync(join(makeRepository("."), "config"), "[core]\n\thooksPath = a/b/link\n");
    const plan = planProtections({ root, hidden: [], readOnly: [], rootReadOnly: false });
    close = () => plan.close();
    expect(lstatSync(join(root, "later")).isDirectory()).toBe(true);
    const kinds = plan.protections.map(({ kind, path }) => `${kind} ${path.slice(root.length + 1)}`);
    expect(kinds).toEqual(expect.arrayContaining(["readOnly later", "pin a", "pin a/b"]));
  });
});

test("hooks of a new repository where the user's own settings look for them cannot be run", () => {
  const settings = join(root, "user-settings");
  writeFileSync(settings, "[core]\n\thooksPath = .githooks\n");
  vi.stubEnv("GIT_CONFIG_GLOBAL", settings);
  try {
    const running = guard();
    writeFileSync(join(makeRepository("sub"), "config"), "[core]\n\tbare = false\n");
    const hook = join(root, "sub/.githooks/pre-commit");
    mkdirSync(dirname(hook));
    writeFileSync(hook, "#!/bin/sh\n", { mode: 0o755 });
    expect(() => running.finish()).toThrow(/"sub\/.git" appeared/);
    expect(lstatSync(hook).mode & 0o111).toBe(0);
  } finally {
    vi.unstubAllEnvs();
  }
});
