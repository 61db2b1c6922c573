/** Runs of workflows: their input, status and owner. */
import { voidApprovalsOfRun } from "./approvals.ts";
import { readInteger } from "./columns.ts";
import { change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { assertResumable } from "./reverts.ts";
import { columns, flag, integer, integerOrNull, oneOf, type RowOf, text, textOrNull } from "./table.ts";
import { markReady } from "./queue.ts";
import { sealRun } from "./scopes.ts";
import { countTakeover } from "./takeovers.ts";
import { assertNotDeleted } from "./tombstones.ts";

export const RUN_STATUSES = [
  "queued",
  "running",
  "finished",
  "failed",
  "cancelled",
  "waiting-approval",
  "waiting-timer",
  "waiting-signal",
] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];
/** How the work of a process on a run ends. */
export type EndStatus = Exclude<RunStatus, "queued" | "running">;

const NEW_RUN = columns({
  runId: text("run_id"),
  workflow: text("workflow"),
  file: textOrNull("file"),
  shape: text("shape"),
  inputJson: text("input_json"),
  optionsJson: text("options_json"),
  ownerId: textOrNull("owner_id"),
  createdAtMs: integer("created_at_ms"),
});

export const WORKFLOW_RUNS = columns({
  ...NEW_RUN.map,
  status: oneOf("status", RUN_STATUSES),
  errorJson: textOrNull("error_json"),
  epoch: integer("epoch"),
  isCancelRequested: flag("cancel_requested"),
  updatedAtMs: integer("updated_at_ms"),
  finishedAtMs: integerOrNull("finished_at_ms"),
});

export type NewWorkflowRun = RowOf<(typeof NEW_RUN)["map"]>;
export type WorkflowRunRow = RowOf<(typeof WORKFLOW_RUNS)["map"]>;

const INSERT = `INSERT INTO toolwright_workflow_runs (updated_at_ms, status, epoch, ${NEW_RUN.list()})
VALUES (?1, 'running', 1, ${NEW_RUN.parameters(2)}) ON CONFLICT DO NOTHING`;

/** 0 when the id is taken. The process that inserts the run owns it, in epoch 1. */
export function insertRun(run: NewWorkflowRun): Transaction<number> {
  return change(INSERT, run.createdAtMs, ...NEW_RUN.values(run));
}

export function* isWorkflowRun(runId: string): Transaction<boolean> {
  const row = yield* first("SELECT 1 AS one FROM toolwright_workflow_runs WHERE run_id = ?1", runId);
  return row !== undefined;
}

const SELECT = `SELECT ${WORKFLOW_RUNS.list()} FROM toolwright_workflow_runs WHERE run_id = ?1`;
const SELECT_LOCKED = `${SELECT} {update}`;

export function* readRun(runId: string): Transaction<WorkflowRunRow | undefined> {
  const row = yield* first(SELECT, runId);
  return row === undefined ? undefined : WORKFLOW_RUNS.parse(row);
}

/** The same, locked until the transaction ends. */
export function* lockRun(runId: string): Transaction<WorkflowRunRow | undefined> {
  const row = yield* first(SELECT_LOCKED, runId);
  return row === undefined ? undefined : WORKFLOW_RUNS.parse(row);
}

/** Whether the run still has this epoch; locks it until the transaction ends. */
export function* holdRun(runId: string, epoch: number): Transaction<boolean> {
  const row = yield* first("SELECT epoch FROM toolwright_workflow_runs WHERE run_id = ?1 {share}", runId);
  return row !== undefined && readInteger(row, "epoch") === epoch;
}

export type TakenRun =
  | {
      readonly kind: "taken";
      readonly epoch: number;
      readonly sagaJson: string | undefined;
      /** From a dead owner: how often in a row without progress, if a worker counts it. */
      readonly takeovers?: number | undefined;
    }
  /** The owner died before it saw a cancel request. */
  | { readonly kind: "cancelled"; readonly run: WorkflowRunRow }
  /** Another process took the run first. */
  | { readonly kind: "lost" }
  /** It was taken over repeatedly without progress, so it has failed now. */
  | { readonly kind: "crash-loop"; readonly run: WorkflowRunRow };

/** What the start of a run by a worker adds to it. */
export interface WorkerStart {
  /** The input as the schema parsed it, for a run that has not started yet. */
  readonly inputJson?: string | undefined;
  /** The build of the worker. Stored with the first start. */
  readonly build: string | null;
  readonly onChange: string | null;
  /** The error of a run that was taken over `most` times in a row without progress. */
  readonly crashLoop: { readonly most: number; readonly errorJson: string };
}

/**
 * Takes a run over from an owner that the caller found dead. A cancel request outlives that owner: it ends the run as
 * cancelled. A run that is already cancelled is resumed.
 */
export function* takeRun(
  checked: WorkflowRunRow,
  next: Pick<WorkflowRunRow, "ownerId" | "shape" | "file" | "optionsJson" | "updatedAtMs">,
  worker?: WorkerStart,
): Transaction<TakenRun> {
  const { runId } = checked;
  const current = yield* lockRun(runId);
  if (current === undefined) yield* assertNotDeleted(runId);
  if (current?.epoch !== checked.epoch || current.status === "finished") return { kind: "lost" };
  const sagaJson = yield* assertResumable(runId);
  if (current.isCancelRequested && isOpen(current.status)) {
    return { kind: "cancelled", run: yield* recordCancelled(current, next.updatedAtMs) };
  }
  // A suspended owner must not continue alongside this one, not even in tasks that this one has not reached yet.
  if (current.ownerId !== null && current.ownerId !== next.ownerId) yield* sealRun(runId);
  let takeovers = current.status === "running" && current.ownerId !== null ? 1 : undefined;
  if (worker !== undefined) {
    if (takeovers !== undefined) takeovers = yield* countTakeover(runId);
    if (takeovers !== undefined && takeovers > worker.crashLoop.most) {
      const { errorJson } = worker.crashLoop;
      const row = { ...endOf(current, "failed", next.updatedAtMs), epoch: current.epoch + 1, errorJson };
      yield* voidApprovalsOfRun(runId);
      yield* saveEnd(row);
      return { kind: "crash-loop", run: row };
    }
    yield* noteStart(runId, worker);
  }
  yield* change(
    `UPDATE toolwright_workflow_runs SET owner_id = ?2, epoch = epoch + 1, status = 'running', error_json = NULL,
       updated_at_ms = ?3, finished_at_ms = NULL, shape = ?4, file = ?5, options_json = ?6, cancel_requested = 0,
       input_json = COALESCE(?7, input_json)
     WHERE run_id = ?1`,
    runId,
    next.ownerId,
    next.updatedAtMs,
    next.shape,
    next.file,
    next.optionsJson,
    worker?.inputJson ?? null,
  );
  return { kind: "taken", epoch: current.epoch + 1, sagaJson, takeovers };
}

function* noteStart(runId: string, { inputJson, build, onChange }: WorkerStart): Transaction<void> {
  if (inputJson === undefined || (build === null && onChange === null)) return;
  yield* change(
    "UPDATE toolwright_runs SET build = ?2, on_change = ?3 WHERE id = ?1",
    runId,
    build,
    onChange,
  );
}

/** A run whose code differs from its build's code belongs to no build. Workers then compare its code alone. */
export function unpinRun(runId: string): Transaction<number> {
  return change("UPDATE toolwright_runs SET build = NULL WHERE id = ?1 AND build IS NOT NULL", runId);
}

/**
 * Ends the work of a process on a run and returns the run; `undefined` when it was taken over. A run with an open cancel
 * request is cancelled instead of waiting.
 */
export function* endRun(
  runId: string,
  epoch: number,
  end: { readonly status: EndStatus; readonly errorJson: string | null; readonly nowMs: number },
): Transaction<WorkflowRunRow | undefined> {
  const current = yield* lockRun(runId);
  if (current?.epoch !== epoch) return undefined;
  // A repeated write: the reply to the first commit was lost.
  if (current.status !== "running") return current;
  const isCancelled = isOpen(end.status) && current.isCancelRequested;
  const status = isCancelled ? "cancelled" : end.status;
  if (status === "cancelled") yield* voidApprovalsOfRun(runId);
  const row: WorkflowRunRow = { ...endOf(current, status, end.nowMs), errorJson: end.errorJson };
  yield* saveEnd(row);
  return row;
}

function endOf(run: WorkflowRunRow, status: EndStatus, nowMs: number): WorkflowRunRow {
  return {
    ...run,
    status,
    ownerId: null,
    isCancelRequested: false,
    updatedAtMs: nowMs,
    finishedAtMs: isOpen(status) ? null : nowMs,
  };
}

/**
 * Releases a run that has not ended: a worker may take it immediately.
 * @param status `queued` if the process has given it back between two calls
 */
export function* releaseRun(
  runId: string,
  { ownerId, epoch }: { readonly ownerId: string; readonly epoch: number },
  status: "queued" | "running",
): Transaction<void> {
  const changes = yield* change(
    `UPDATE toolwright_workflow_runs SET owner_id = NULL, status = ?3
     WHERE run_id = ?1 AND epoch = ?2 AND owner_id = ?4 AND status = 'running'`,
    runId,
    epoch,
    status,
    ownerId,
  );
  if (changes > 0) yield* markReady(runId);
}

/** A run that has failed or was cancelled waits for a worker to resume it. */
export function queueAgain(runId: string, nowMs: number): Transaction<number> {
  return change(
    `UPDATE toolwright_workflow_runs SET status = 'queued', error_json = NULL, finished_at_ms = NULL, updated_at_ms = ?2,
       epoch = epoch + 1 WHERE run_id = ?1 AND status IN ('failed', 'cancelled')`,
    runId,
    nowMs,
  );
}

/** 0 when the run was taken over. */
export function saveRunOptions(runId: string, epoch: number, optionsJson: string): Transaction<number> {
  return change(
    "UPDATE toolwright_workflow_runs SET options_json = ?3 WHERE run_id = ?1 AND epoch = ?2",
    runId,
    epoch,
    optionsJson,
  );
}

/** The result of a request to cancel a run. */
export type CancelStep =
  | { readonly kind: "missing" }
  /** It has ended, now or before. */
  | { readonly kind: "ended"; readonly run: WorkflowRunRow }
  /** Its owner is alive, and will end it. */
  | { readonly kind: "requested" }
  /** The caller must first check whether this owner is alive. */
  | { readonly kind: "judge"; readonly ownerId: string };

/** Decides in one transaction, so that a concurrent takeover or end of the run is seen. */
export function* cancelRun(
  runId: string,
  checked: { readonly ownerId: string; readonly isAlive: boolean } | undefined,
  nowMs: number,
): Transaction<CancelStep> {
  const run = yield* lockRun(runId);
  if (run === undefined) return { kind: "missing" };
  if (!isOpen(run.status)) return { kind: "ended", run };
  if (run.status === "running" && run.ownerId !== null) {
    if (run.ownerId !== checked?.ownerId) return { kind: "judge", ownerId: run.ownerId };
    if (checked.isAlive) {
      yield* change("UPDATE toolwright_workflow_runs SET cancel_requested = 1 WHERE run_id = ?1", runId);
      return { kind: "requested" };
    }
  }
  return { kind: "ended", run: yield* recordCancelled(run, nowMs) };
}

/**
 * For a run without a live owner. Its approval requests become void: approving one would run nothing. An owner that was only
 * suspended must make no further call when it wakes up.
 */
function* recordCancelled(run: WorkflowRunRow, nowMs: number): Transaction<WorkflowRunRow> {
  const row: WorkflowRunRow = { ...endOf(run, "cancelled", nowMs), epoch: run.epoch + 1 };
  yield* sealRun(run.runId);
  yield* voidApprovalsOfRun(run.runId);
  yield* saveEnd(row);
  return row;
}

function saveEnd(run: WorkflowRunRow): Transaction<number> {
  return change(
    `UPDATE toolwright_workflow_runs SET status = ?2, error_json = ?3, updated_at_ms = ?4, finished_at_ms = ?5,
       epoch = ?6, owner_id = NULL, cancel_requested = 0 WHERE run_id = ?1`,
    run.runId,
    run.status,
    run.errorJson,
    run.updatedAtMs,
    run.finishedAtMs,
    run.epoch,
  );
}

function isOpen(status: RunStatus): boolean {
  return status !== "finished" && status !== "failed" && status !== "cancelled";
}
