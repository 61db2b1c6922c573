/**
 * Whether a folder is, or would become, what git takes for a repository. Git finds one by its content, under any name, so
 * plain files in a folder are enough to make it run a program.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
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

function isThere(folder: string, name: string): boolean {
  try {
    return lstatSync(join(folder, name), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // Not a folder.
  }
}
