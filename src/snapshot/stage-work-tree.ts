/**
 * Stages the current content of the root in our own index. Starts from HEAD, which shows which ignored files are
 * tracked. Outside the root, HEAD's content stays. It must never use `git add` or `git status`: those start git in
 * submodules, under the submodules' own config.
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ToolwrightError } from "../errors.ts";
import { quoted } from "../terminal/terminal-text.ts";
import type { Repository } from "./find-repository.ts";
import { acceptIndex } from "./index-cache.ts";
import type { PrivateGitDir } from "./private-git-dir.ts";
import { gitCommand, joinNul, splitNul } from "./run-git.ts";
import type { IsExcluded } from "./excluded-files.ts";

export interface StageRequest {
  /** The hash of the index that the last snapshot cached. */
  readonly indexHash: string | undefined;
  readonly isExcluded: IsExcluded;
}

export async function stageWorkTree(
  repository: Repository,
  own: PrivateGitDir,
  { indexHash, isExcluded }: StageRequest,
): Promise<void> {
  if (acceptIndex(own.index, indexHash)) {
    try {
      return await stage(repository, own, isExcluded);
    } catch (error) {
      if (ToolwrightError.is(error) && FINAL.has(error.code)) throw error;
      // A file changed while it was read: try once more from scratch.
      rmSync(own.index, { force: true });
    }
  }
  return stage(repository, own, isExcluded);
}

const FINAL: ReadonlySet<string> = new Set(["TOOL_ABORTED", "TOOL_TIMEOUT", "TOOL_DISK_FULL"]);

async function stage(repository: Repository, own: PrivateGitDir, isExcluded: IsExcluded): Promise<void> {
  const { git } = own.reading;
  const found = await compare(repository, own);
  const { gone, changed } = parseChanges(found.changes, isExcluded);
  const untracked = found.others.filter((path) => !isExcluded(path));
  const files = untracked.filter((path) => !path.endsWith("/"));
  // Removals first: a file may have become a folder, or a folder a link.
  if (gone.length > 0) await git(["update-index", "-z", "--force-remove", "--stdin"], input(gone));
  const add = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
  if (changed.length + files.length > 0) await git(add, input([...changed, ...files]));
  // A nested repository is stored as the id of its commit. Git refuses one without a commit.
  for (const path of untracked.filter((one) => one.endsWith("/"))) {
    await git(add, { ...input([path.slice(0, -1)]), accept: [0, 128] });
  }
}

/** How the work tree differs from HEAD. */
async function compare(
  { scope }: Repository,
  { reading: { setup, shell }, head, folder }: PrivateGitDir,
): Promise<{ readonly changes: readonly string[]; readonly others: readonly string[] }> {
  const [changes, others] = ["changes", "others"].map((name) => join(folder, name)) as [string, string];
  // With -m, entries equal to HEAD's keep their cached file information. With -i, the files are left alone.
  const start = head === undefined ? ["read-tree", "--empty"] : ["read-tree", "-m", "-i", head];
  const list = ["ls-files", "-z", "--others", "--exclude-standard", "--", ...scope];
  await shell(
    "git read-tree",
    [
      gitCommand(setup, start),
      `${gitCommand(setup, [...DIFF_FILES, "--", ...scope])} >${quoted(changes)}`,
      `${gitCommand(setup, list)} >${quoted(others)}`,
    ].join(" && "),
  );
  return { changes: splitNul(readFileSync(changes)), others: splitNul(readFileSync(others)) };
}

/** "dirty": compares only the commit of a submodule, by reading its HEAD. */
const DIFF_FILES = [
  "diff-files",
  "-z",
  "--name-status",
  "--no-renames",
  "--no-ext-diff",
  "--no-textconv",
  "--ignore-submodules=dirty",
];

function parseChanges(
  parts: readonly string[],
  isExcluded: IsExcluded,
): { gone: string[]; changed: string[] } {
  const gone: string[] = [];
  const changed: string[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const path = parts[at + 1] ?? "";
    if (!isExcluded(path)) (parts[at] === "D" ? gone : changed).push(path);
  }
  return { gone, changed };
}

function input(paths: readonly string[]): { input: Buffer } {
  return { input: joinNul(paths) };
}
