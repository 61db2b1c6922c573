/** Which workflow a run belongs to, so that a process can find its definition. */
import type { Store } from "../store/store.ts";
import { readRun } from "../store/tables/workflow-runs.ts";

export interface WorkflowOrigin {
  readonly workflow: string;
  /** `null` if a program started the run. */
  readonly file: string | null;
}

/** `undefined` for a run that is not a workflow's. */
export async function readWorkflowOrigin(store: Store, runId: string): Promise<WorkflowOrigin | undefined> {
  const run = await store.read(() => readRun(runId));
  return run === undefined ? undefined : { workflow: run.workflow, file: run.file };
}
