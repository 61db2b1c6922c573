/**
 * Whether git treats a folder as a repository, or would after a change. Git recognises one by its content, under any
 * name, so plain files in a folder are enough to make git run a program.
 */
import { lstatSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { readPlainFile } from "../read-plain-file.ts";
import { foldName, GIT_OPERATIONS, isGitObeyedName, isRefPath } from "./protected-names.ts";

/**
 * Whether git would obey a file at `below` in `folder`. This holds for a part that git runs or reads settings from,
 * if the folder is then a repository. It also holds for the last part that turns a folder with such settings into a
 * repository.
 */
export function completesRepository(folder: string, below: string): boolean {
  const [name = "", second = ""] = below.split("/").map(foldName);
  const has = (part: string): boolean => isThere(folder, part);
  const isOfOperation = GIT_OPERATIONS.has(name) && isGitObeyedName(second);
  if ((isOfOperation || isRefPath(below.split("/"))) && isRepository(has)) return true;
  if (!PARTS.has(name) && !isGitObeyedName(name)) return false;
  const willHave = (part: string): boolean => name === part.toLowerCase() || has(part);
  if (!isRepository(willHave)) return false;
  return isGitObeyedName(name) || (!isRepository(has) && OBEYED.some(has));
}

const PARTS: ReadonlySet<string> = new Set(["head", "objects", "refs"]);
const OBEYED = ["config", "config.worktree", "hooks", "commondir"];

function isRepository(has: (part: string) => boolean): boolean {
  return has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
}

/**
 * The folders that git takes settings from in a work tree, whatever its `.git` is. The last may be shared with
 * others.
 */
export function settingsFoldersOf(workTree: string): string[] {
  const path = join(workTree, ".git");
  const own = targetOfGitFile(path) ?? realOrSame(path);
  const common = commonFolderOf(own);
  return common === undefined ? [own] : [own, common];
}

/** The target of a `.git` file, parsed as git does: a NUL byte ends it, and trailing line breaks are ignored. */
export function targetOfGitFile(path: string): string | undefined {
  const text = readPointer(path);
  return text.startsWith(GIT_FILE) && text.length > GIT_FILE.length
    ? placeOf(text.slice(GIT_FILE.length), dirname(path))
    : undefined;
}

/** The folder that a git folder shares with others. */
export function commonFolderOf(gitFolder: string): string | undefined {
  const target = readPointer(join(gitFolder, "commondir"));
  return target === "" ? undefined : placeOf(target, gitFolder);
}

/** Resolves like the kernel: `..` after a link does not lead where it is spelled. */
function placeOf(target: string, base: string): string {
  const path = isAbsolute(target) ? target : `${base}/${target}`;
  return realOrSame(path) === path ? resolve(path) : realOrSame(path);
}

const GIT_FILE = "gitdir: ";
/** The same limit as git. */
const MAX_POINTER_BYTES = 1_048_576;

/** Follows links, like git. */
function readPointer(path: string): string {
  const text = readPlainFile(path, MAX_POINTER_BYTES)?.replace(/[\r\n]+$/, "") ?? "";
  return text.split("\0", 1)[0] ?? "";
}

function realOrSame(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path; // Does not exist.
  }
}

function isThere(folder: string, name: string): boolean {
  try {
    return lstatSync(join(folder, name), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // Not a folder.
  }
}
