/**
 * Finds the private files in a folder: keys, password hashes, settings of a service. The search runs before every
 * command, because keys are created while an agent runs. A folder that has not changed is not listed again.
 */
import { accessSync, constants, lstatSync, readdirSync, type Stats } from "node:fs";
import { join } from "node:path";

export interface PrivateFiles {
  /** Files and folders that this user can read and others cannot. Does not list the content of such folders. */
  find(folder: string, depth: number): FoundPrivate;
}

export interface FoundPrivate {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

export interface PrivateFilesOptions {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** The clock that file systems use for timestamps. Defaults to the clock of this process. */
  readonly wallClock?: () => number;
  /** Names that are private regardless of their mode. */
  readonly secretNames?: RegExp;
  /** Keeps programs visible: a user whose files are all private has private programs too. */
  readonly keepPrograms?: boolean;
  /** For large folders: how long to reuse the result for a folder that has not changed itself. */
  readonly trustMs?: number;
}

export function createPrivateFiles(options: PrivateFilesOptions): PrivateFiles {
  const known = new Map<string, Listing>();
  const wallClock = options.wallClock ?? Date.now;

  const look = (folder: string, stat: Stats): Listing => {
    const listing: Listing = {
      ...identityOf(stat),
      lookedAt: options.now(),
      files: [],
      folders: [],
      open: [],
      empty: [],
    };
    for (const entry of listFolder(folder)) {
      if (!entry.isFile() && !entry.isDirectory()) continue;
      const path = join(folder, entry.name);
      const isFolder = entry.isDirectory();
      if (!isPrivate(path, entry.name, isFolder, options)) {
        if (isFolder) listing.open.push(path);
      } else if (isEmpty(path, isFolder)) listing.empty.push({ path, isFolder });
      else (isFolder ? listing.folders : listing.files).push(path);
    }
    // A change within the same clock tick leaves no trace, so a folder that has just changed is listed again.
    if (wallClock() - stat.ctimeMs > TICK_MS) known.set(folder, listing);
    else known.delete(folder);
    return listing;
  };

  const collect = (folder: string, depth: number, into: { files: string[]; folders: string[] }): void => {
    const stat = lstatSync(folder, { throwIfNoEntry: false });
    if (stat?.isDirectory() !== true) return;
    const old = known.get(folder);
    const isFresh = old !== undefined && isSame(old, stat) && options.now() - old.lookedAt < LONGEST_TRUST_MS;
    const listing = isFresh ? old : look(folder, stat);
    into.files.push(...listing.files);
    into.folders.push(...listing.folders);
    // An entry that was empty may have been filled without a trace in its folder.
    for (const { path, isFolder } of listing.empty)
      if (!isEmpty(path, isFolder)) (isFolder ? into.folders : into.files).push(path);
    if (depth > 0) for (const each of listing.open) collect(each, depth - 1, into);
  };

  const results = new Map<
    string,
    { readonly changedAt: number; readonly at: number; readonly found: FoundPrivate }
  >();

  return {
    find(folder, depth) {
      const changedAt = lstatSync(folder, { throwIfNoEntry: false })?.ctimeMs ?? 0;
      const old = results.get(folder);
      if (old?.changedAt === changedAt && options.now() - old.at < (options.trustMs ?? 0)) return old.found;
      const found = { files: [], folders: [] };
      collect(folder, depth, found);
      if (wallClock() - changedAt > TICK_MS) results.set(folder, { changedAt, at: options.now(), found });
      return found;
    },
  };
}

interface Listing {
  readonly inode: number;
  readonly device: number;
  readonly changedAt: number;
  readonly lookedAt: number;
  readonly files: string[];
  readonly folders: string[];
  /** Folders that any user may list. */
  readonly open: string[];
  /** Private and empty. They are not masked, because a mask costs time with every command. */
  readonly empty: { readonly path: string; readonly isFolder: boolean }[];
}

/** No supported file system has coarser timestamps. */
export const TICK_MS = 50;
/** A changed file mode leaves no trace in its folder, so everything is checked again after this time. */
const LONGEST_TRUST_MS = 2_000;

const identityOf = (stat: Stats) => ({ inode: stat.ino, device: stat.dev, changedAt: stat.ctimeMs });

function isSame(old: Listing, stat: Stats): boolean {
  return old.inode === stat.ino && old.device === stat.dev && old.changedAt === stat.ctimeMs;
}

function isPrivate(path: string, name: string, isFolder: boolean, options: PrivateFilesOptions): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return false;
  const isSecretName = !isFolder && options.secretNames?.test(name) === true;
  const isForOthers = (stat.mode & (isFolder ? 0o005 : 0o004)) !== 0;
  const isProgram = !isFolder && (stat.mode & 0o111) !== 0;
  if (!isSecretName && (isForOthers || (options.keepPrograms === true && (isProgram || isFolder))))
    return false;
  return isReadable(path);
}

function isEmpty(path: string, isFolder: boolean): boolean {
  return isFolder
    ? listFolder(path).length === 0
    : (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

function listFolder(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // Not readable for us, so not for the command either.
  }
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false; // The kernel denies it to the command as well.
  }
}
