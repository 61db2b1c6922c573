/**
 * The names that no tool may change or create, anywhere below the root. The file tools and commands share this list.
 * Pure. `git-guards.ts` adds the paths that git's configuration names.
 */

/** Inside a git folder: files that contain commands, or that point git to another folder that does. */
export const GIT_OBEYED = ["hooks", "config", "config.worktree", "commondir", "gitdir"] as const;

/**
 * Adds what an unfinished rebase, cherry-pick or `git am` obeys when it is continued, and lists of paths that git writes
 * or reads. Commands may write these files, file tools must not.
 */
const GIT_OBEYED_NAMES: ReadonlySet<string> = new Set([
  ...GIT_OBEYED,
  "git-rebase-todo",
  "strategy",
  "update-refs",
  "opts",
  "apply-opt",
  "index",
  "merge_rr",
]);

/** In a git folder: the folders of unfinished operations. */
export const GIT_OPERATIONS: ReadonlySet<string> = new Set(["rebase-merge", "rebase-apply", "sequencer"]);

/** Toolwright's own folder, which contains stores and instructions. */
export const OWN_FOLDER = ".toolwright";

/** The suffixes of the files that SQLite keeps next to a database. */
export const STORE_SUFFIXES = ["", "-wal", "-shm", "-journal"] as const;

/** Whether Toolwright itself would read and obey the file. `name` is folded. */
export function isOwnName(name: string): boolean {
  return name === OWN_FOLDER || name.startsWith("toolwright.config.");
}

/** `name` is folded and has to be inside a git folder. */
export function isGitObeyedName(name: string): boolean {
  return GIT_OBEYED_NAMES.has(name) || name.startsWith("sharedindex.");
}

/** Whether a path in a git folder names a ref. Git writes through symbolic refs, so file tools must not write refs. */
export function isRefPath([first = "", ...rest]: readonly string[]): boolean {
  if (first === "refs") return rest.length > 0 && !rest.includes("..");
  return rest.length === 0 && ROOT_REF.test(first);
}

/** Refs that git writes next to its folder `refs`. */
const ROOT_REF =
  /^(?:[A-Z_]*HEAD|AUTO_MERGE|MERGE_AUTOSTASH|BISECT_EXPECTED_REV|NOTES_MERGE_(?:REF|PARTIAL))$/;

/** Default names of a runtime's store. `name` is folded. */
export function isStoreName(name: string): boolean {
  return STORE_SUFFIXES.some((suffix) => name === `toolwright.db${suffix}`);
}

/** Whether a name could be one of the above. Cheaper than folding every name of a large folder. */
export function maybeProtected(name: string): boolean {
  return SUSPECT.test(name);
}

const SUSPECT = /git|toolwright|[^\u0020-\u007e]/i;

/** Folds a name like the most lenient file system: ignores case, width and invisible characters. */
export function foldName(name: string): string {
  const folded = name
    .replaceAll(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "")
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[. ]+$/, "");
  return folded === "git~1" ? ".git" : folded;
}

/** Whether a path below the root, given as its names, is one that git obeys. */
export function isGitPath(path: readonly string[]): boolean {
  const names = path.map(foldName);
  const git = names.indexOf(".git");
  if (git === -1) return false;
  // A `.git` file points git to any folder that its writer chooses.
  if (git === names.length - 1 || names.slice(git + 1).some(isGitObeyedName)) return true;
  // A repository of a submodule or a work tree begins further down.
  return path.some((_, index) => index > git && isRefPath(path.slice(index)));
}
