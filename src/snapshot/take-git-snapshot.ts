/**
 * Stores the content of a root as a commit under `refs/toolwright/<run>/<seq>`, and its id in the store. It must
 * never touch the user's index, HEAD, branches, reflogs, hooks or config, nor run a program that the repository
 * names.
 */
import type { IsolationMode } from "../sandbox/tiers/isolation-tier.ts";
import { listSnapshots, readIndexHash, saveSnapshot } from "../store/tables/snapshots.ts";
import type { Store } from "../store/store.ts";
import { sha256Hex } from "../util/hash.ts";
import { snapshotRef } from "./snapshot-ref.ts";
import { rememberStore } from "./snapshot-store.ts";
import { stageWorkTree } from "./stage-work-tree.ts";
import { createIsExcluded } from "./excluded-files.ts";
import { withRepository } from "./with-repository.ts";
import { writeCommit } from "./write-commit.ts";

export interface TakeGitSnapshotOptions {
  readonly store: Store;
  /** The path or address for opening the store again, if there is one. */
  readonly storePath?: string | undefined;
  readonly rootDir: string;
  /** The name that the snapshots are listed under: the run, plus the task and attempt if it is not the first. */
  readonly name: string;
  /** Retention deletes the snapshot with this run. Defaults to `name`. */
  readonly runId?: string | undefined;
  /** A snapshot with the same number is replaced. */
  readonly seq: number;
  readonly label: string;
  readonly toolUseId?: string | undefined;
  readonly takenAtMs?: number | undefined;
  readonly isolation?: IsolationMode | undefined;
  /** Files of stores, which no snapshot contains. */
  readonly storeFiles?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface GitSnapshotRef {
  readonly ref: string;
  readonly commit: string;
}

/** `undefined` if the root is not in a git work tree. */
export async function takeGitSnapshot(options: TakeGitSnapshotOptions): Promise<GitSnapshotRef | undefined> {
  const { store, rootDir, name, seq, label, toolUseId, isolation, signal } = options;
  const ref = snapshotRef(name, seq);
  return withRepository({
    rootDir,
    isolation,
    signal,
    run: async (repository, own) => {
      rememberStore(repository.gitDir, options.storePath ?? store);
      const gitDir = sha256Hex(repository.gitDir);
      const indexHash = await store.read(() => readIndexHash(gitDir));
      const earlier = await store.read(() => listSnapshots(name));
      const isExcluded = createIsExcluded(repository, options.storeFiles ?? []);
      await stageWorkTree(repository, own, { indexHash, isExcluded });
      const parents = [earlier.findLast((row) => row.seq < seq)?.commit, own.head];
      const takenAtMs = options.takenAtMs ?? Date.now();
      const note = { runId: name, label, toolUseId, takenAtMs };
      const stored = await writeCommit(repository, own, { ref, parents, note });
      const { runId = name } = options;
      const row = { name, seq, runId, gitDir, ...stored, noteJson: JSON.stringify(note), takenAtMs };
      await store.transaction(() => saveSnapshot(row), "normal");
      return { ref, commit: stored.commit };
    },
  });
}
