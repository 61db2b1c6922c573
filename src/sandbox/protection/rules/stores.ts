/** The stores of this and other runtimes, with the files that SQLite keeps next to them. */
import { basename, dirname, resolve } from "node:path";
import type { FileLocation } from "../../files/follow-path.ts";
import { isInside } from "../../is-inside.ts";
import { foldName, isStoreName, maybeProtected, STORE_SUFFIXES } from "../protected-names.ts";
import { hasDatabaseName, isStoreFile } from "../store-file.ts";
import { foldPath, isSameInode, namesOf, realPathOf, type Rule, statOf } from "./rule.ts";

export type IsProtected = (location: FileLocation) => boolean;

export const stores: Rule = {
  access: "hide",
  covers: (location) => hasStoreName(location) || isStore(location),
  hides: (location) =>
    (maybeProtected(location.realPath.slice(location.realRoot.length)) && hasStoreName(location)) ||
    (hasDatabaseName(basename(location.realPath)) && isStore(location)),
  find: ({ finds }) =>
    finds.stores.flatMap((store) =>
      // The side files appear and disappear as the store is opened and closed, which does not justify stopping a command.
      STORE_SUFFIXES.map(
        (suffix) => ({ kind: "hideFile", path: store + suffix, watched: suffix === "" }) as const,
      ),
    ),
};

/** A store that the caller names. */
export function protectPaths(paths: readonly string[]): IsProtected {
  const files = paths.flatMap((path) => STORE_SUFFIXES.map((suffix) => resolve(path) + suffix));
  return (location) =>
    files.some((file) => isSamePlace(location, file) || isSamePlace(location, realPathOf(file)));
}

const hasStoreName = (location: FileLocation): boolean => namesOf(location).map(foldName).some(isStoreName);

function isStore({ realPath, directory }: FileLocation): boolean {
  if (directory === undefined) return false;
  const base = basename(realPath).replace(/-(?:wal|shm|journal)$/, "");
  return isStoreFile(`${directory.base}/${base}`);
}

/** Whether the location is `file` or inside it. A hard link to it does not count: writing never changes an inode. */
function isSamePlace({ realPath, directory }: FileLocation, file: string): boolean {
  if (isInside(foldPath(realPath), foldPath(file))) return true;
  if (directory === undefined || foldName(basename(realPath)) !== foldName(basename(file))) return false;
  return isSameInode(directory, statOf(dirname(file)));
}
