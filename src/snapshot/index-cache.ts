/**
 * Keeps the index of the last snapshot beside the repository's own, so that the next one reads only the files that
 * changed. It must never be trusted for what is tracked, only for which files are unchanged, and it may be deleted
 * at any time.
 */
import { closeSync, constants, copyFileSync, fstatSync, openSync, readFileSync } from "node:fs";
import { renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";

/** Returns whether there was one. */
export function loadIndex(gitDir: string, index: string): boolean {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(cacheOf(gitDir), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return false;
    writeFileSync(index, readFileSync(descriptor));
    keepTime(index, stats.mtimeMs);
    return true;
  } catch {
    return false; // Without it everything is read anew, which is slower and no less right.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

export function saveIndex(gitDir: string, index: string): void {
  const temporary = `${cacheOf(gitDir)}.${randomUUID()}`;
  try {
    copyFileSync(index, temporary, constants.COPYFILE_EXCL);
    keepTime(temporary, statSync(index).mtimeMs);
    renameSync(temporary, cacheOf(gitDir));
  } catch {
    rmSync(temporary, { force: true }); // As above: the snapshot itself is complete.
  }
}

export function dropIndex(gitDir: string): void {
  rmSync(cacheOf(gitDir), { force: true });
}

function cacheOf(gitDir: string): string {
  return join(gitDir, "toolwright-index");
}

/**
 * Git reads a file again when it is as young as the index, since a change within one second shows in no time stamp.
 * A copy that looks younger than the index was would hide such a change; one that looks older hides nothing.
 */
function keepTime(file: string, mtimeMs: number): void {
  const seconds = Math.floor(mtimeMs / 1000);
  utimesSync(file, seconds, seconds);
}
