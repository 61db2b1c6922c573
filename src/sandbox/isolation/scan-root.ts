/**
 * Finds in a root, at any depth, what commands must not change: Toolwright's own names, git folders and stores. It must
 * never follow a link. A folder is read again only when it has changed, by its change time, which no command can set.
 */
import { lstatSync, readdirSync, type Dirent } from "node:fs";
import { join } from "node:path";
import { commonFolderOf, targetOfGitFile } from "../files/git-folder.ts";
import { foldName, isOwnName, isStoreName, maybeProtected } from "../files/protected-names.ts";
import { hasDatabaseName, isStoreFile } from "../files/store-file.ts";
import { isInside } from "./is-inside.ts";

export interface RootFinds {
  /** `.toolwright` and `toolwright.config.*`, with links. */
  readonly own: readonly string[];
  /** Folders that git would take for a repository, under any name. */
  readonly gitFolders: readonly string[];
  /** Files `.git`, which send git elsewhere. */
  readonly gitFiles: readonly string[];
  /** Links that are named `.git`. */
  readonly gitLinks: readonly string[];
  readonly stores: readonly string[];
}

/** All paths are absolute and begin with `root`, which has to be a real path. */
export function scanRoot(root: string): RootFinds {
  const finds: MutableFinds = { own: [], gitFolders: [], gitFiles: [], gitLinks: [], stores: [] };
  const folders = foldersOf(root);
  const seen = new Set<string>();
  const pending = [root];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const listing = readListing(folder, folders);
    if (listing === undefined) continue;
    seen.add(folder);
    for (const name of listing.own) finds.own.push(join(folder, name));
    for (const name of listing.stores) {
      const path = join(folder, name);
      if (isStoreName(foldName(name)) || isStoreFile(path)) finds.stores.push(path);
    }
    if (listing.gitFile !== undefined) {
      const path = join(folder, listing.gitFile);
      finds.gitFiles.push(path);
      addGitFolder(finds, targetOfGitFile(path), root);
    }
    if (listing.gitLink !== undefined) finds.gitLinks.push(join(folder, listing.gitLink));
    if (listing.gitFolder !== undefined) addGitFolder(finds, join(folder, listing.gitFolder), root);
    if (listing.isGitFolder) addGitFolder(finds, folder, root);
    // Also below what only looks like a repository: it would be a place to hide something.
    for (const name of listing.folders) pending.push(join(folder, name));
  }
  for (const folder of folders.keys()) if (!seen.has(folder)) folders.delete(folder);
  return finds;
}

type MutableFinds = { [Key in keyof RootFinds]: string[] };

/** With the repositories of submodules and work trees inside it, however deep their names go. */
function addGitFolder(finds: MutableFinds, folder: string | undefined, root: string): void {
  if (folder === undefined || !isInside(folder, root) || finds.gitFolders.includes(folder)) return;
  if (!isFolder(folder)) return;
  finds.gitFolders.push(folder);
  addGitFolder(finds, commonFolderOf(folder), root);
  for (const name of ["modules", "worktrees"]) addInner(finds, join(folder, name), root);
}

function addInner(finds: MutableFinds, folder: string, root: string): void {
  for (const entry of listFolder(folder)) {
    if (!entry.isDirectory()) continue;
    const path = join(folder, entry.name);
    const names = new Set(listFolder(path).map(({ name }) => name));
    // A config or hooks alone: the rest can be added later.
    if (["HEAD", "config", "hooks", "commondir"].some((name) => names.has(name)))
      addGitFolder(finds, path, root);
    else addInner(finds, path, root);
  }
}

interface Listing {
  readonly stamp: string;
  readonly own: readonly string[];
  /** Files that may be a store, by name. */
  readonly stores: readonly string[];
  readonly gitFolder: string | undefined;
  readonly gitFile: string | undefined;
  readonly gitLink: string | undefined;
  readonly isGitFolder: boolean;
  /** Further folders to look into. */
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

/** The kernel's clock for files moves in steps of some milliseconds: what changed within one is read again. */
const SETTLED_MS = 50n;

function readListing(folder: string, folders: Folders): Listing | undefined {
  const stat = lstatSync(folder, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined || !stat.isDirectory()) return undefined;
  const stamp = `${stat.dev} ${stat.ino} ${stat.ctimeNs}`;
  const known = folders.get(folder);
  if (known?.stamp === stamp) return known;
  const isSettled = BigInt(Date.now()) - stat.ctimeNs / 1_000_000n > SETTLED_MS;
  const listing = classify(listFolder(folder), isSettled ? stamp : "");
  folders.set(folder, listing);
  return listing;
}

function classify(entries: readonly Dirent[], stamp: string): Listing {
  const own: string[] = [];
  const stores: string[] = [];
  const folders: string[] = [];
  const git: { folder?: string; file?: string; link?: string } = {};
  let [hasHead, hasObjects, hasRefs, hasCommon] = [false, false, false, false];
  for (const entry of entries) {
    const { name } = entry;
    const isDirectory = entry.isDirectory();
    if (maybeProtected(name)) {
      const folded = foldName(name);
      if (isOwnName(folded)) {
        own.push(name);
        continue;
      }
      if (folded === ".git") {
        if (isDirectory) git.folder = name;
        else if (entry.isSymbolicLink()) git.link = name;
        else git.file = name;
        continue;
      }
    }
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
    gitFolder: git.folder,
    gitFile: git.file,
    gitLink: git.link,
    isGitFolder: hasHead && (hasCommon || (hasObjects && hasRefs)),
    folders,
  };
}

function isFolder(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false; // Below something that is no folder.
  }
}

function listFolder(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // Gone by now, or not readable for us: then the command would have to open it first, and is looked at again.
  }
}
