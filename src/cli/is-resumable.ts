/** Whether the command that resumes a run works as it is printed. One rule, for every command that prints one. */
import { existsSync } from "node:fs";
import type { Store } from "../store/store.ts";
import { readRun, type WorkflowRunRow } from "../store/tables/workflow-runs.ts";
import { readLivingOwner } from "./owner.ts";

/** Not for a run that another process is running, nor for one of a program, whose file is not stored. */
export async function isResumable(store: Store, run: WorkflowRunRow | undefined): Promise<boolean> {
  if (run === undefined || run.status === "finished" || run.file === null || !existsSync(run.file))
    return false;
  return run.status !== "running" || (await readLivingOwner(store, run.ownerId)) === undefined;
}

/** Those of these runs that are. */
export async function resumableAmong(store: Store, runIds: Iterable<string>): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const runId of new Set(runIds)) {
    if (await isResumable(store, await store.read(() => readRun(runId)))) found.add(runId);
  }
  return found;
}
