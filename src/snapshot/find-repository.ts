/**
 * Finds the repository whose work tree holds a folder, from the layout of its files. It must never ask the
 * repository's config where the work tree is: an agent may have written `core.worktree`.
 */
import { lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { ToolwrightError } from "../errors.ts";
import { unusableRoot } from "../sandbox/files/check-root.ts";
import { isInside } from "../sandbox/isolation/is-inside.ts";
import { findGit, type GitProgram } from "./git-program.ts";

export interface Repository {
  readonly program: GitProgram;
  /** The real path of the root, and of the work tree that holds it. */
  readonly root: string;
  readonly top: string;
  /** The root within the work tree as a pathspec: a list of one path, or empty where both are the same. */
  readonly scope: readonly string[];
  /** The git folder of this work tree, and the one that all work trees of the repository share. */
  readonly gitDir: string;
  readonly commonDir: string;
}

/** `undefined` where the folder is in no repository. */
export function findRepository(rootDir: string): Repository | undefined {
  const root = realRoot(rootDir);
  const found = findGitDir(root);
  if (found === undefined || isInside(root, found.gitDir)) return undefined;
  const { top, gitDir } = found;
  const program = findGit([root, resolve(rootDir)]);
  const scope = root === top ? [] : [relative(top, root)];
  return { program, root, top, scope, gitDir, commonDir: commonDirOf(gitDir) };
}

export function noRepository(rootDir: string): ToolwrightError {
  return new ToolwrightError(
    "TOOL_OPTION_INVALID",
    `Expected a folder in a git work tree; rootDir is ${JSON.stringify(rootDir)}.`,
    { hint: "Snapshots exist only for folders that git knows.", effect: "none" },
  );
}

function realRoot(rootDir: string): string {
  try {
    const real = realpathSync.native(resolve(rootDir));
    if (statSync(real).isDirectory()) return real;
  } catch {
    // The same answer as for a file.
  }
  throw unusableRoot(rootDir);
}

function findGitDir(root: string): { top: string; gitDir: string } | undefined {
  for (let top = root; ; top = dirname(top)) {
    const entry = join(top, ".git");
    const stats = statSync(entry, { throwIfNoEntry: false });
    // An empty `.git` folder is no repository, and git looks further up too.
    if (stats?.isDirectory() === true && exists(join(entry, "HEAD"))) {
      return { top, gitDir: realpathSync.native(entry) };
    }
    if (stats?.isFile() === true) return { top, gitDir: followGitFile(entry) };
    if (top === dirname(top)) return undefined;
  }
}

/** A linked work tree and a submodule have a file `.git` with one line, `gitdir: <path>`. */
function followGitFile(file: string): string {
  const target = /^gitdir: (.+?)[\r\n]*$/s.exec(readSmallFile(file) ?? "")?.[1];
  const gitDir = target === undefined ? undefined : resolve(dirname(file), target);
  if (gitDir === undefined || !exists(join(gitDir, "HEAD"))) {
    throw new ToolwrightError(
      "TOOL_COMMAND_FAILED",
      `The file .git of the work tree should lead to a git folder, and leads to ${JSON.stringify(target)}.`,
      { hint: "Repair it with `git worktree repair` or `git submodule update`.", effect: "none" },
    );
  }
  return realpathSync.native(gitDir);
}

function commonDirOf(gitDir: string): string {
  const target = readSmallFile(join(gitDir, "commondir"))?.replace(/[\r\n]+$/, "");
  return target === undefined ? gitDir : realpathSync.native(resolve(gitDir, target));
}

function readSmallFile(file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  // To open a pipe would wait for ever.
  return stats?.isFile() === true && stats.size <= 65_536 ? readFileSync(file, "utf8") : undefined;
}

/** Also as a link that leads nowhere: HEAD was one in old repositories. */
function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
