/** Everything that is stored about a run, for `toolwright inspect`. */
import type { Approval } from "../invoke/approval.ts";
import { readApprovals } from "../runtime/approvals.ts";
import type { Store } from "../store/store.ts";
import { type LoggedCall, readCallLog } from "../store/tables/call-log.ts";
import {
  type EndedTask,
  readEndedTasks as selectEndedTasks,
  readTasks,
  type TaskRow,
} from "../store/tables/tasks.ts";
import { readRunRow } from "../store/tables/runs.ts";
import { readRun } from "../store/tables/workflow-runs.ts";
import { systemClock } from "../util/clock.ts";
import { decode } from "../util/encode.ts";
import { isResumable } from "./is-resumable.ts";
import type { RunDescription, RunError } from "../runtime/runs.ts";
import { describeRun } from "./describe-run.ts";
import { errorOf } from "./described-error.ts";
import { type LivingOwner, livenessIn, readLivingOwner } from "./run-owner.ts";

export type { EndedTask } from "../store/tables/tasks.ts";

export interface DescribedTask extends Pick<
  TaskRow,
  "nodeId" | "iteration" | "path" | "attempt" | "status" | "outputKey" | "startedAtMs" | "finishedAtMs"
> {
  readonly output: unknown;
  readonly error: RunError | null;
}

/** The fields of every run, and `null` for fields that only workflows have. */
export interface InspectedRun extends Omit<RunDescription, "tasks"> {
  readonly workflow: string | null;
  readonly file: string | null;
  readonly pid: number | null;
  readonly input: unknown;
  readonly options: unknown;
  readonly tasks: readonly DescribedTask[];
  readonly interruptedCalls: readonly Pick<
    LoggedCall,
    "toolName" | "nodeId" | "path" | "attempt" | "seq" | "key"
  >[];
  /** Pending requests. */
  readonly approvals: readonly Approval[];
  /** Whether `toolwright resume <run-id>` works now. */
  readonly resumable: boolean;
}

/** @throws TOOL_RUN_NOT_FOUND, TOOL_RUN_DELETED */
export async function inspectRun(store: Store, runId: string): Promise<InspectedRun> {
  const described = await describeRun(store, runId);
  const run = described.kind === "workflow" ? await store.read(() => readRun(runId)) : undefined;
  const owner = described.status === "running" ? await readOwnerOf(store, runId) : undefined;
  const interrupted = await readCallLog(store, { runId, status: "unknown" }, livenessIn(store));
  return {
    ...described,
    workflow: run?.workflow ?? null,
    file: run?.file ?? null,
    pid: owner?.pid ?? null,
    input: run === undefined ? null : decode(run.inputJson),
    options: run === undefined ? null : decode(run.optionsJson),
    tasks: (await store.read(() => readTasks(runId))).map(describeTask),
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

async function readOwnerOf(store: Store, runId: string): Promise<LivingOwner | undefined> {
  return readLivingOwner(store, (await store.read(() => readRunRow(runId)))?.ownerId ?? null);
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
