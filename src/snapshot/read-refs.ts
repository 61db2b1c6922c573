/**
 * Reads HEAD and the refs of snapshots. HEAD is the one thing that is asked of the repository's own git folder,
 * since each work tree has another; only its name is resolved there, no object is opened.
 */
import type { Repository } from "./find-repository.ts";
import type { PrivateGitDir } from "./private-git-dir.ts";
import { createGit } from "./run-git.ts";
import { seqOf } from "./snapshot-ref.ts";

export interface SnapshotRef {
  readonly ref: string;
  readonly seq: number;
  readonly commit: string;
  readonly message: string;
}

/** The commit of HEAD, or `undefined` before the first one. */
export async function readHead(
  { program, gitDir }: Repository,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const git = createGit({ program, cwd: gitDir, env: { GIT_DIR: gitDir }, signal });
  const output = await git(["rev-parse", "--verify", "--quiet", "HEAD"], { accept: [0, 1] });
  return output.toString().trim() || undefined;
}

/** Those whose name starts with `prefix`, which ends in a slash; by run, then by number. */
export async function readSnapshotRefs({ git }: PrivateGitDir, prefix: string): Promise<SnapshotRef[]> {
  const output = await git(["for-each-ref", `--format=${FORMAT}`, prefix]);
  return output
    .toString("utf8")
    .split("\0\n")
    .flatMap((entry) => {
      const [ref = "", commit = "", type, message = ""] = entry.split("\0");
      const seq = seqOf(ref);
      return seq === undefined || type !== "commit" ? [] : [{ ref, seq, commit, message }];
    })
    .sort((a, b) => compare(folderOf(a.ref), folderOf(b.ref)) || a.seq - b.seq);
}

const FORMAT = "%(refname)%00%(objectname)%00%(objecttype)%00%(contents)%00";

function folderOf(ref: string): string {
  return ref.slice(0, ref.lastIndexOf("/"));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
