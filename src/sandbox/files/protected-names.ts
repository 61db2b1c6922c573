/**
 * The names that no tool may change or make, wherever they lie below the root: one list for the file tools and for commands.
 * Pure. Which further paths are protected because git's configuration names them is in `git-guards.ts`.
 */

/** Inside a git folder: what holds commands, or leads git to another folder that does. */
export const GIT_OBEYED = ["hooks", "config", "config.worktree", "commondir", "gitdir"] as const;

/** With the list of a rebase, whose commands `git rebase --continue` runs: commands may write it, file tools may not. */
const GIT_OBEYED_NAMES: ReadonlySet<string> = new Set([...GIT_OBEYED, "git-rebase-todo"]);

/** Toolwright's own folder: stores and instructions lie in it. */
export const OWN_FOLDER = ".toolwright";

/** SQLite's own files beside a database. */
export const STORE_SUFFIXES = ["", "-wal", "-shm", "-journal"] as const;

/** What Toolwright itself would read and obey. `name` is folded. */
export function isOwnName(name: string): boolean {
  return name === OWN_FOLDER || name.startsWith("toolwright.config.");
}

/** `name` is folded; it has to lie somewhere in a git folder. */
export function isGitObeyedName(name: string): boolean {
  return GIT_OBEYED_NAMES.has(name);
}

/** Names the store of a runtime has by default. `name` is folded. */
export function isStoreName(name: string): boolean {
  return STORE_SUFFIXES.some((suffix) => name === `toolwright.db${suffix}`);
}

/** Whether a name could be one of the above; cheaper than folding every name of a large folder. */
export function maybeProtected(name: string): boolean {
  return SUSPECT.test(name);
}

const SUSPECT = /git|toolwright|[^\u0020-\u007e]/i;

/** As the most careless of file systems compares names: by case, width and characters that are not seen. */
export function foldName(name: string): string {
  const folded = name
    .replaceAll(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "")
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[. ]+$/, "");
  return folded === "git~1" ? ".git" : folded;
}

/** Whether a path below the root, given as its names, is protected by its names alone. */
export function isProtectedByName(path: readonly string[]): boolean {
  const names = path.map(foldName);
  if (names.some((name) => isOwnName(name) || isStoreName(name))) return true;
  const git = names.indexOf(".git");
  if (git === -1) return false;
  // A file `.git` sends git to a folder of the writer's choice.
  return git === names.length - 1 || names.slice(git + 1).some(isGitObeyedName);
}
