/**
 * What in a folder is not meant for everybody: keys, password hashes, a service's own settings. It is looked for before
 * every command, because keys are made while an agent runs; a folder that has not changed is not listed again.
 */
import { accessSync, constants, lstatSync, readdirSync, type Stats } from "node:fs";
import { join } from "node:path";

export interface PrivateFiles {
  /** Files and folders that this user can read and others cannot, without what is in such folders. */
  find(folder: string, depth: number): FoundPrivate;
}

export interface FoundPrivate {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

export interface PrivateFilesOptions {
  /** Milliseconds of a clock that is never set back. */
  readonly now: () => number;
  /** The clock that file systems write down; the process's own by default. */
  readonly wallClock?: () => number;
  /** Names that are kept private whatever their mode. */
  readonly secretNames?: RegExp;
  /** Programs stay: a person whose files are all private has private programs too. */
  readonly keepPrograms?: boolean;
  /** For large folders: what was found in one that has not changed itself is taken as it was for so long. */
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
    // In the same tick of the clock a change leaves no trace, so a folder that has just changed is listed once more.
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
    // What was empty may have been filled without a trace in its folder.
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
  /** Folders that anybody may list. */
  readonly open: string[];
  /** Private and with nothing in it: a mask costs time with every command. */
  readonly empty: { readonly path: string; readonly isFolder: boolean }[];
}

/** No file system here keeps times more coarsely. */
export const TICK_MS = 50;
/** A changed mode of a file leaves no trace in its folder, so all are looked at again after this time. */
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
    return []; // Not readable for us, so neither for the command.
  }
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false; // The kernel keeps it from the command as well.
  }
}
