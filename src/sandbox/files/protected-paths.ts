/**
 * Which files a tool may not change although they lie inside the root: what git or Toolwright would run or obey.
 * Must never judge by the spelling of the request, only by the place it led to.
 */
import { fstatSync, realpathSync, statSync, type BigIntStats } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { fileError, showPath } from "./file-error.ts";
import type { FileLocation } from "./follow-path.ts";
import type { Directory } from "./path-strategy.ts";

export type IsProtected = (location: FileLocation) => boolean;

export function refuseProtected(location: FileLocation, isProtected?: IsProtected): void {
  if (isProtectedByName(location) || isProtectedByIdentity(location) || isProtected?.(location) === true) {
    const place = location.realPath.slice(location.realRoot.length + 1);
    throw fileError("TOOL_PATH_PROTECTED", `The path is protected and was not changed: ${showPath(place)}.`);
  }
}

/** Protects files that a caller names, such as the store's, each with the files that SQLite keeps beside it. */
export function protectPaths(paths: readonly string[]): IsProtected {
  const files = paths.flatMap((path) => SQLITE_SUFFIXES.map((suffix) => resolve(path) + suffix));
  return (location) =>
    files.some((file) => isSamePlace(location, file) || isSamePlace(location, realPathOf(file)));
}

const SQLITE_SUFFIXES = ["", "-wal", "-shm", "-journal"];

/** Names inside a git folder that hold commands, or lead git to another folder that does. */
const GIT_NAMES = new Set(["hooks", "config", "config.worktree", "commondir", "gitdir"]);

const PROTECTED_FOLDERS = [".git/hooks", ".toolwright"];

// At any depth: nested repositories and packages are obeyed just as those in the root are.
function isProtectedByName({ realPath, realRoot }: FileLocation): boolean {
  const names = realPath
    .slice(realRoot.length + 1)
    .split("/")
    .map(fold);
  if (names.some((name) => name === ".toolwright" || name.startsWith("toolwright.config."))) return true;
  const git = names.indexOf(".git");
  if (git === -1) return false;
  // A file `.git` sends git to a folder of the writer's choice.
  return git === names.length - 1 || names.slice(git + 1).some((name) => GIT_NAMES.has(name));
}

/** The same folders under another name: a bind mount, a short name, hooks that are a link to elsewhere. */
function isProtectedByIdentity({ realPath, realRoot, directory, folders }: FileLocation): boolean {
  const closed = PROTECTED_FOLDERS.map((path) => statOf(`${realRoot}/${path}`));
  if (folders.some((folder) => closed.some((stats) => isSameInode(folder, stats)))) return true;
  if (directory === undefined || !GIT_NAMES.has(fold(basename(realPath)))) return false;
  return isSameInode(directory, statOf(`${realRoot}/.git`));
}

/** Whether the location is `file` or lies in it. A hard link of it is another place: writing never changes an inode. */
function isSamePlace({ realPath, directory }: FileLocation, file: string): boolean {
  const place = fold(realPath);
  if (place === fold(file) || place.startsWith(`${fold(file)}/`)) return true;
  if (directory === undefined || fold(basename(realPath)) !== fold(basename(file))) return false;
  return isSameInode(directory, statOf(dirname(file)));
}

/** As the most careless of file systems compares names: by case, width and characters that are not seen. */
function fold(name: string): string {
  const folded = name
    .replaceAll(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "")
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[. ]+$/, "");
  return folded === "git~1" ? ".git" : folded;
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    // What cannot be looked at cannot be the folder that is open here.
    return undefined;
  }
}

function isSameInode({ descriptor }: Directory, stats: BigIntStats | undefined): boolean {
  if (stats === undefined) return false;
  const own = fstatSync(descriptor, { bigint: true });
  return own.dev === stats.dev && own.ino === stats.ino;
}

function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // Not there yet, then its folder may be.
    return resolve(realPathOrSame(dirname(path)), basename(path));
  }
}

function realPathOrSame(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // A file in a folder that does not exist is compared by its spelling alone.
    return path;
  }
}
