/** Runs of workflows: what they were started with, how they stand, who owns them. */
import { integer, integerOrNull, oneOf, text, textOrNull } from "./columns.ts";
import { change, first, type Row } from "./statement.ts";
import type { Transaction } from "./store.ts";

export const RUN_STATUSES = ["running", "finished", "failed", "cancelled", "waiting-approval"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export interface WorkflowRunRow {
  readonly runId: string;
  readonly workflow: string;
  readonly file: string | null;
  readonly shape: string;
  readonly status: RunStatus;
  readonly inputJson: string;
  readonly optionsJson: string;
  readonly errorJson: string | null;
  readonly epoch: number;
  readonly ownerId: string | null;
  readonly isCancelRequested: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly finishedAtMs: number | null;
}

export type NewWorkflowRun = Pick<
  WorkflowRunRow,
  "runId" | "workflow" | "file" | "shape" | "inputJson" | "optionsJson" | "ownerId" | "createdAtMs"
>;

/** 0 when the id is taken. The new run belongs to its maker, in epoch 1. */
export function insertRun(run: NewWorkflowRun): Transaction<number> {
  return change(
    `INSERT INTO toolwright_workflow_runs (run_id, workflow, file, shape, status, input_json, options_json, epoch,
       owner_id, created_at_ms, updated_at_ms)
     VALUES (?1, ?2, ?3, ?4, 'running', ?5, ?6, 1, ?7, ?8, ?8) ON CONFLICT DO NOTHING`,
    run.runId,
    run.workflow,
    run.file,
    run.shape,
    run.inputJson,
    run.optionsJson,
    run.ownerId,
    run.createdAtMs,
  );
}

export function* readRun(runId: string): Transaction<WorkflowRunRow | undefined> {
  const row = yield* first("SELECT * FROM toolwright_workflow_runs WHERE run_id = ?1", runId);
  return row === undefined ? undefined : toRunRow(row);
}

/**
 * Takes a run over from the owner that the caller has judged, with what it goes on with. 0 when it has another owner
 * by now.
 */
export function* takeRun(
  run: WorkflowRunRow,
  next: Pick<WorkflowRunRow, "ownerId" | "shape" | "file" | "optionsJson" | "updatedAtMs">,
): Transaction<number> {
  const row = yield* first(
    `UPDATE toolwright_workflow_runs SET owner_id = ?2, epoch = epoch + 1, status = 'running', error_json = NULL,
       updated_at_ms = ?4, finished_at_ms = NULL, shape = ?5, file = ?6, options_json = ?7, cancel_requested = 0
     WHERE run_id = ?1 AND epoch = ?3 RETURNING epoch`,
    run.runId,
    next.ownerId,
    run.epoch,
    next.updatedAtMs,
    next.shape,
    next.file,
    next.optionsJson,
  );
  return row === undefined ? 0 : integer(row, "epoch");
}

/** 0 when the run was taken over. Lets go of it unless it goes on running. */
export function endRun(
  runId: string,
  epoch: number,
  end: { readonly status: RunStatus; readonly errorJson: string | null; readonly nowMs: number },
): Transaction<number> {
  return change(
    `UPDATE toolwright_workflow_runs SET status = ?3, error_json = ?4, updated_at_ms = ?5, owner_id = NULL,
       finished_at_ms = CASE WHEN ?3 IN ('finished', 'failed', 'cancelled') THEN CAST(?5 AS BIGINT) END
     WHERE run_id = ?1 AND epoch = ?2`,
    runId,
    epoch,
    end.status,
    end.errorJson,
    end.nowMs,
  );
}

/** Lets go of a run that has not come to its end. */
export function releaseRun(runId: string, epoch: number): Transaction<number> {
  return change(
    "UPDATE toolwright_workflow_runs SET owner_id = NULL WHERE run_id = ?1 AND epoch = ?2",
    runId,
    epoch,
  );
}

/** For a run that is at work: its owner will see it. */
export function requestCancel(runId: string): Transaction<number> {
  return change(
    "UPDATE toolwright_workflow_runs SET cancel_requested = 1 WHERE run_id = ?1 AND status = 'running'",
    runId,
  );
}

/** For a run that nobody is at work on. 0 when somebody is by now. */
export function cancelIdleRun(run: WorkflowRunRow, nowMs: number): Transaction<number> {
  return change(
    `UPDATE toolwright_workflow_runs SET status = 'cancelled', owner_id = NULL, epoch = epoch + 1, updated_at_ms = ?3,
       finished_at_ms = ?3 WHERE run_id = ?1 AND epoch = ?2 AND status IN ('running', 'waiting-approval')`,
    run.runId,
    run.epoch,
    nowMs,
  );
}

export function toRunRow(row: Row): WorkflowRunRow {
  return {
    runId: text(row, "run_id"),
    workflow: text(row, "workflow"),
    file: textOrNull(row, "file"),
    shape: text(row, "shape"),
    status: oneOf(row, "status", RUN_STATUSES),
    inputJson: text(row, "input_json"),
    optionsJson: text(row, "options_json"),
    errorJson: textOrNull(row, "error_json"),
    epoch: integer(row, "epoch"),
    ownerId: textOrNull(row, "owner_id"),
    isCancelRequested: integer(row, "cancel_requested") === 1,
    createdAtMs: integer(row, "created_at_ms"),
    updatedAtMs: integer(row, "updated_at_ms"),
    finishedAtMs: integerOrNull(row, "finished_at_ms"),
  };
}
