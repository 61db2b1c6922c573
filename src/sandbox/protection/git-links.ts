/**
 * Finds links inside a git folder that lead out of the root, or to what no command may change. Git appends to its logs
 * and writes its messages, its index and its objects through links, so such a link makes the user's git write there, and
 * text of the agent's choice: the message of a commit, the name of a branch. Git itself creates no such link. It must
 * never follow one.
 */
import { lstatSync, readdirSync, type BigIntStats, type Dirent } from "node:fs";
import { dirname } from "node:path";
import { rethrowExhausted } from "../rethrow-exhausted.ts";
import { pathFrom } from "./path-from.ts";
import { isRefPath } from "./protected-names.ts";
import { readLinkOf } from "./protection-plan.ts";
import { realPathOf } from "./rules/rule.ts";

export interface StrayLink {
  readonly path: string;
  /** The real path of its target, which may not exist. */
  readonly target: string;
}

export interface StrayLinks {
  readonly links: readonly StrayLink[];
  /** Folders that cannot be listed. Git may be able to use what is in them. */
  readonly closed: readonly string[];
}

/**
 * @param gitFolder a real path
 * @param isOff whether git must not write to a path, which is absolute and real
 */
export function strayLinks(gitFolder: string, isOff: (path: string) => boolean): StrayLinks {
  const found: StrayLink[] = [];
  const closed: string[] = [];
  const pending = [gitFolder];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const { links, folders, isClosed } = readListing(folder);
    if (isClosed) closed.push(folder);
    for (const name of links) {
      if (isSymbolicRef(gitFolder, `${folder}/${name}`)) continue;
      const target = targetOf(`${folder}/${name}`);
      if (target !== undefined && isOff(target)) found.push({ path: `${folder}/${name}`, target });
    }
    const isObjects = folder === `${gitFolder}/objects`;
    const isTop = folder === gitFolder;
    for (const name of folders)
      if (isObjects ? WRITTEN_OBJECTS.has(name) : !isTop || !ELSEWHERE.has(name))
        pending.push(`${folder}/${name}`);
  }
  return { links: found, closed };
}

/** Not searched: hooks are protected as a whole, and in the others git itself writes nothing. They may be large. */
const ELSEWHERE: ReadonlySet<string> = new Set(["hooks", "lfs", "annex"]);
/** Objects themselves get their name by a rename, which replaces a link. Lists of them are written through it. */
const WRITTEN_OBJECTS: ReadonlySet<string> = new Set(["info", "pack"]);

/** The old form of a symbolic ref: git does not write through it, but replaces it. */
function isSymbolicRef(gitFolder: string, link: string): boolean {
  const isOfRef = isRefPath(link.slice(gitFolder.length + 1).split("/"));
  return isOfRef && readLinkOf(link)?.startsWith("refs/") === true;
}

/** Follows other links on the way, which a later command may have made. */
function targetOf(link: string): string | undefined {
  const target = readLinkOf(link);
  return target === undefined ? undefined : realPathOf(pathFrom(dirname(link), target));
}

interface Listing {
  readonly links: readonly string[];
  readonly folders: readonly string[];
  readonly isClosed: boolean;
}

const MOST_KNOWN = 20_000;
const known = new Map<string, Listing & { readonly stamp: string }>();
/** A second change within one clock tick would leave the same stamp. */
const SETTLED_MS = 50n;

/** A folder that has not changed is not read again. */
function readListing(folder: string): Listing {
  const stat = statOf(folder);
  if (stat?.isDirectory() !== true) return { links: [], folders: [], isClosed: false };
  const stamp = `${stat.dev} ${stat.ino} ${stat.ctimeNs}`;
  const before = known.get(folder);
  if (before?.stamp === stamp) return before;
  const listed = list(folder);
  const entries = listed ?? [];
  const namesOf = (isWanted: (entry: Dirent) => boolean): string[] =>
    entries.flatMap((entry) => (isWanted(entry) ? [entry.name] : []));
  const listing = {
    stamp,
    links: namesOf((entry) => entry.isSymbolicLink()),
    folders: namesOf((entry) => entry.isDirectory()),
    isClosed: listed === undefined,
  };
  if (known.size >= MOST_KNOWN) known.clear();
  if (BigInt(Date.now()) - stat.ctimeNs / 1_000_000n > SETTLED_MS) known.set(folder, listing);
  return listing;
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined; // In a folder that cannot be entered, not even by git.
  }
}

/** Undefined if the folder exists and cannot be listed. */
function list(folder: string): Dirent[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    rethrowExhausted(error);
    const isClosed = error instanceof Error && "code" in error && error.code === "EACCES";
    return isClosed ? undefined : []; // Gone.
  }
}
