/**
 * Finds the repository whose work tree contains a folder, from the layout of its files. It must never follow a link
 * in the root, nor use a configuration in the root to find the work tree: an agent may have written both.
 */
import { constants, lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { ToolwrightError } from "../errors.ts";
import { unusableRoot } from "../sandbox/files/check-root.ts";
import { isInside } from "../sandbox/is-inside.ts";
import { readPlainFile } from "../sandbox/read-plain-file.ts";
import { findGit, type GitProgram } from "./git-program.ts";

export interface Repository {
  readonly program: GitProgram;
  /** The real paths of the root and of the work tree that contains it. */
  readonly root: string;
  readonly top: string;
  /** The root within the work tree as a pathspec: a list of one path, or empty if both are the same. */
  readonly scope: readonly string[];
  /** The git folder of this work tree, and the git folder that all work trees of the repository share. */
  readonly gitDir: string;
  readonly commonDir: string;
}

/** `undefined` if the folder is not in a repository. */
export function findRepository(rootDir: string): Repository | undefined {
  const root = realRoot(rootDir);
  const found = findGitDir(root);
  if (found === undefined || isInside(root, found.gitDir)) return undefined;
  const { top, gitDir, commonDir } = found;
  const program = findGit([root, resolve(rootDir)]);
  const scope = root === top ? [] : [relative(top, root)];
  return { program, root, top, scope, gitDir, commonDir };
}

/** Paths outside the root that git has to see. An agent cannot write them. */
export function pathsOutside({ root, top, commonDir }: Repository): string[] {
  const paths = isInside(commonDir, root) ? [] : [commonDir];
  for (let folder = root; folder !== top;) {
    folder = dirname(folder);
    const rules = join(folder, ".gitignore");
    if (lstatSync(rules, { throwIfNoEntry: false })?.isFile() === true) paths.push(rules);
  }
  return paths;
}

export function noRepository(rootDir: string): ToolwrightError {
  return new ToolwrightError(
    "TOOL_OPTION_INVALID",
    `Expected a folder in a git work tree; rootDir is ${JSON.stringify(rootDir)}.`,
    { hint: "Snapshots work only in git work trees.", effect: "none" },
  );
}

function realRoot(rootDir: string): string {
  try {
    const real = realpathSync.native(resolve(rootDir));
    if (statSync(real).isDirectory()) return real;
  } catch {
    // Handled like a file.
  }
  throw unusableRoot(rootDir);
}

interface GitFolders {
  readonly top: string;
  readonly gitDir: string;
  readonly commonDir: string;
}

function findGitDir(root: string): GitFolders | undefined {
  for (let top = root; ; top = dirname(top)) {
    const entry = join(top, ".git");
    const stats = lstatSync(entry, { throwIfNoEntry: false });
    if (stats?.isSymbolicLink() === true) throw untrusted(".git is a link");
    // An empty `.git` folder is not a repository, and git searches further up too.
    if (stats?.isDirectory() === true && exists(join(entry, "HEAD"))) {
      if (exists(join(entry, "commondir"))) throw untrusted(".git/commondir leads to another folder");
      return { top, gitDir: entry, commonDir: entry };
    }
    if (stats?.isFile() === true) return followGitFile(top, entry);
    if (top === dirname(top)) return undefined;
  }
}

/**
 * A linked work tree and a submodule have a `.git` file with one line, `gitdir: <path>`. An agent may have written
 * it, so the folder that it names counts only if that folder names this work tree, which an agent cannot forge.
 */
function followGitFile(top: string, file: string): GitFolders {
  const target = /^gitdir: (.+?)[\r\n]*$/s.exec(readSmallFile(file) ?? "")?.[1];
  const path = target === undefined ? undefined : resolve(top, target);
  if (path === undefined || !exists(join(path, "HEAD"))) {
    throw new ToolwrightError(
      "TOOL_COMMAND_FAILED",
      `The file .git of the work tree should lead to a git folder, and leads to ${JSON.stringify(target)}.`,
      { hint: "Repair it with `git worktree repair` or `git submodule update`.", effect: "none" },
    );
  }
  const gitDir = realpathSync.native(path);
  if (isInside(gitDir, top)) throw untrusted(".git leads to a folder of the work tree");
  if (workTreeOf(gitDir) !== top)
    throw untrusted("the git folder that .git names belongs to another work tree");
  const common = readSmallFile(join(gitDir, "commondir"))?.replace(/[\r\n]+$/, "");
  return {
    top,
    gitDir,
    commonDir: common === undefined ? gitDir : realpathSync.native(resolve(gitDir, common)),
  };
}

/** `git worktree` stores the path of the work tree in a file, `git submodule` in the configuration. */
function workTreeOf(gitDir: string): string | undefined {
  const linked = readSmallFile(join(gitDir, "gitdir"))?.replace(/[\r\n]+$/, "");
  const named =
    linked === undefined
      ? /^\s*worktree\s*=\s*"?(.+?)"?\s*$/m.exec(readSmallFile(join(gitDir, "config")) ?? "")?.[1]
      : dirname(resolve(gitDir, linked));
  try {
    return named === undefined ? undefined : realpathSync.native(resolve(gitDir, named));
  } catch {
    return undefined; // The named folder is gone.
  }
}

function untrusted(why: string): ToolwrightError {
  return new ToolwrightError("TOOL_PATH_PROTECTED", `No snapshot is taken or restored, because ${why}.`, {
    hint:
      "Snapshots need a .git folder, or a .git file whose target names this work tree (`git worktree repair`; for a " +
      "separate git folder, `git config core.worktree <folder>` in it).",
    effect: "none",
  });
}

function readSmallFile(file: string): string | undefined {
  return readPlainFile(file, 65_536, constants.O_NOFOLLOW);
}

/** Also true for a dangling link: HEAD was one in old repositories. */
function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
