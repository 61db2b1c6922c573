/** A real repository in its own folder for the snapshot tests, and the parts of it that must not change. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { LazyStore } from "../../src/store/lazy-store.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { Store } from "../../src/store/store.ts";

export interface TestRepository extends Disposable {
  /** Holds the work tree, and files that a test puts next to it. */
  readonly base: string;
  readonly root: string;
  /** Stores the snapshots that a test takes. */
  readonly store: Store;
  /** Runs the user's git in the work tree, or in `cwd`; the output is trimmed. */
  git(args: readonly string[], cwd?: string): string;
  write(path: string, content: string | Buffer): void;
  read(path: string): string;
  /** An executable that leaves a mark when it is run, as a command line. */
  trap(name: string): string;
  /** The traps that ran. */
  trapped(): string[];
}

/** Has one commit of a.txt and sub/b.txt, unless `empty`. */
export function createRepository({ empty = false }: { empty?: boolean } = {}): TestRepository {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "git-snapshot-")));
  const root = join(base, "root");
  const traps = join(base, "traps");
  mkdirSync(root);
  const git = (args: readonly string[], cwd = root): string =>
    execFileSync("git", args, { cwd, encoding: "utf8", env: USER, stdio: "pipe", timeout: 20_000 }).trim();
  const write = (path: string, content: string | Buffer): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  };
  git(["init", "--quiet", "--initial-branch=main"]);
  if (!empty) {
    write("a.txt", "a\n");
    write("sub/b.txt", "b\n");
    git(["add", "-A"]);
    git(["commit", "--quiet", "-m", "first"]);
  }
  return {
    base,
    root,
    store: new LazyStore("sqlite", () => openStore(":memory:")),
    git,
    write,
    read: (path) => readFileSync(join(root, path), "utf8"),
    trap: (name) => {
      const file = join(traps, name);
      mkdirSync(traps, { recursive: true });
      writeFileSync(file, `#!/bin/sh\n: > '${file}.ran'\n`);
      chmodSync(file, 0o755);
      return file;
    },
    trapped: () => (existsSync(traps) ? readdirSync(traps).filter((name) => name.endsWith(".ran")) : []),
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
  };
}

/** Every byte of a git folder but objects, our refs and the index that snapshots keep. */
export function bytesOfGitDir(folder: string): Record<string, string> {
  const bytes: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const file = join(folder, name);
    if (/^objects\/|^refs\/toolwright(\/|$)|^toolwright-index$/.test(name)) continue;
    const stats = lstatSync(file);
    if (stats.isDirectory()) bytes[name] = "folder";
    else bytes[name] = `${stats.mtimeMs} ${readFileSync(file, "latin1")}`;
  }
  return bytes;
}

/** Every file of a work tree with its content, links as their targets; without git folders. */
export function filesOf(folder: string): Record<string, string> {
  const files: Record<string, string> = {};
  const visit = (above: string): void => {
    for (const entry of readdirSync(placeOf(above), { withFileTypes: true, encoding: "buffer" })) {
      const name = `${above}${entry.name.toString("latin1")}`;
      if (entry.isDirectory() && entry.name.toString() !== ".git") visit(`${name}/`);
      else if (entry.isSymbolicLink()) files[name] = `-> ${readlinkSync(placeOf(name))}`;
      else if (entry.isFile()) files[name] = readFileSync(placeOf(name), "latin1");
    }
  };
  const placeOf = (name: string): Buffer =>
    Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, "latin1")]);
  visit("");
  delete files[".git"];
  return files;
}

const USER = {
  PATH: process.env["PATH"] ?? "",
  HOME: tmpdir(),
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "User",
  GIT_AUTHOR_EMAIL: "user@example.com",
  GIT_COMMITTER_NAME: "User",
  GIT_COMMITTER_EMAIL: "user@example.com",
};
