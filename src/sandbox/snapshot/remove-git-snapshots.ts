/** Forgets the snapshots of one run. Their objects stay until the user's own `git gc` finds them unused. */
import { findRepository } from "./find-repository.ts";
import { inTurn } from "./in-turn.ts";
import { openPrivateGitDir } from "./private-git-dir.ts";
import { joinNul } from "./run-git.ts";
import { runRefs, seqOf } from "./snapshot-ref.ts";

export interface RemoveGitSnapshotsOptions {
  readonly rootDir: string;
  readonly runId: string;
}

/** Counts the snapshots; what restores of this run had put aside goes with them. */
export async function removeGitSnapshots(options: RemoveGitSnapshotsOptions): Promise<{ removed: number }> {
  const repository = await findRepository(options.rootDir);
  if (repository === undefined) return { removed: 0 };
  return inTurn(repository.commonDir, async () => {
    using own = openPrivateGitDir(repository);
    const output = await own.git(["for-each-ref", "--format=%(refname)", runRefs(options.runId)]);
    const refs = output.toString("latin1").split("\n").filter(Boolean);
    if (refs.length === 0) return { removed: 0 };
    const deletions = refs.flatMap((ref) => ["option no-deref", `delete ${ref}`, ""]);
    await own.git(["update-ref", "-z", "--stdin"], { input: joinNul(deletions) });
    return { removed: refs.filter((ref) => seqOf(ref) !== undefined).length };
  });
}
