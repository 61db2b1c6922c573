/** Removes the snapshots of one run. Their objects stay until the user's own `git gc` finds them unused. */
import type { IsolationMode } from "../sandbox/tiers/isolation-tier.ts";
import type { StoreOption } from "../store/open-store.ts";
import { deleteSnapshots } from "../store/tables/snapshots.ts";
import { checkOptions } from "../definition/option-table.ts";
import { REMOVE_SNAPSHOTS } from "./check-options.ts";
import { joinNul } from "./run-git.ts";
import { runRefs, seqOf } from "./snapshot-ref.ts";
import { withSnapshotStore } from "./snapshot-store.ts";
import { withRepository } from "./with-repository.ts";

export interface RemoveGitSnapshotsOptions {
  readonly rootDir: string;
  readonly runId: string;
  /** The runtime's store. Defaults to the one this process last took a snapshot with, else `toolwright.db`. */
  readonly store?: StoreOption | undefined;
  readonly isolation?: IsolationMode | undefined;
}

/** Returns the number of snapshots. Also removes the backups that restores of this run made. */
export async function removeGitSnapshots(options: RemoveGitSnapshotsOptions): Promise<{ removed: number }> {
  checkOptions(REMOVE_SNAPSHOTS, options);
  const { rootDir, runId, store, isolation } = options;
  const removed = await withRepository({
    rootDir,
    isolation,
    run: async ({ gitDir }, { reading, storing }) => {
      const output = await reading.git(["for-each-ref", "--format=%(refname)", runRefs(runId)]);
      const refs = output.toString("latin1").split("\n").filter(Boolean);
      if (refs.length === 0) return 0;
      const deletions = refs.flatMap((ref) => ["option no-deref", `delete ${ref}`, ""]);
      await storing.git(["update-ref", "-z", "--stdin"], { input: joinNul(deletions) });
      await withSnapshotStore(gitDir, store, (open) =>
        open.transaction(() => deleteSnapshots(runId), "normal"),
      );
      return refs.filter((ref) => seqOf(ref) !== undefined).length;
    },
  });
  return { removed: removed ?? 0 };
}
