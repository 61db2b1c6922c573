/**
 * Carries a restore out. Deletes first, since a file may stand where the snapshot has a folder. It must never remove
 * a folder that still holds something, nor the root itself. To run it twice does no harm.
 */
import { chmodSync, lstatSync, rmdirSync, unlinkSync, type Stats } from "node:fs";
import { errnoOf } from "../sandbox/files/file-error.ts";
import type { Repository } from "./find-repository.ts";
import { placeOf } from "./place-of.ts";
import type { RestorePlan } from "./plan-restore.ts";
import type { PrivateGitDir } from "./private-git-dir.ts";
import { joinNul } from "./run-git.ts";

export async function applyRestore(
  { top, scope }: Repository,
  { git }: PrivateGitDir,
  { writes, deletions, index }: RestorePlan & { readonly index: string },
): Promise<void> {
  const root = Buffer.from(scope[0] ?? "").toString("latin1");
  for (const path of deletions) {
    ignoring(["ENOENT"], () => unlinkSync(placeOf(top, path)));
    removeEmptyFolders(top, root, path);
  }
  if (writes.length === 0) return;
  const modes = writes.map((path) => fileAt(top, path)?.mode);
  // With -f, a link in the place of a folder is replaced and not followed. No hook belongs to this command.
  const checkout = ["checkout-index", "-f", "-z", "--stdin"];
  await git(checkout, { input: joinNul(writes), env: { GIT_INDEX_FILE: index } });
  for (const [at, path] of writes.entries()) keepReaders(top, path, modes[at]);
}

/** Git knows only who may execute; a file that was closed to others has to stay so. */
function keepReaders(top: string, path: string, before: number | undefined): void {
  const now = fileAt(top, path)?.mode;
  if (before === undefined || now === undefined) return;
  const executors = (now & 0o100) === 0 ? 0 : (before & 0o444) >> 2;
  chmodSync(placeOf(top, path), (before & 0o666) | executors);
}

function fileAt(top: string, path: string): Stats | undefined {
  try {
    const stats = lstatSync(placeOf(top, path), { throwIfNoEntry: false });
    return stats?.isFile() === true ? stats : undefined;
  } catch {
    return undefined; // Below something that is no folder.
  }
}

function removeEmptyFolders(top: string, root: string, path: string): void {
  let folder = folderOf(path);
  while (folder.length > root.length) {
    const place = placeOf(top, folder);
    if (!ignoring(["ENOTEMPTY", "EEXIST", "ENOENT"], () => rmdirSync(place))) return;
    folder = folderOf(folder);
  }
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Returns whether the step was done. */
function ignoring(errnos: readonly string[], step: () => void): boolean {
  try {
    step();
    return true;
  } catch (error) {
    if (errnos.includes(errnoOf(error) ?? "")) return false;
    throw error;
  }
}
