/** A run and its tasks as data for programs and people. */
import type { Approval } from "../invoke/approval.ts";
import { decodeError } from "../invoke/error-record.ts";
import { readApprovals } from "../runtime/approvals.ts";
import type { Store } from "../store/store.ts";
import { countCalls, type LoggedCall, readCallLog } from "../store/tables/call-log.ts";
import {
  type EndedTask,
  readEndedTasks as selectEndedTasks,
  readTasks,
  type TaskRow,
} from "../store/tables/tasks.ts";
import type { WorkflowRunRow } from "../store/tables/workflow-runs.ts";
import { systemClock } from "../util/clock.ts";
import { decode } from "../util/encode.ts";
import { isResumable } from "./is-resumable.ts";
import { livenessIn, readLivingOwner } from "./run-owner.ts";

export type { EndedTask } from "../store/tables/tasks.ts";

export interface DescribedRun {
  readonly runId: string;
  readonly workflow: string;
  readonly file: string | null;
  readonly status: WorkflowRunRow["status"];
  /** The run is stored as running, and its owner is dead. */
  readonly interrupted: boolean;
  readonly pid: number | null;
  readonly error: DescribedError | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly finishedAtMs: number | null;
}

export interface DescribedTask extends Pick<
  TaskRow,
  "nodeId" | "iteration" | "path" | "attempt" | "status" | "outputKey" | "startedAtMs" | "finishedAtMs"
> {
  readonly output: unknown;
  readonly error: DescribedError | null;
}

export interface InspectedRun extends DescribedRun {
  readonly input: unknown;
  readonly options: unknown;
  readonly tasks: readonly DescribedTask[];
  readonly calls: number;
  readonly interruptedCalls: readonly Pick<
    LoggedCall,
    "toolName" | "nodeId" | "path" | "attempt" | "seq" | "key"
  >[];
  /** Pending requests. */
  readonly approvals: readonly Approval[];
  /** Whether `toolwright resume <run-id>` works now. */
  readonly resumable: boolean;
}

export interface DescribedError {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export async function describeRun(store: Store, run: WorkflowRunRow): Promise<DescribedRun> {
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

export async function inspectRun(store: Store, run: WorkflowRunRow): Promise<InspectedRun> {
  const { runId } = run;
  const interrupted = await readCallLog(store, { runId, status: "unknown" }, livenessIn(store));
  return {
    ...(await describeRun(store, run)),
    input: decode(run.inputJson),
    options: decode(run.optionsJson),
    tasks: (await store.read(() => readTasks(runId))).map(describeTask),
    calls: await store.read(() => countCalls(runId)),
    interruptedCalls: interrupted.map(({ toolName, nodeId, path, attempt, seq, key }) => ({
      toolName,
      nodeId,
      path,
      attempt,
      seq,
      key,
    })),
    approvals: await readApprovals({ store, clock: systemClock }, { runId, status: "pending" }),
    resumable: await isResumable(store, run),
  };
}

function describeTask(task: TaskRow): DescribedTask {
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

/** The tasks that a resume does not run again, in the order in which they ended. */
export function readEndedTasks(store: Store, runId: string): Promise<EndedTask[]> {
  return store.read(() => selectEndedTasks(runId));
}

export function errorOf(json: string | null): DescribedError | null {
  return json === null ? null : describeError(decodeError(json));
}

export function describeError({ code, message, hint, details }: DescribedError): DescribedError {
  return { code, message, hint, details };
}
