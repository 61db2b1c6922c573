/** A run as programs and people read it. */
import { decodeError } from "../invoke/error-record.ts";
import type { Store } from "../store/store.ts";
import type { TaskRow } from "../store/tables/tasks.ts";
import type { RunOverview } from "../store/tables/workflow-queries.ts";
import type { WorkflowRunRow } from "../store/tables/workflow-runs.ts";
import { decode } from "../util/encode.ts";
import { readLivingOwner } from "./owner.ts";

/** The row of a run, decoded. `interrupted`: it is on record as running, and whoever ran it is gone. */
export async function describeRun(store: Store, run: WorkflowRunRow) {
  const owner = run.status === "running" ? await readLivingOwner(store, run.ownerId) : undefined;
  return {
    runId: run.runId,
    workflow: run.workflow,
    file: run.file,
    status: run.status,
    interrupted: run.status === "running" && owner === undefined,
    pid: owner?.pid ?? null,
    error: errorOf(run.errorJson),
    createdAtMs: run.createdAtMs,
    updatedAtMs: run.updatedAtMs,
    finishedAtMs: run.finishedAtMs,
  };
}

export async function describeOverview(store: Store, { run, tasks, currentTask }: RunOverview) {
  return { ...(await describeRun(store, run)), tasks, currentTask };
}

export function describeTask(task: TaskRow) {
  return {
    nodeId: task.nodeId,
    iteration: task.iteration,
    path: task.path,
    attempt: task.attempt,
    status: task.status,
    outputKey: task.outputKey,
    output: task.outputJson === null ? null : decode(task.outputJson),
    error: errorOf(task.errorJson),
    startedAtMs: task.startedAtMs,
    finishedAtMs: task.finishedAtMs,
  };
}

interface DescribedError {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export function errorOf(json: string | null): DescribedError | null {
  return json === null ? null : describeError(decodeError(json));
}

export function describeError({ code, message, hint, details }: DescribedError): DescribedError {
  return { code, message, hint, details };
}
