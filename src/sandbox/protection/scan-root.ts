/**
 * Finds in a root, at any depth, what commands must not change: Toolwright's own names, git folders and stores. It
 * must never follow a link. A folder is read again only if its change time differs, which no command can set.
 */
import { lstatSync, readdirSync, realpathSync, type BigIntStats, type Dirent } from "node:fs";
import { join } from "node:path";
import { commonFolderOf, targetOfGitFile } from "./git-folder.ts";
import { foldName, isOwnName, isStoreName, maybeProtected } from "./protected-names.ts";
import { hasDatabaseName, isStoreFile } from "./store-file.ts";
import { isInside } from "../is-inside.ts";
import { rethrowExhausted } from "../rethrow-exhausted.ts";

export interface RootFinds {
  /** `.toolwright` and `toolwright.config.*`, including links. */
  readonly own: readonly string[];
  /** Folders that git would treat as a repository, under any name. */
  readonly gitFolders: readonly string[];
  /** `.git` files, which point git elsewhere. */
  readonly gitFiles: readonly string[];
  /** Links named `.git`. */
  readonly gitLinks: readonly string[];
  readonly stores: readonly string[];
  /** Folders that cannot be listed or entered. A process that knows the names in them can still use them. */
  readonly closed: readonly string[];
  /** Files and links that point git to a path that is not valid UTF-8. Nothing can be protected there. */
  readonly lost: readonly string[];
}

/** All paths are absolute and begin with `root`, which has to be a real path. */
export function scanRoot(root: string): RootFinds {
  const finds: MutableFinds = {
    own: [],
    gitFolders: [],
    gitFiles: [],
    gitLinks: [],
    stores: [],
    closed: [],
    lost: [],
  };
  const folders = foldersOf(root);
  const seen = new Set<string>();
  const pending = [root];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const listing = readListing(folder, folders);
    if (listing === undefined) continue;
    seen.add(folder);
    if (listing.isClosed) finds.closed.push(folder);
    for (const name of listing.own) finds.own.push(join(folder, name));
    for (const name of listing.stores) {
      const path = join(folder, name);
      if (isStoreName(foldName(name)) || isStoreFile(path)) finds.stores.push(path);
    }
    for (const name of listing.gitFiles) {
      const path = join(folder, name);
      finds.gitFiles.push(path);
      addGitFolder(finds, targetOfGitFile(path), root, path);
    }
    for (const name of listing.gitLinks) {
      const path = join(folder, name);
      finds.gitLinks.push(path);
      // It leads to a git folder, or to a file that names one.
      addGitFolder(finds, targetOfGitFile(path) ?? path, root, path);
    }
    for (const name of listing.gitFolders) addGitFolder(finds, join(folder, name), root, undefined);
    if (listing.isGitFolder) addGitFolder(finds, folder, root, undefined);
    // Also scan below folders that only look like a repository. Otherwise something could be hidden there.
    for (const name of listing.folders) pending.push(join(folder, name));
  }
  for (const folder of folders.keys()) if (!seen.has(folder)) folders.delete(folder);
  return finds;
}

/**
 * Folders of the last scan that contain a folder whose name is not valid UTF-8. The text form of that name leads
 * nowhere.
 */
export function obscureFolders(root: string): string[] {
  return [...(roots.get(root) ?? [])].flatMap(([folder, { hasObscure }]) => (hasObscure ? [folder] : []));
}

type MutableFinds = { [Key in keyof RootFinds]: string[] };

/**
 * Adds a git folder with the repositories of submodules and work trees inside it, however deeply nested. It uses the
 * real path, because git follows links on the way, and the folder may be where a scan by name would not find it.
 */
function addGitFolder(
  finds: MutableFinds,
  given: string | undefined,
  root: string,
  pointer: string | undefined,
): void {
  if (given === undefined) return;
  const folder = realPathOf(given);
  if (pointer !== undefined && (folder ?? given).includes(UNDECODED)) finds.lost.push(pointer);
  if (folder === undefined || !isInside(folder, root) || finds.gitFolders.includes(folder)) return;
  if (!isFolder(folder)) return;
  finds.gitFolders.push(folder);
  addGitFolder(finds, commonFolderOf(folder), root, join(folder, "commondir"));
  for (const name of ["modules", "worktrees"]) addInner(finds, join(folder, name), root);
}

function addInner(finds: MutableFinds, folder: string, root: string): void {
  for (const entry of listFolder(folder) ?? []) {
    if (!entry.isDirectory()) continue;
    const path = join(folder, entry.name);
    const names = new Set(listFolder(path)?.map(({ name }) => name));
    // A config or hooks alone is enough: the rest can be added later.
    if (["HEAD", "config", "hooks", "commondir"].some((name) => names.has(name)))
      addGitFolder(finds, path, root, undefined);
    else addInner(finds, path, root);
  }
}

interface Listing {
  readonly stamp: string;
  readonly own: readonly string[];
  /** Files that may be a store, by name. */
  readonly stores: readonly string[];
  /** More than one if names differ by case or by characters that some file systems ignore. */
  readonly gitFolders: readonly string[];
  readonly gitFiles: readonly string[];
  readonly gitLinks: readonly string[];
  readonly isGitFolder: boolean;
  readonly isClosed: boolean;
  readonly hasObscure: boolean;
  /** Folders to scan next. */
  readonly folders: readonly string[];
}

type Folders = Map<string, Listing>;

const MAX_ROOTS = 8;
const roots = new Map<string, Folders>();

function foldersOf(root: string): Folders {
  const folders = roots.get(root) ?? new Map<string, Listing>();
  roots.delete(root);
  roots.set(root, folders);
  for (const [other] of roots) {
    if (roots.size <= MAX_ROOTS) break;
    roots.delete(other);
  }
  return folders;
}

/**
 * The kernel's clock for files advances in steps of a few milliseconds: a folder that changed within one is read
 * again.
 */
const SETTLED_MS = 50n;

function readListing(folder: string, folders: Folders): Listing | undefined {
  const stat = lstatOf(folder);
  if (stat === undefined || !stat.isDirectory()) return undefined;
  const stamp = `${stat.dev} ${stat.ino} ${stat.ctimeNs}`;
  const known = folders.get(folder);
  if (known?.stamp === stamp) return known;
  const isSettled = BigInt(Date.now()) - stat.ctimeNs / 1_000_000n > SETTLED_MS;
  const entries = listFolder(folder);
  const isClosed = entries === undefined || !mayEnter(folder, stat);
  const listing = classify(entries ?? [], isSettled ? stamp : "", isClosed);
  folders.set(folder, listing);
  return listing;
}

/** A folder that can be listed but not entered keeps what is in it from being looked at. */
function mayEnter(folder: string, { mode }: BigIntStats): boolean {
  if ((mode & 0o111n) === 0o111n) return true;
  return lstatOf(`${folder}/.`) !== undefined;
}

/** Node's replacement for bytes that are not valid text. */
const UNDECODED = "\uFFFD";

function classify(entries: readonly Dirent[], stamp: string, isClosed: boolean): Listing {
  const own: string[] = [];
  const stores: string[] = [];
  const folders: string[] = [];
  const git = { folders: [] as string[], files: [] as string[], links: [] as string[] };
  let [hasHead, hasObjects, hasRefs, hasCommon, hasObscure] = [false, false, false, false, false];
  for (const entry of entries) {
    const { name } = entry;
    const isDirectory = entry.isDirectory();
    if (maybeProtected(name)) {
      const folded = foldName(name);
      if (isOwnName(folded)) own.push(name);
      if (folded === ".git") {
        if (isDirectory) git.folders.push(name);
        else if (entry.isSymbolicLink()) git.links.push(name);
        else git.files.push(name);
        // Git itself tracks nothing below this name, but does below names that only resemble it.
        if (name === ".git") continue;
      }
    }
    if (isDirectory && name.includes(UNDECODED)) hasObscure = true;
    if (isDirectory) folders.push(name);
    else if (entry.isFile() && hasDatabaseName(name)) stores.push(name);
    if (name === "HEAD") hasHead = true;
    else if (name === "objects") hasObjects = true;
    else if (name === "refs") hasRefs = true;
    else if (name === "commondir") hasCommon = true;
  }
  return {
    stamp,
    own,
    stores,
    gitFolders: git.folders,
    gitFiles: git.files,
    gitLinks: git.links,
    isGitFolder: hasHead && (hasCommon || (hasObjects && hasRefs)),
    isClosed,
    hasObscure,
    folders,
  };
}

function isFolder(path: string): boolean {
  return lstatOf(path)?.isDirectory() === true;
}

function lstatOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined; // A parent is not a folder or cannot be entered, so git cannot enter it either.
  }
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined; // A dangling link.
  }
}

/** Undefined if the folder exists and cannot be listed. */
function listFolder(folder: string): Dirent[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    rethrowExhausted(error);
    const isClosed = error instanceof Error && "code" in error && error.code === "EACCES";
    return isClosed ? undefined : []; // Already gone.
  }
}
