/**
 * Which files inside the root a tool may not change: what git or Toolwright would run or obey, stores, and the code
 * of the running process. The same rules apply to commands (`plan-protections.ts`). It must never judge by
 * the spelling of the request, only by the resolved path.
 */
import { fstatSync, lstatSync, realpathSync, statSync, type BigIntStats } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { codePathsIn } from "../../load/code-paths.ts";
import { fileError, showPath } from "../files/file-error.ts";
import type { FileLocation } from "../files/follow-path.ts";
import { readGitGuards } from "./git-guards.ts";
import { completesRepository, settingsFoldersOf } from "./git-folder.ts";
import type { Directory } from "../files/path-strategy.ts";
import {
  foldName,
  isGitObeyedName,
  isProtectedByName,
  isStoreName,
  maybeProtected,
  OWN_FOLDER,
  STORE_SUFFIXES,
} from "./protected-names.ts";
import { hasDatabaseName, isStoreFile } from "./store-file.ts";

export type IsProtected = (location: FileLocation) => boolean;

/** Call it before a change. */
export function refuseProtected(location: FileLocation, isProtected?: IsProtected): void {
  const refused =
    isProtectedByName(namesOf(location)) ||
    isProtectedByIdentity(location) ||
    isCode(location) ||
    isObeyedByGit(location) ||
    isStore(location) ||
    isProtected?.(location) === true;
  if (refused) {
    const place = location.realPath.slice(location.realRoot.length + 1);
    throw fileError("TOOL_PATH_PROTECTED", `The path is protected and was not changed: ${showPath(place)}.`);
  }
}

/** Call it before a read. Hides stores and Toolwright's own folder, which may contain them. */
export function refuseHidden(location: FileLocation, isProtected?: IsProtected): void {
  const isHidden =
    (maybeProtected(location.realPath.slice(location.realRoot.length)) && isOwnPlace(location)) ||
    (hasDatabaseName(basename(location.realPath)) && isStore(location)) ||
    isProtected?.(location) === true;
  if (isHidden) throw hiddenPath(location);
}

function isOwnPlace(location: FileLocation): boolean {
  return namesOf(location)
    .map(foldName)
    .some((name) => name === OWN_FOLDER || isStoreName(name));
}

export function hiddenPath({ realPath, realRoot }: Pick<FileLocation, "realPath" | "realRoot">): Error {
  const place = realPath.slice(realRoot.length + 1);
  return fileError(
    "TOOL_PATH_PROTECTED",
    `The path belongs to Toolwright and is not shown: ${showPath(place)}.`,
  );
}

/** Protects files that a caller names, such as the store's, each with the files that SQLite keeps next to it. */
export function protectPaths(paths: readonly string[]): IsProtected {
  const files = paths.flatMap((path) => STORE_SUFFIXES.map((suffix) => resolve(path) + suffix));
  return (location) =>
    files.some((file) => isSamePlace(location, file) || isSamePlace(location, realPathOf(file)));
}

function namesOf({ realPath, realRoot }: FileLocation): string[] {
  return realPath.slice(realRoot.length + 1).split("/");
}

const PROTECTED_FOLDERS = [".git/hooks", OWN_FOLDER];

/** Detects the same folders under another name: a bind mount, a short name, or hooks that are a link elsewhere. */
function isProtectedByIdentity({ realPath, realRoot, directory, folders }: FileLocation): boolean {
  const closed = PROTECTED_FOLDERS.map((path) => statOf(`${realRoot}/${path}`));
  if (folders.some((folder) => closed.some((stats) => isSameInode(folder, stats)))) return true;
  if (directory === undefined || !isGitObeyedName(foldName(basename(realPath)))) return false;
  return isSameInode(directory, statOf(`${realRoot}/.git`));
}

function isCode({ realPath, realRoot }: FileLocation): boolean {
  const place = foldPath(realPath);
  return codePathsIn(realRoot).some((path) => isAtOrBelow(place, foldPath(path)));
}

/**
 * Paths that a configuration names, in any repository that contains the file, and the parts of a repository under a
 * name other than `.git`.
 */
function isObeyedByGit(location: FileLocation): boolean {
  const { realPath, realRoot } = location;
  const place = foldPath(realPath);
  for (let folder = dirname(realPath); ; folder = dirname(folder)) {
    if (isAtOrBelow(folder, realRoot) && completesRepository(folder, realPath.slice(folder.length + 1)))
      return true;
    if (folder === realRoot || lstatOf(join(folder, ".git")) !== undefined) {
      const named = namedBySettings(folder).flatMap((path) => [path, realPathOf(path)]);
      if (named.some((path) => path !== realRoot && isAtOrBelow(place, foldPath(path)))) return true;
    }
    if (dirname(folder) === folder) return false;
  }
}

function namedBySettings(workTree: string): string[] {
  return settingsFoldersOf(workTree).flatMap((gitDir) => {
    const { folders, settings, programs, missingPrograms } = readGitGuards({ gitDir, workTree });
    return [...folders, ...settings, ...programs, ...missingPrograms];
  });
}

/** A store of any runtime, or a file that SQLite keeps next to it. */
function isStore({ realPath, directory }: FileLocation): boolean {
  if (directory === undefined) return false;
  const name = basename(realPath);
  const base = name.replace(/-(?:wal|shm|journal)$/, "");
  return isStoreFile(`${directory.base}/${base}`);
}

/** Whether the location is `file` or inside it. A hard link to it does not count: writing never changes an inode. */
function isSamePlace({ realPath, directory }: FileLocation, file: string): boolean {
  if (isAtOrBelow(foldPath(realPath), foldPath(file))) return true;
  if (directory === undefined || foldName(basename(realPath)) !== foldName(basename(file))) return false;
  return isSameInode(directory, statOf(dirname(file)));
}

function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** Folds each name of the path. */
function foldPath(path: string): string {
  return path.split("/").map(foldName).join("/");
}

function lstatOf(path: string): unknown {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // A parent is not a folder.
  }
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    // A path that cannot be read cannot be the folder that is open here.
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
    // The file does not exist yet, but its folder may.
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
