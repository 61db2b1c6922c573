/**
 * Keeps the content of a root as a commit under `refs/toolwright/<run>/<seq>`. It must never touch the user's index,
 * HEAD, branches, reflogs, hooks or config, nor run a program that the repository names.
 */
import { readHead, readSnapshotRefs } from "./read-refs.ts";
import { runRefs, snapshotRef } from "./snapshot-ref.ts";
import { stageWorkTree } from "./stage-work-tree.ts";
import { withRepository } from "./with-repository.ts";
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
  return withRepository({
    rootDir,
    signal,
    run: async (repository, own) => {
      const [head, snapshots] = await Promise.all([
        readHead(repository, signal),
        readSnapshotRefs(own, runRefs(runId)),
      ]);
      const tree = await stageWorkTree(repository, own, head);
      const parent = snapshots.findLast((snapshot) => snapshot.seq < seq)?.commit ?? head;
      const note = { runId, label, toolUseId, takenAtMs: options.takenAtMs ?? Date.now() };
      return { ref, commit: await writeCommit(own, { ref, tree, parent, note }) };
    },
  });
}
