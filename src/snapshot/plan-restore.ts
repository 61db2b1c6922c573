/**
 * What a restore would write and delete: the difference between the present content and the snapshot, within the
 * root. It must never plan to delete a file that is ignored now or was when the snapshot was taken, nor touch another
 * repository inside the work tree. Changes nothing.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Repository } from "./find-repository.ts";
import type { PrivateGitDir } from "./private-git-dir.ts";
import { joinNul, splitNul } from "./run-git.ts";

/** Paths from the top of the work tree, as Latin-1 of their bytes. */
export interface RestorePlan {
  readonly writes: readonly string[];
  readonly deletions: readonly string[];
}

export interface RestoreRequest {
  /** The tree of the present content, and the commit to go back to. */
  readonly present: string;
  readonly snapshot: string;
  /** Gets the snapshot's entries. */
  readonly index: string;
}

export async function planRestore(
  { scope }: Repository,
  own: PrivateGitDir,
  { present, snapshot, index }: RestoreRequest,
): Promise<RestorePlan> {
  const env = { GIT_INDEX_FILE: index };
  await own.git(["read-tree", snapshot], { env });
  const output = await own.git([...DIFF_TREE, present, snapshot, "--", ...scope]);
  const changes = parseChanges(splitNul(output)).filter((change) => !change.isRepository);
  const gone = changes.filter((change) => change.status === "D").map(({ path }) => path);
  const kept = gone.length === 0 ? new Set() : await ignoredAtSnapshot(own, index, gone);
  return {
    writes: changes.filter((change) => change.status !== "D").map(({ path }) => path),
    deletions: gone.filter((path) => !kept.has(path)),
  };
}

const DIFF_TREE = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", "--no-textconv"];

/** The mode of an entry that stands for another repository. */
const GITLINK = "160000";

interface Change {
  readonly path: string;
  readonly status: string;
  readonly isRepository: boolean;
}

/** Each change is `:<old mode> <new mode> <old id> <new id> <status>`, then the path. */
function parseChanges(parts: readonly string[]): Change[] {
  const changes: Change[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [before, after, , , status = ""] = (parts[at] ?? "").slice(1).split(" ");
    changes.push({
      path: parts[at + 1] ?? "",
      status,
      isRepository: before === GITLINK || after === GITLINK,
    });
  }
  return changes;
}

/** Asks the snapshot's own `.gitignore` files, in a folder that holds nothing else: the present ones may be gone. */
async function ignoredAtSnapshot(
  { git, folder }: PrivateGitDir,
  index: string,
  paths: readonly string[],
): Promise<Set<string>> {
  const view = join(folder, "ignore-view");
  mkdirSync(view, { recursive: true });
  const env = { GIT_INDEX_FILE: index, GIT_WORK_TREE: view };
  const tracked = splitNul(await git(["ls-files", "-z", "--cached"], { env }));
  const rules = tracked.filter((path) => path === ".gitignore" || path.endsWith("/.gitignore"));
  await git(["checkout-index", "-z", "--stdin"], { env, input: joinNul(rules) });
  // This command takes no literal paths; "./" keeps a colon at the start of a name from being read as magic.
  const output = await git(["check-ignore", "-z", "--no-index", "--stdin"], {
    env: { ...env, GIT_LITERAL_PATHSPECS: "0" },
    input: joinNul(paths.map((path) => `./${path}`)),
    accept: [0, 1],
  });
  return new Set(splitNul(output).map((path) => path.slice(2)));
}
