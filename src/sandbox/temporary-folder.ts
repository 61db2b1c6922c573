/**
 * Where this process creates files under a name: never in a sandbox root, even if `TMPDIR` leads there or the root is
 * `/tmp`. Before such a file is opened, a command could put a link in its place.
 */
import { realpathSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { isInside } from "./is-inside.ts";

const roots = new Set<string>();
// Most commands have the root of the one before.
let checked = "";

/** Call it with the real path of a root before a command runs in it. */
export function keepOutOf(realRoot: string): void {
  const key = [realRoot, tmpdir(), process.env["XDG_STATE_HOME"], homedir()].join("\0");
  if (key === checked) return;
  checked = key;
  const places = [...temporaryFolders(), process.env["XDG_STATE_HOME"], join(homedir(), ".local/state")];
  if (places.some((place) => place !== undefined && isInside(realPathOf(place), realRoot)))
    roots.add(realRoot);
}

/** A real path. Undefined if there is no such folder outside the roots. */
export function temporaryFolder(): string | undefined {
  return temporaryFolders().find((folder) => !isInRoot(folder));
}

/** Whether commands could change what is at this path. */
export function isInRoot(path: string): boolean {
  const real = realPathOf(path);
  return [...roots].some((root) => isInside(real, root));
}

/** Those that exist, by real path, whether they are in a root or not. */
export function temporaryFolders(): string[] {
  const isFolder = (path: string): boolean =>
    statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  return [tmpdir(), "/tmp", "/var/tmp", "/dev/shm"].filter(isFolder).map(realPathOf);
}

/** Also of a path that does not exist yet. */
function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return dirname(path) === path ? path : join(realPathOf(dirname(path)), basename(path));
  }
}
