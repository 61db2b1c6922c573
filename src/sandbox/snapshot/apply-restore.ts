/**
 * Carries a restore out. Deletes first, since a file may stand where the snapshot has a folder. It must never remove
 * a folder that still holds something, nor the root itself. To run it twice does no harm.
 */
import { rmdirSync, unlinkSync } from "node:fs";
import { errnoOf } from "../files/file-error.ts";
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
  // With -f, a link in the place of a folder is replaced and not followed. No hook belongs to this command.
  const checkout = ["checkout-index", "-f", "-z", "--stdin"];
  if (writes.length > 0) await git(checkout, { input: joinNul(writes), env: { GIT_INDEX_FILE: index } });
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
