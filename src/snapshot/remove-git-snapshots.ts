/** Forgets the snapshots of one run. Their objects stay until the user's own `git gc` finds them unused. */
import { joinNul } from "./run-git.ts";
import { runRefs, seqOf } from "./snapshot-ref.ts";
import { withRepository } from "./with-repository.ts";

export interface RemoveGitSnapshotsOptions {
  readonly rootDir: string;
  readonly runId: string;
}

/** Counts the snapshots; what restores of this run had put aside goes with them. */
export async function removeGitSnapshots(options: RemoveGitSnapshotsOptions): Promise<{ removed: number }> {
  const { rootDir, runId } = options;
  const removed = await withRepository({
    rootDir,
    run: async (_repository, { git }) => {
      const output = await git(["for-each-ref", "--format=%(refname)", runRefs(runId)]);
      const refs = output.toString("latin1").split("\n").filter(Boolean);
      const deletions = refs.flatMap((ref) => ["option no-deref", `delete ${ref}`, ""]);
      if (refs.length > 0) await git(["update-ref", "-z", "--stdin"], { input: joinNul(deletions) });
      return refs.filter((ref) => seqOf(ref) !== undefined).length;
    },
  });
  return { removed: removed ?? 0 };
}
