/** Lists the snapshots in a repository: the refs whose commits the store has. Reads only. */
import type { IsolationMode } from "../sandbox/tiers/isolation-tier.ts";
import type { StoreOption } from "../store/open-store.ts";
import { listSnapshots } from "../store/tables/snapshots.ts";
import { checkOptions } from "../definition/option-table.ts";
import { LIST_SNAPSHOTS } from "./check-options.ts";
import { readSnapshotRefs } from "./read-refs.ts";
import { parseNote } from "./snapshot-message.ts";
import { runRefs, SNAPSHOT_REFS, snapshotRef } from "./snapshot-ref.ts";
import { withSnapshotStore } from "./snapshot-store.ts";
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
  /** The runtime's store. Defaults to the one this process last took a snapshot with, else `toolwright.db`. */
  readonly store?: StoreOption | undefined;
  readonly isolation?: IsolationMode | undefined;
}

/** Ordered by run, then by number. Empty if the root is not in a git work tree. */
export async function listGitSnapshots(options: ListGitSnapshotsOptions): Promise<GitSnapshot[]> {
  checkOptions(LIST_SNAPSHOTS, options);
  const { rootDir, runId, store, isolation } = options;
  const prefix = runId === undefined ? SNAPSHOT_REFS : runRefs(runId);
  const found = await withRepository({
    rootDir,
    isolation,
    run: async ({ gitDir }, own) => {
      const refs = await readSnapshotRefs(own, prefix);
      if (refs.length === 0) return [];
      const known = await withSnapshotStore(gitDir, store, (open) =>
        open.read(() => listSnapshots(runId ?? null)),
      );
      const rows = new Map(known.map((row) => [snapshotRef(row.name, row.seq), row]));
      return refs.flatMap(({ ref, commit }) => {
        const row = rows.get(ref);
        const note = row === undefined ? undefined : parseNote(row.noteJson);
        if (row?.commit !== commit || note === undefined) return [];
        const tool = note.toolUseId === undefined ? {} : { toolUseId: note.toolUseId };
        return [
          {
            runId: row.name,
            seq: row.seq,
            ref,
            commit,
            label: note.label,
            ...tool,
            takenAtMs: row.takenAtMs,
          },
        ];
      });
    },
  });
  return found ?? [];
}
