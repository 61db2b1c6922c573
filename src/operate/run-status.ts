/** The status of a run as operators see it. Imports only types, so every command can load it quickly. */
import type { RunStatus, ShownStatus } from "../runtime/runs.ts";

export type { RunStatus, ShownStatus } from "../runtime/runs.ts";
export { APPROVAL_STATUSES, RUN_KINDS, RUN_STATES, type RunKind } from "../store/run-words.ts";

/** The longest page of runs. */
export const MOST_RUNS = 200;

export function shownStatus(run: { readonly status: RunStatus; readonly interrupted: boolean }): ShownStatus {
  return run.interrupted ? "interrupted" : run.status;
}

/** Whether the run has ended. A cancelled or failed one can be resumed. */
export function isOver(status: RunStatus): boolean {
  return status === "finished" || status === "failed" || status === "cancelled";
}
