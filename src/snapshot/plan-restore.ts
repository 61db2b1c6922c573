/**
 * Plans what a restore writes and deletes: the difference between the current content and the snapshot, within the
 * root. It must never plan to change a file that tools must not change, to delete a file that is ignored now or was
 * ignored at the snapshot, or to touch another repository inside the work tree. It changes nothing itself.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ToolwrightError } from "../errors.ts";
import { refuseProtected } from "../sandbox/protection/refuse-protected.ts";
import type { Repository } from "./find-repository.ts";
import type { PrivateGitDir } from "./private-git-dir.ts";
import { joinNul, splitNul } from "./run-git.ts";
import type { IsExcluded } from "./excluded-files.ts";

/** Paths from the top of the work tree, as the Latin-1 form of their bytes. */
export interface RestorePlan {
  readonly writes: readonly string[];
  readonly deletions: readonly string[];
  /** Protected files that differ from the snapshot. */
  readonly leftAlone: readonly string[];
}

export interface RestoreRequest {
  readonly snapshot: string;
  /** The folder with its verified objects. */
  readonly objects: string;
  /** Receives the snapshot's entries. */
  readonly index: string;
  readonly isExcluded: IsExcluded;
}

export async function planRestore(
  repository: Repository,
  own: PrivateGitDir,
  { snapshot, objects, index, isExcluded }: RestoreRequest,
): Promise<RestorePlan> {
  const env = { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: "" };
  await own.reading.git(["read-tree", snapshot], { env: { ...env, GIT_INDEX_FILE: index } });
  const [then, now] = await Promise.all([
    listIndex(repository, own, { ...env, GIT_INDEX_FILE: index }),
    listIndex(repository, own, {}),
  ]);
  const changed = [...then].flatMap(([path, entry]) => (now.get(path) === entry ? [] : [path]));
  const gone = [...now.keys()].filter((path) => !then.has(path));
  const leftAlone = [...changed, ...gone].filter((path) => isExcluded(path) || isLeftAlone(repository, path));
  const closed = new Set(leftAlone);
  const isRepository = (path: string): boolean =>
    [then.get(path), now.get(path)].some((entry) => entry?.startsWith(GITLINK) === true);
  const isOpen = (path: string): boolean => !closed.has(path) && !isRepository(path);
  const removable = gone.filter(isOpen);
  const kept =
    removable.length === 0 ? new Set() : await ignoredAtSnapshot(own, { ...env, index }, removable);
  return {
    writes: changed.filter(isOpen),
    deletions: removable.filter((path) => !kept.has(path)),
    leftAlone,
  };
}

/** The mode of an entry that represents another repository. */
const GITLINK = "160000";

/** Mode and id of each path of an index, within the root. Each part is `<mode> <id> <stage>`, a tab and the path. */
async function listIndex(
  { scope }: Repository,
  { reading: { git } }: PrivateGitDir,
  env: Readonly<Record<string, string>>,
): Promise<Map<string, string>> {
  const output = await git(["ls-files", "-z", "--stage", "--", ...scope], { env });
  return new Map(
    splitNul(output).map((part) => {
      const tab = part.indexOf("\t");
      return [part.slice(tab + 1), part.slice(0, tab)];
    }),
  );
}

/**
 * Evaluates the snapshot's own `.gitignore` files in an otherwise empty folder, because the current ones may be gone.
 */
async function ignoredAtSnapshot(
  { reading: { git }, folder }: PrivateGitDir,
  { index, ...objects }: Readonly<Record<string, string>> & { readonly index: string },
  paths: readonly string[],
): Promise<Set<string>> {
  const view = join(folder, "ignore-view");
  mkdirSync(view, { recursive: true });
  const env = { ...objects, GIT_INDEX_FILE: index, GIT_WORK_TREE: view };
  const cwd = view;
  const tracked = splitNul(await git(["ls-files", "-z", "--cached"], { cwd, env }));
  const rules = tracked.filter((path) => path === ".gitignore" || path.endsWith("/.gitignore"));
  await git(["checkout-index", "-z", "--stdin"], { cwd, env, input: joinNul(rules) });
  // This command does not accept literal paths. "./" keeps a leading colon from being parsed as pathspec magic.
  const output = await git(["check-ignore", "-z", "--no-index", "--stdin"], {
    cwd,
    env: { ...env, GIT_LITERAL_PATHSPECS: "0" },
    input: joinNul(paths.map((path) => `./${path}`)),
    accept: [0, 1],
  });
  return new Set(splitNul(output).map((path) => path.slice(2)));
}

/** Whether a restore leaves a path alone. The rule is the same as for the tools that write files. */
function isLeftAlone({ top }: Repository, path: string): boolean {
  const realPath = `${top}/${Buffer.from(path, "latin1").toString("utf8")}`;
  try {
    refuseProtected({ realRoot: top, realPath, directory: undefined, folders: [] });
    return false;
  } catch (error) {
    if (ToolwrightError.is(error) && error.code === "TOOL_PATH_PROTECTED") return true;
    throw error;
  }
}
