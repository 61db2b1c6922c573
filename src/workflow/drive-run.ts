/** Drives a claimed run to where it can go, and writes down how it stands. */
import { ToolwrightError } from "../errors.ts";
import { createEmitter } from "../invoke/deliver-event.ts";
import { encodeCleanError, messageOf } from "../invoke/error-record.ts";
import type { Host } from "../invoke/host.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { saveLoopEnd } from "../store/tables/tasks.ts";
import { endRun, readRun, releaseRun, type RunStatus } from "../store/tables/workflow-runs.ts";
import type { WorkflowDefinition } from "./create-smithers.ts";
import { warnAboutMissingTasks } from "./missing-tasks.ts";
import type { Plan } from "./plan.ts";
import type { StartOptions } from "./run-options.ts";
import { loadStates, resultOf } from "./run-result.ts";
import type { RunState } from "./run-state.ts";
import type { RunWorkflowOptions, WorkflowResult } from "./run-workflow.ts";
import { schedule, type ScheduleOptions } from "./schedule.ts";
import type { TaskState } from "./task-state.ts";
import { isJsxOfReact, JSX_HINT } from "./jsx-of-react.ts";
import { workflowError } from "./workflow-error.ts";

const DEFAULT_CONCURRENCY = 4;

/** A run that is this process's own. */
export interface ClaimedRun {
  readonly host: Host;
  readonly runtime: Runtime;
  readonly runId: string;
  readonly name: string;
  readonly epoch: number;
  readonly workflow: WorkflowDefinition;
  readonly input: unknown;
  /** Those on record, with what was given now. */
  readonly start: StartOptions;
  readonly options: RunWorkflowOptions;
}

export async function driveRun(claimed: ClaimedRun): Promise<WorkflowResult> {
  const { host, runtime, runId, epoch, workflow, options } = claimed;
  const { maxConcurrency = DEFAULT_CONCURRENCY, limits, missingTasks: _noted, ...settings } = claimed.start;
  const { states, closedLoops, lastPosition } = await loadStates(host, runId);
  // After what is on record, also where the clock that wrote it was ahead of this one.
  let position = Math.max(Date.now() * 1_000, lastPosition);
  const cancelled = new AbortController();
  const signal =
    options.signal === undefined ? cancelled.signal : AbortSignal.any([options.signal, cancelled.signal]);
  const watch = watchForCancel(host, runId, cancelled);
  const listeners = options.onProgress === undefined ? [] : [options.onProgress];
  const run: RunState = {
    runId,
    workflow: claimed.name,
    epoch,
    runtime,
    host,
    states,
    settings,
    limits,
    signal,
    closedLoops,
    closeLoop: (place) => recordLoopEnd(host, runId, epoch, place),
    nextPosition: () => (position += 1),
    emit: createEmitter(host, { runId, kind: "workflow" }, listeners),
  };
  const onFirstPlan = (plan: Plan): Promise<void> | undefined =>
    options.acceptChanges === true ? warnAboutMissingTasks(run, claimed.start, plan) : undefined;
  const end = await outcomeOf(run, { workflow, input: claimed.input, maxConcurrency, onFirstPlan })
    .catch((error: unknown) => {
      // This process lives on, and no other may take the run before it is released.
      host.failedWrites.add(`run ${runId}`, () => releaseRun(runId, epoch));
      throw error;
    })
    .finally(() => clearInterval(watch));
  const errorJson = end.error === undefined ? null : encodeCleanError(end.error);
  const nowMs = host.clock.now();
  const write = () => endRun(runId, epoch, { status: end.status, errorJson, nowMs });
  // The answer is what this transaction wrote: the run may be resumed by another process at once.
  const row = await host.store.transaction(write, "normal").catch((error: unknown) => {
    host.failedWrites.add(`run ${runId}`, write);
    throw error;
  });
  if (row === undefined)
    throw new ToolwrightError("TOOL_RUN_FENCED", `Another process has taken over run "${runId}".`);
  return resultOf(runId, row, states, workflow);
}

async function outcomeOf(
  run: RunState,
  options: ScheduleOptions,
): Promise<{ status: Exclude<RunStatus, "running">; error?: ToolwrightError }> {
  try {
    const end = await schedule(run, options);
    if (end.status !== "failed") return { status: end.status };
    return { status: "failed", error: taskFailed(end.task) };
  } catch (error) {
    if (run.signal.aborted) return { status: "cancelled" };
    if (ToolwrightError.is(error) && (error.code === "TOOL_STORE_FAILED" || error.code === "TOOL_RUN_FENCED"))
      throw error;
    const known = ToolwrightError.is(error)
      ? error
      : workflowError("the tree", `could not be rendered: ${messageOf(error)}`, renderHint(error));
    return { status: "failed", error: known };
  }
}

/** JSX that was compiled for React calls a React that is not there. */
function renderHint(error: unknown): string {
  return isJsxOfReact(error) ? JSX_HINT : "Fix what the message names, then resume the run.";
}

/** The task's own error is in the message and, field by field, in the details. */
function taskFailed({ nodeId, iteration, attempt, error }: TaskState): ToolwrightError {
  const attempts = `${attempt} ${attempt === 1 ? "attempt" : "attempts"}`;
  return new ToolwrightError(
    "WORKFLOW_TASK_FAILED",
    `Task "${nodeId}" failed after ${attempts}: ${error?.message ?? "unknown error"}`,
    {
      details: {
        task: nodeId,
        iteration,
        attempts: attempt,
        code: error?.code,
        hint: error?.hint,
        details: error?.details,
      },
      retryable: error?.retryable,
      // The way out of the task's own error, where it has one, says more than that of every failed task.
      ...(error?.hint === undefined || error.hint === "" ? {} : { hint: error.hint }),
    },
  );
}

const CANCEL_POLL_MS = 500;

/** Another process may ask for an end: it writes so, and this one looks. */
function watchForCancel(host: Host, runId: string, cancelled: AbortController): NodeJS.Timeout {
  const look = async (): Promise<void> => {
    const row = await host.store.read(() => readRun(runId));
    if (row?.isCancelRequested === true) cancelled.abort(new Error("the run was cancelled"));
  };
  // A look that fails says nothing; the next one, or the run itself, will.
  return setInterval(() => void look().catch(() => undefined), CANCEL_POLL_MS).unref();
}

async function recordLoopEnd(host: Host, runId: string, epoch: number, place: string): Promise<void> {
  const changes = await host.store.transaction(() => saveLoopEnd(runId, epoch, place), "normal");
  if (changes === 0)
    throw new ToolwrightError("TOOL_RUN_FENCED", `Another process has taken over run "${runId}".`);
}
