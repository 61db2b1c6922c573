/**
 * Performs a restore, in the sandbox with the root writable, because an agent may replace folders with links at the
 * same time. It deletes first, because a file may be where the snapshot has a folder. It must never remove a folder
 * that is not empty, nor the root itself. Running it twice does no harm.
 */
import { lstatSync, type Stats } from "node:fs";
import { quoted } from "../terminal/terminal-text.ts";
import type { Repository } from "./find-repository.ts";
import { toPathBytes } from "./path-bytes.ts";
import type { RestorePlan } from "./plan-restore.ts";
import type { PrivateGitDir } from "./private-git-dir.ts";
import { joinNul } from "./run-git.ts";

export interface AppliedRestore extends RestorePlan {
  /** The snapshot's entries, and the folder with its verified objects. */
  readonly index: string;
  readonly objects: string;
}

export async function applyRestore(
  { top, scope }: Repository,
  { restoring: { git, shell } }: PrivateGitDir,
  { writes, deletions, index, objects }: AppliedRestore,
): Promise<void> {
  const at = `cd ${quoted(top)} &&`;
  if (deletions.length > 0) {
    await shell("rm", `${at} exec xargs -0 rm -f --`, { input: joinNul(deletions) });
    const folders = foldersOf(deletions, Buffer.from(scope[0] ?? "").toString("latin1"));
    // `rmdir` fails for folders that are not empty.
    const remove = `${at} xargs -0 rmdir -- 2>/dev/null; true`;
    if (folders.length > 0) await shell("rmdir", remove, { input: joinNul(folders) });
  }
  if (writes.length === 0) return;
  const modes = writes.map((path) => fileAt(top, path)?.mode);
  // With -f, a link in place of a folder is replaced and not followed. This command has no hooks.
  await git(["checkout-index", "-f", "-z", "--stdin"], {
    input: joinNul(writes),
    env: { GIT_INDEX_FILE: index, GIT_OBJECT_DIRECTORY: objects },
  });
  for (const [mode, paths] of readersOf(top, writes, modes)) {
    const input = joinNul(paths.map((path) => `./${path}`));
    await shell("chmod", `${at} exec xargs -0 chmod ${mode.toString(8)}`, { input });
  }
}

/** Git stores only the executable bit. A file that was closed to others has to stay closed. */
function readersOf(
  top: string,
  writes: readonly string[],
  modes: readonly (number | undefined)[],
): Map<number, string[]> {
  const groups = new Map<number, string[]>();
  for (const [at, path] of writes.entries()) {
    const before = modes[at];
    const now = fileAt(top, path)?.mode;
    if (before === undefined || now === undefined) continue;
    const mode = (before & 0o666) | ((now & 0o100) === 0 ? 0 : (before & 0o444) >> 2);
    if (mode !== (now & 0o7777)) groups.set(mode, [...(groups.get(mode) ?? []), path]);
  }
  return groups;
}

function fileAt(top: string, path: string): Stats | undefined {
  try {
    const stats = lstatSync(toPathBytes(top, path), { throwIfNoEntry: false });
    return stats?.isFile() === true ? stats : undefined;
  } catch {
    return undefined; // A parent is not a folder.
  }
}

/** Every folder above the paths and below the root, the deepest first. */
function foldersOf(paths: readonly string[], root: string): string[] {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let folder = folderOf(path); folder.length > root.length; folder = folderOf(folder)) {
      folders.add(folder);
    }
  }
  return [...folders].toSorted((a, b) => b.split("/").length - a.split("/").length);
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}
