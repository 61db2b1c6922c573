/**
 * Whether a folder is, or would become, what git takes for a repository. Git finds one by its content, under any name, so
 * plain files in a folder are enough to make it run a program.
 */
import { lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { foldName, isGitObeyedName } from "./protected-names.ts";

/**
 * Whether a file at `below` in `folder` would be obeyed by git: a part that git runs or reads settings from, in a folder that
 * is a repository with it; or the last part that makes a folder with such settings a repository.
 */
export function completesRepository(folder: string, below: string): boolean {
  const [first = ""] = below.split("/");
  const name = foldName(first);
  if (!PARTS.has(name) && !isGitObeyedName(name)) return false;
  const has = (part: string): boolean => isThere(folder, part);
  const willHave = (part: string): boolean => name === part.toLowerCase() || has(part);
  if (!isRepository(willHave)) return false;
  return isGitObeyedName(name) || (!isRepository(has) && OBEYED.some(has));
}

const PARTS: ReadonlySet<string> = new Set(["head", "objects", "refs"]);
const OBEYED = ["config", "config.worktree", "hooks", "commondir"];

function isRepository(has: (part: string) => boolean): boolean {
  return has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
}

/** The folders from which git takes settings in a work tree, whatever its `.git` is; the last may be shared with others. */
export function settingsFoldersOf(workTree: string): string[] {
  const path = join(workTree, ".git");
  const own = targetOfGitFile(path) ?? realOrSame(path);
  const common = commonFolderOf(own);
  return common === undefined ? [own] : [own, common];
}

/** Where a file `.git` sends git. Read as git reads it: a zero byte ends it, line breaks at its very end are no part of it. */
export function targetOfGitFile(path: string): string | undefined {
  const text = readPointer(path);
  return text.startsWith(GIT_FILE) && text.length > GIT_FILE.length
    ? placeOf(text.slice(GIT_FILE.length), dirname(path))
    : undefined;
}

/** Where a git folder keeps what it shares with others. */
export function commonFolderOf(gitFolder: string): string | undefined {
  const target = readPointer(join(gitFolder, "commondir"));
  return target === "" ? undefined : placeOf(target, gitFolder);
}

/** As the kernel finds it: `..` behind a link leads elsewhere than it spells. */
function placeOf(target: string, base: string): string {
  const path = isAbsolute(target) ? target : `${base}/${target}`;
  return realOrSame(path) === path ? resolve(path) : realOrSame(path);
}

const GIT_FILE = "gitdir: ";
/** As much as git itself reads. */
const MAX_POINTER_BYTES = 1_048_576;

/** Through links, as git does. */
function readPointer(path: string): string {
  try {
    const stat = statSync(path);
    // Files of the kernel have no size, and some of them never end.
    if (!stat.isFile() || stat.size === 0 || stat.size > MAX_POINTER_BYTES) return "";
    const text = readFileSync(path, "utf8").replace(/[\r\n]+$/, "");
    return text.split("\0", 1)[0] ?? "";
  } catch {
    return ""; // Not there.
  }
}

function realOrSame(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path; // Not there.
  }
}

function isThere(folder: string, name: string): boolean {
  try {
    return lstatSync(join(folder, name), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // Not a folder.
  }
}
