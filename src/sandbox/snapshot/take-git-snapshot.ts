/**
 * Keeps the content of a root as a commit under `refs/toolwright/<run>/<seq>`. It must never touch the user's index,
 * HEAD, branches, reflogs, hooks or config, nor run a program that the repository names.
 */
import { findRepository } from "./find-repository.ts";
import { inTurn } from "./in-turn.ts";
import { openPrivateGitDir } from "./private-git-dir.ts";
import { readHead, readSnapshotRefs } from "./read-refs.ts";
import { runRefs, snapshotRef } from "./snapshot-ref.ts";
import { stageWorkTree } from "./stage-work-tree.ts";
import { writeCommit } from "./write-commit.ts";

export interface TakeGitSnapshotOptions {
  readonly rootDir: string;
  readonly runId: string;
  /** A snapshot of the same number is replaced. */
  readonly seq: number;
  readonly label: string;
  readonly toolUseId?: string | undefined;
  readonly takenAtMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface GitSnapshotRef {
  readonly ref: string;
  readonly commit: string;
}

/** `undefined` where the root is in no git work tree. */
export async function takeGitSnapshot(options: TakeGitSnapshotOptions): Promise<GitSnapshotRef | undefined> {
  const { rootDir, runId, seq, label, toolUseId, signal } = options;
  const ref = snapshotRef(runId, seq);
  const repository = await findRepository(rootDir, signal);
  if (repository === undefined) return undefined;
  return inTurn(repository.commonDir, async () => {
    using own = openPrivateGitDir(repository, signal);
    const [head, snapshots] = await Promise.all([
      readHead(repository, signal),
      readSnapshotRefs(own, runRefs(runId)),
    ]);
    const tree = await stageWorkTree(repository, own, head);
    const parent = snapshots.findLast((snapshot) => snapshot.seq < seq)?.commit ?? head;
    const note = { runId, label, toolUseId, takenAtMs: options.takenAtMs ?? Date.now() };
    return { ref, commit: await writeCommit(own, { ref, tree, parent, note }) };
  });
}
