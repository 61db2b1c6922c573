/** Reads the stored state of a run and builds its result. */
import { decodeError } from "../invoke/error-record.ts";
import type { Host } from "../invoke/host.ts";
import { readLoopEnds, readTasks } from "../store/tables/tasks.ts";
import type { WorkflowRunRow } from "../store/tables/workflow-runs.ts";
import { toRow } from "./context.ts";
import type { WorkflowDefinition } from "./create-workflows.ts";
import { toTaskState } from "./record-task.ts";
import type { WorkflowResult } from "./run-workflow.ts";
import { TaskStates } from "./task-state.ts";

export interface StoredStates {
  readonly states: TaskStates;
  readonly closedLoops: Set<string>;
  readonly lastPosition: number;
}

export async function loadStates(host: Host, runId: string): Promise<StoredStates> {
  return host.store.read(function* () {
    const rows = yield* readTasks(runId);
    return {
      states: new TaskStates(rows.map(toTaskState)),
      closedLoops: yield* readLoopEnds(runId),
      lastPosition: rows.at(-1)?.position ?? 0,
    };
  });
}

export function resultOf(
  runId: string,
  row: WorkflowRunRow,
  states: TaskStates,
  workflow: WorkflowDefinition,
): WorkflowResult {
  const rowsOf = (key: string): unknown[] => states.ofKey(key).map((state) => toRow(runId, state));
  const last = states.ofKey("output").at(-1) ?? states.last;
  return {
    runId,
    status: row.status === "running" || row.status === "queued" ? "failed" : row.status,
    output: last === undefined ? undefined : toRow(runId, last),
    outputs: Object.fromEntries(Object.keys(workflow.schemas).map((key) => [key, rowsOf(key)])),
    error: row.errorJson === null ? undefined : decodeError(row.errorJson),
  };
}
