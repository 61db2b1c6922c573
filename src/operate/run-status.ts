/** The status of a run as operators see it. Free of imports that run, so that every command can afford it. */
import type { RunStatus } from "../store/tables/workflow-runs.ts";

/** `interrupted`: the run is stored as running, and its owner is dead. */
export type ShownStatus = RunStatus | "interrupted";

export function shownStatus(run: { readonly status: RunStatus; readonly interrupted: boolean }): ShownStatus {
  return run.interrupted ? "interrupted" : run.status;
}
