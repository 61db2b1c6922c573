/** Defines a rule of the list of protected things (`protected.ts`), and what rules have in common. */
import { fstatSync, lstatSync, realpathSync, statSync, type BigIntStats, type Stats } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { FileLocation } from "../../files/follow-path.ts";
import type { Directory } from "../../files/path-strategy.ts";
import { isInside } from "../../is-inside.ts";
import { foldName } from "../protected-names.ts";
import type { ProtectedPath } from "../protection-plan.ts";
import type { RootFinds } from "../scan-root.ts";

export interface Rule {
  /** Whether commands see the paths unchanged but cannot change them, or do not see them at all. */
  readonly access: "readOnly" | "hide";
  /** Whether a file tool must not change this path, which may not exist yet. */
  covers(location: FileLocation): boolean;
  /** Whether a file tool must not read this path either. Every read asks it, so it has to be fast. */
  hides?(location: FileLocation): boolean;
  /** The existing paths in a root, for commands. A rule may first create what a command could create otherwise. */
  find(search: RootSearch): readonly ProtectedPath[];
}

export interface RootSearch {
  /** The real root. */
  readonly root: string;
  readonly finds: RootFinds;
}

/** The names below the root. */
export function namesOf({ realPath, realRoot }: FileLocation): string[] {
  return realPath.slice(realRoot.length + 1).split("/");
}

/** Folds each name of the path. */
export function foldPath(path: string): string {
  return path.split("/").map(foldName).join("/");
}

export const isBelow = (path: string, root: string): boolean => path !== root && isInside(path, root);

/** The real path, if it is below the root. */
export function realPlace(path: string, root: string): string | undefined {
  try {
    const real = realpathSync.native(path);
    return isBelow(real, root) ? real : undefined;
  } catch {
    return undefined; // A dangling link.
  }
}

/** The real path, even of a missing file in an existing folder. */
export function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
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

export function isDirectory(path: string): boolean {
  return lstatOf(path)?.isDirectory() === true;
}

export function lstatOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // A parent is not a folder.
  }
}

export function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    // A path that cannot be read cannot be the folder that is open here.
    return undefined;
  }
}

export function isSameInode({ descriptor }: Directory, stats: BigIntStats | undefined): boolean {
  if (stats === undefined) return false;
  const own = fstatSync(descriptor, { bigint: true });
  return own.dev === stats.dev && own.ino === stats.ino;
}

/** Whether the walk went through this folder, under any name: a bind mount, a short name, or a link elsewhere. */
export function wentThrough({ folders }: FileLocation, folder: string): boolean {
  const stats = statOf(folder);
  return folders.some((each) => isSameInode(each, stats));
}
