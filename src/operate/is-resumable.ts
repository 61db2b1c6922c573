/** Whether `toolwright resume <run-id>` works for a run. One rule for everything that suggests it. */
import { existsSync } from "node:fs";
import type { Store } from "../store/store.ts";
import { isReverted } from "../store/tables/reverts.ts";
import { readRun, type WorkflowRunRow } from "../store/tables/workflow-runs.ts";
import { readLivingOwner } from "./run-owner.ts";

/** Not if another process is running it, and not if a program started it: then its file is not stored. */
export async function isResumable(store: Store, run: WorkflowRunRow | undefined): Promise<boolean> {
  if (run === undefined || run.status === "finished" || run.file === null || !existsSync(run.file))
    return false;
  if (await store.read(() => isReverted(run.runId))) return false;
  return run.status !== "running" || (await readLivingOwner(store, run.ownerId)) === undefined;
}

/** The ids of those runs that can be resumed. */
export async function resumableAmong(store: Store, runIds: Iterable<string>): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const runId of new Set(runIds)) {
    if (await isResumable(store, await store.read(() => readRun(runId)))) found.add(runId);
  }
  return found;
}
