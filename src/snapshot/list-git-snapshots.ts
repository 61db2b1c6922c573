/** What snapshots a repository holds. Reads only; refs that are no snapshot of ours are passed over. */
import { readSnapshotRefs } from "./read-refs.ts";
import { parseMessage } from "./snapshot-message.ts";
import { runRefs, SNAPSHOT_REFS, snapshotRef } from "./snapshot-ref.ts";
import { withRepository } from "./with-repository.ts";

export interface GitSnapshot {
  readonly runId: string;
  readonly seq: number;
  readonly ref: string;
  readonly commit: string;
  readonly label: string;
  readonly toolUseId?: string | undefined;
  readonly takenAtMs: number;
}

export interface ListGitSnapshotsOptions {
  readonly rootDir: string;
  readonly runId?: string | undefined;
}

/** By run, then by number; empty where the root is in no git work tree. */
export async function listGitSnapshots({ rootDir, runId }: ListGitSnapshotsOptions): Promise<GitSnapshot[]> {
  const prefix = runId === undefined ? SNAPSHOT_REFS : runRefs(runId);
  const refs = await withRepository({ rootDir, run: (_repository, own) => readSnapshotRefs(own, prefix) });
  return (refs ?? []).flatMap(({ ref, seq, commit, message }) => {
    const note = parseMessage(message);
    if (note === undefined || snapshotRef(note.runId, seq) !== ref) return [];
    const { toolUseId } = note;
    const tool = toolUseId === undefined ? {} : { toolUseId };
    return [{ runId: note.runId, seq, ref, commit, label: note.label, ...tool, takenAtMs: note.takenAtMs }];
  });
}
