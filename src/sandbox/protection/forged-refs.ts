/**
 * Finds symbolic refs that lead out of the refs. Git takes any file of its folder for a ref if a symbolic ref names it:
 * with `ref: commondir` in `ORIG_HEAD`, the user's `git reset` writes the id of a commit there, and git then reads its
 * settings from the folder of that name. Git itself creates no such ref, and no ref that is a link to another file. It must
 * never follow a link.
 */
import { constants, lstatSync, readdirSync, type Dirent } from "node:fs";
import { rethrowExhausted } from "../rethrow-exhausted.ts";
import { readPlainFile } from "../read-plain-file.ts";
import { isRefPath } from "./protected-names.ts";
import { readLinkOf } from "./protection-plan.ts";

export interface ForgedRef {
  /** Relative to the git folder. */
  readonly file: string;
  readonly target: string;
}

/** @param gitFolder a real path */
export function forgedRefs(gitFolder: string): ForgedRef[] {
  const found: ForgedRef[] = [];
  const add = (file: string, target: string | undefined): void => {
    if (target !== undefined && !isRef(target)) found.push({ file, target });
  };
  const look = (file: string, entry: Dirent): void => {
    // Git reads any file through a link, and a later tool may change that file.
    if (entry.isSymbolicLink()) add(file, readLinkOf(`${gitFolder}/${file}`));
    else if (entry.isFile()) add(file, symbolicTarget(`${gitFolder}/${file}`));
    else if (entry.isDirectory()) pending.push(file);
  };
  const pending: string[] = [];
  for (const entry of list(gitFolder))
    if (entry.name === "refs" || isRefPath([entry.name])) look(entry.name, entry);
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop())
    for (const entry of list(`${gitFolder}/${folder}`)) look(`${folder}/${entry.name}`, entry);
  return found;
}

/** Including the ref of another work tree, which starts with the name of that work tree. */
function isRef(target: string): boolean {
  return isRefPath(target.replace(/^(?:main-worktree|worktrees\/[^/]+)\//, "").split("/"));
}

const MOST_KNOWN = 20_000;
const known = new Map<string, { readonly stamp: string; readonly target: string | undefined }>();
/** A second change within one clock tick would leave the same stamp. */
const SETTLED_MS = 50n;

/**
 * What a symbolic ref names, read as git does: a zero ends it, and no name has a space. A file that has not changed is not
 * read again.
 */
function symbolicTarget(path: string): string | undefined {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  const stamp = `${stat.dev} ${stat.ino} ${stat.size} ${stat.ctimeNs}`;
  const before = known.get(path);
  if (before?.stamp === stamp) return before.target;
  const text =
    stat.size > MAX_BYTES ? TOO_LARGE : (readPlainFile(path, MAX_BYTES, constants.O_NOFOLLOW) ?? "");
  const target = SYMBOLIC.exec(text)?.[1];
  if (known.size >= MOST_KNOWN) known.clear();
  if (BigInt(Date.now()) - stat.ctimeNs / 1_000_000n > SETTLED_MS) known.set(path, { stamp, target });
  return target;
}

/** No path is longer. */
const MAX_BYTES = 65_536;
const TOO_LARGE = "ref:(too-large)";
const SYMBOLIC = /^ref:[ \t\r\n]*([^ \t\r\n\0]*)/;

function list(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    rethrowExhausted(error);
    return []; // Gone, or closed: `git-links.ts` reports that.
  }
}
