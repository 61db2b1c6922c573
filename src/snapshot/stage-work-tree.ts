/**
 * Writes the present content of the root as a tree object. Starts from HEAD, which says what is tracked although it
 * is ignored; outside the root HEAD's content stays. It must never use `git add` or `git status`: those start git in
 * submodules, under the submodules' own config.
 */
import { ToolwrightError } from "../errors.ts";
import type { Repository } from "./find-repository.ts";
import { dropIndex, loadIndex, saveIndex } from "./index-cache.ts";
import type { PrivateGitDir } from "./private-git-dir.ts";
import { joinNul, splitNul } from "./run-git.ts";

/** Returns the tree's object id. */
export async function stageWorkTree(
  repository: Repository,
  own: PrivateGitDir,
  head: string | undefined,
): Promise<string> {
  const { gitDir } = repository;
  if (loadIndex(gitDir, own.index)) {
    try {
      return await stage(repository, own, head);
    } catch (error) {
      if (ToolwrightError.is(error) && FINAL.has(error.code)) throw error;
      // The kept index may be damaged, or a file changed under our eyes: once more, from nothing.
      dropIndex(gitDir);
    }
  }
  await own.git(["read-tree", "--empty"]);
  return stage(repository, own, head);
}

const FINAL: ReadonlySet<string> = new Set(["TOOL_ABORTED", "TOOL_TIMEOUT", "TOOL_DISK_FULL"]);

async function stage({ gitDir, scope }: Repository, own: PrivateGitDir, head: string | undefined) {
  const { git } = own;
  // With -m, entries equal to HEAD's keep what the index knows of their files; -i leaves the files alone.
  await git(head === undefined ? ["read-tree", "--empty"] : ["read-tree", "-m", "-i", head]);
  const [changes, others] = await Promise.all([
    git([...DIFF_FILES, "--", ...scope]),
    git(["ls-files", "-z", "--others", "--exclude-standard", "--", ...scope]),
  ]);
  const { gone, changed } = parseChanges(splitNul(changes));
  const untracked = splitNul(others);
  const files = untracked.filter((path) => !path.endsWith("/"));
  // First what is gone: a file may have become a folder, or a folder a link.
  if (gone.length > 0) await git(["update-index", "-z", "--force-remove", "--stdin"], input(gone));
  const add = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
  if (changed.length + files.length > 0) await git(add, input([...changed, ...files]));
  // Another repository inside is kept as the id of its commit. One without a commit cannot be, and git refuses it.
  for (const path of untracked.filter((one) => one.endsWith("/"))) {
    await git(add, { ...input([path.slice(0, -1)]), accept: [0, 128] });
  }
  const tree = (await git(["write-tree"])).toString().trim();
  saveIndex(gitDir, own.index);
  return tree;
}

/** "dirty": only the commit of a submodule is compared, by a look at its HEAD. */
const DIFF_FILES = [
  "diff-files",
  "-z",
  "--name-status",
  "--no-renames",
  "--no-ext-diff",
  "--no-textconv",
  "--ignore-submodules=dirty",
];

function parseChanges(parts: readonly string[]): { gone: string[]; changed: string[] } {
  const gone: string[] = [];
  const changed: string[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    (parts[at] === "D" ? gone : changed).push(parts[at + 1] ?? "");
  }
  return { gone, changed };
}

function input(paths: readonly string[]): { input: Buffer } {
  return { input: joinNul(paths) };
}
