/**
 * Makes the content of a root equal to a snapshot, without the user's index, HEAD or hooks. What was there before is
 * kept as a commit first, so that nothing is lost by a restore, nor by one that stops in the middle.
 */
import { join } from "node:path";
import { ToolwrightError } from "../errors.ts";
import { applyRestore } from "./apply-restore.ts";
import { checkRestore } from "./check-restore.ts";
import { noRepository, type Repository } from "./find-repository.ts";
import { planRestore } from "./plan-restore.ts";
import type { PrivateGitDir } from "./private-git-dir.ts";
import { readHead } from "./read-refs.ts";
import { runRefs, snapshotRef } from "./snapshot-ref.ts";
import { stageWorkTree } from "./stage-work-tree.ts";
import { withRepository } from "./with-repository.ts";
import { writeCommit } from "./write-commit.ts";

export interface RestoreGitSnapshotOptions {
  readonly rootDir: string;
  readonly runId: string;
  readonly seq: number;
  readonly signal?: AbortSignal | undefined;
}

export interface RestoredGitSnapshot {
  readonly restored: number;
  readonly removed: number;
  /** Holds what was there before. */
  readonly before: { readonly ref: string; readonly commit: string };
}

export async function restoreGitSnapshot(options: RestoreGitSnapshotOptions): Promise<RestoredGitSnapshot> {
  const { rootDir, runId, seq, signal } = options;
  snapshotRef(runId, seq); // Refuses a number that is none, before anything is read.
  const run = (repository: Repository, own: PrivateGitDir) => restore(repository, own, options);
  const restored = await withRepository({ rootDir, signal, run });
  if (restored === undefined) throw noRepository(rootDir);
  return restored;
}

async function restore(
  repository: Repository,
  own: PrivateGitDir,
  { runId, seq, signal }: RestoreGitSnapshotOptions,
): Promise<RestoredGitSnapshot> {
  const snapshot = await resolveRef(own, snapshotRef(runId, seq));
  if (snapshot === undefined) throw unknownSnapshot(runId, seq);
  const head = await readHead(repository, signal);
  const present = await stageWorkTree(repository, own, head);
  const index = join(own.folder, "snapshot-index");
  const plan = await planRestore(repository, own, { present, snapshot, index });
  checkRestore(repository.top, plan);

  const before = `${runRefs(runId)}before-restore`;
  // One after the other, so that a second try does not lose what the first one found.
  const parent = (await resolveRef(own, before)) ?? head;
  const note = { runId, label: `Before the restore of snapshot ${seq}`, takenAtMs: Date.now() };
  const commit = await writeCommit(own, { ref: before, tree: present, parent, note });
  try {
    await applyRestore(repository, own, { ...plan, index });
  } catch (cause) {
    throw stoppedInTheMiddle(`snapshot ${seq} of run ${JSON.stringify(runId)}`, { cause, commit });
  }
  const { writes, deletions } = plan;
  return { restored: writes.length, removed: deletions.length, before: { ref: before, commit } };
}

async function resolveRef({ git }: PrivateGitDir, ref: string): Promise<string | undefined> {
  const output = await git(["rev-parse", "--verify", "--quiet", `${ref}^{commit}`], { accept: [0, 1] });
  return output.toString().trim() || undefined;
}

function unknownSnapshot(runId: string, seq: number): ToolwrightError {
  return new ToolwrightError(
    "TOOL_FILE_NOT_FOUND",
    `There is no snapshot ${seq} of run ${JSON.stringify(runId)} in this repository. Nothing was changed.`,
    { hint: "List the snapshots of the run and use one of their numbers.", effect: "none" },
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
