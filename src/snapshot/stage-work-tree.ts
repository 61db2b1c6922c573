/**
 * Reads the present content of the root into an index of ours. Starts from HEAD, which says what is tracked although it
 * is ignored; outside the root HEAD's content stays. It must never use `git add` or `git status`: those start git in
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
import type { IsUnkept } from "./unkept-files.ts";

export interface StageRequest {
  /** Of the index that the last snapshot kept. */
  readonly indexHash: string | undefined;
  readonly isUnkept: IsUnkept;
}

export async function stageWorkTree(
  repository: Repository,
  own: PrivateGitDir,
  { indexHash, isUnkept }: StageRequest,
): Promise<void> {
  if (acceptIndex(own.index, indexHash)) {
    try {
      return await stage(repository, own, isUnkept);
    } catch (error) {
      if (ToolwrightError.is(error) && FINAL.has(error.code)) throw error;
      // A file changed while it was read: once more, from nothing.
      rmSync(own.index, { force: true });
    }
  }
  return stage(repository, own, isUnkept);
}

const FINAL: ReadonlySet<string> = new Set(["TOOL_ABORTED", "TOOL_TIMEOUT", "TOOL_DISK_FULL"]);

async function stage(repository: Repository, own: PrivateGitDir, isUnkept: IsUnkept): Promise<void> {
  const { git } = own.reading;
  const found = await compare(repository, own);
  const { gone, changed } = parseChanges(found.changes, isUnkept);
  const untracked = found.others.filter((path) => !isUnkept(path));
  const files = untracked.filter((path) => !path.endsWith("/"));
  // First what is gone: a file may have become a folder, or a folder a link.
  if (gone.length > 0) await git(["update-index", "-z", "--force-remove", "--stdin"], input(gone));
  const add = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
  if (changed.length + files.length > 0) await git(add, input([...changed, ...files]));
  // Another repository inside is kept as the id of its commit. One without a commit cannot be, and git refuses it.
  for (const path of untracked.filter((one) => one.endsWith("/"))) {
    await git(add, { ...input([path.slice(0, -1)]), accept: [0, 128] });
  }
}

/** What of the work tree is not as HEAD has it. */
async function compare(
  { scope }: Repository,
  { reading: { place, shell }, head, folder }: PrivateGitDir,
): Promise<{ readonly changes: readonly string[]; readonly others: readonly string[] }> {
  const [changes, others] = ["changes", "others"].map((name) => join(folder, name)) as [string, string];
  // With -m, entries equal to HEAD's keep what the index knows of their files; -i leaves the files alone.
  const start = head === undefined ? ["read-tree", "--empty"] : ["read-tree", "-m", "-i", head];
  const list = ["ls-files", "-z", "--others", "--exclude-standard", "--", ...scope];
  await shell(
    "git read-tree",
    [
      gitCommand(place, start),
      `${gitCommand(place, [...DIFF_FILES, "--", ...scope])} >${quoted(changes)}`,
      `${gitCommand(place, list)} >${quoted(others)}`,
    ].join(" && "),
  );
  return { changes: splitNul(readFileSync(changes)), others: splitNul(readFileSync(others)) };
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

function parseChanges(parts: readonly string[], isUnkept: IsUnkept): { gone: string[]; changed: string[] } {
  const gone: string[] = [];
  const changed: string[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const path = parts[at + 1] ?? "";
    if (!isUnkept(path)) (parts[at] === "D" ? gone : changed).push(path);
  }
  return { gone, changed };
}

function input(paths: readonly string[]): { input: Buffer } {
  return { input: joinNul(paths) };
}
