/**
 * Chooses the folder for temporary files of this process: never one in a sandbox root, even if `TMPDIR` is in the root or the
 * root is `/tmp`. A command could replace such a file by a link before this process opens it.
 */
import { realpathSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { isInside } from "./is-inside.ts";

const roots = new Set<string>();
// Most commands have the same root as the previous command.
let checked = "";

/** Call it with the real path of a root before a command runs in it. */
export function keepOutOf(realRoot: string): void {
  const key = [realRoot, tmpdir(), process.env["XDG_STATE_HOME"], homedir()].join("\0");
  if (key === checked) return;
  checked = key;
  const candidates = [...temporaryFolders(), process.env["XDG_STATE_HOME"], join(homedir(), ".local/state")];
  if (candidates.some((path) => path !== undefined && isInside(realPathOf(path), realRoot)))
    roots.add(realRoot);
}

/** Returns a real path, or undefined if every temporary folder is in a root. */
export function temporaryFolder(): string | undefined {
  return temporaryFolders().find((folder) => !isInRoot(folder));
}

/** Whether commands could change what is at this path. */
export function isInRoot(path: string): boolean {
  const real = realPathOf(path);
  return [...roots].some((root) => isInside(real, root));
}

/** The real paths of all existing temporary folders, inside a root or not. */
export function temporaryFolders(): string[] {
  const isFolder = (path: string): boolean =>
    statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  return [tmpdir(), "/tmp", "/var/tmp", "/dev/shm"].filter(isFolder).map(realPathOf);
}

/** The path does not have to exist. */
function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return dirname(path) === path ? path : join(realPathOf(dirname(path)), basename(path));
  }
}
