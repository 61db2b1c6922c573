/** The statuses of runs as they are shown and filtered by. */
import type { RunStatus } from "../store/tables/workflow-runs.ts";
import type { Colour } from "./screen.ts";

/** `interrupted`: stored as running, and the process that ran it is gone. */
export type ShownStatus = RunStatus | "interrupted";

export const STATUS_COLOURS: Readonly<Record<ShownStatus, Colour>> = {
  running: "cyan",
  finished: "green",
  failed: "red",
  cancelled: "yellow",
  "waiting-approval": "yellow",
  interrupted: "red",
};

export function statusOf(run: { readonly status: RunStatus; readonly interrupted: boolean }): ShownStatus {
  return run.interrupted ? "interrupted" : run.status;
}
