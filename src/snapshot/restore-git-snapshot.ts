/**
 * Makes the content of a root equal to a snapshot, without the user's index, HEAD or hooks. It first stores the
 * current content as a commit, so that nothing is lost, even if the restore stops in the middle.
 */
import { join, relative, resolve } from "node:path";
import { ToolwrightError } from "../errors.ts";
import type { IsolationMode } from "../sandbox/tiers/isolation-tier.ts";
import type { StoreOption } from "../store/open-store.ts";
import { readIndexHash, readSnapshot } from "../store/tables/snapshots.ts";
import { sha256Hex } from "../util/hash.ts";
import { applyRestore } from "./apply-restore.ts";
import { checkOptions } from "../definition/option-table.ts";
import { RESTORE_SNAPSHOT } from "./check-options.ts";
import { checkRestore } from "./check-restore.ts";
import { noRepository, type Repository } from "./find-repository.ts";
import { toPathBytes } from "./path-bytes.ts";
import { planRestore } from "./plan-restore.ts";
import type { PrivateGitDir } from "./private-git-dir.ts";
import { runRefs, snapshotRef } from "./snapshot-ref.ts";
import { withSnapshotStore } from "./snapshot-store.ts";
import { stageWorkTree } from "./stage-work-tree.ts";
import { createIsExcluded } from "./excluded-files.ts";
import { verifySnapshot } from "./verify-snapshot.ts";
import { withRepository } from "./with-repository.ts";
import { writeCommit } from "./write-commit.ts";

export interface RestoreGitSnapshotOptions {
  readonly rootDir: string;
  readonly runId: string;
  readonly seq: number;
  /** The runtime's store. Defaults to the one this process last took a snapshot with, else `toolwright.db`. */
  readonly store?: StoreOption | undefined;
  readonly isolation?: IsolationMode | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RestoredGitSnapshot {
  readonly restored: number;
  readonly removed: number;
  /**
   * Differs from the snapshot but was not changed, because tools must not change it. Example: `toolwright.config.ts`.
   */
  readonly leftAlone: readonly string[];
  /** The commit with the content before the restore. */
  readonly before: { readonly ref: string; readonly commit: string };
}

export async function restoreGitSnapshot(options: RestoreGitSnapshotOptions): Promise<RestoredGitSnapshot> {
  checkOptions(RESTORE_SNAPSHOT, options);
  const { rootDir, runId, seq, isolation, signal } = options;
  snapshotRef(runId, seq); // Rejects an invalid number before anything is read.
  const run = (repository: Repository, own: PrivateGitDir) => restore(repository, own, options);
  const restored = await withRepository({ rootDir, isolation, signal, run });
  if (restored === undefined) throw noRepository(rootDir);
  return restored;
}

async function restore(
  repository: Repository,
  own: PrivateGitDir,
  { runId, seq, store }: RestoreGitSnapshotOptions,
): Promise<RestoredGitSnapshot> {
  const { gitDir, root } = repository;
  const { row, indexHash, storeFiles } = await withSnapshotStore(gitDir, store, async (open) => ({
    row: await open.read(() => readSnapshot(runId, seq)),
    indexHash: await open.read(() => readIndexHash(sha256Hex(gitDir))),
    storeFiles: open.path === undefined || open.path === ":memory:" ? [] : [resolve(open.path)],
  }));
  if (row === undefined) throw unknownSnapshot(runId, seq);
  const snapshot = row.commit;
  const objects = await verifySnapshot(own, snapshot);
  const isExcluded = createIsExcluded(repository, storeFiles);
  await stageWorkTree(repository, own, { indexHash, isExcluded });
  const index = join(own.folder, "snapshot-index");
  const plan = await planRestore(repository, own, { snapshot, objects, index, isExcluded });
  checkRestore(repository.top, plan);

  const before = `${runRefs(runId)}before-restore`;
  // Chained, so that a second attempt does not lose what the first one stored.
  const parents = [await resolveRef(own, before), own.head];
  const note = { runId, label: `Before the restore of snapshot ${seq}`, takenAtMs: Date.now() };
  const { commit } = await writeCommit(repository, own, { ref: before, parents, note });
  try {
    await applyRestore(repository, own, { ...plan, index, objects });
  } catch (cause) {
    throw stoppedInTheMiddle(`snapshot ${seq} of run ${JSON.stringify(runId)}`, { cause, commit });
  }
  const { writes, deletions } = plan;
  const leftAlone = plan.leftAlone.map((path) =>
    relative(root, toPathBytes(repository.top, path).toString("utf8")),
  );
  return { restored: writes.length, removed: deletions.length, leftAlone, before: { ref: before, commit } };
}

async function resolveRef({ reading: { git } }: PrivateGitDir, ref: string): Promise<string | undefined> {
  const output = await git(["rev-parse", "--verify", "--quiet", `${ref}^{commit}`], { accept: [0, 1] });
  return output.toString().trim() || undefined;
}

function unknownSnapshot(runId: string, seq: number): ToolwrightError {
  return new ToolwrightError(
    "TOOL_FILE_NOT_FOUND",
    `The store has no snapshot ${seq} of run ${JSON.stringify(runId)}. Nothing was changed.`,
    {
      hint: "List the snapshots of the run and use one of their numbers. A ref that the store does not know is not restored.",
      effect: "none",
    },
  );
}

function stoppedInTheMiddle(
  what: string,
  { cause, commit }: { cause: unknown; commit: string },
): ToolwrightError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new ToolwrightError(
    "TOOL_EXECUTION_FAILED",
    `The restore of ${what} stopped in the middle, so some files are restored and some are not: ${why}`,
    {
      hint:
        "Remove the cause and run the same restore again; it finishes what is left. " +
        `All content from before is kept in commit ${commit}; in the root, \`git restore --source=${commit} -- .\` ` +
        "brings it back.",
      details: { before: commit },
      effect: "happened",
      cause,
    },
  );
}
