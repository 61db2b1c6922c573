/** Drives a claimed run until it finishes, fails, waits or is cancelled, and stores that status. */
import { ToolwrightError } from "../errors.ts";
import { createEmitter } from "../invoke/deliver-event.ts";
import { encodeCleanError, messageOf } from "../invoke/error-record.ts";
import { emitTakeover } from "../invoke/emit-takeover.ts";
import { runClaimName } from "../invoke/failed-writes.ts";
import type { Host } from "../invoke/host.ts";
import { Released, type RunRelease } from "../invoke/run-release.ts";
import { linkToRun, traceWork } from "../invoke/trace-work.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { wakeAfterWaits, type WaitLocation } from "../store/tables/waits.ts";
import type { Transaction } from "../store/store.ts";
import { endSaga } from "../store/tables/reverts.ts";
import { saveLoopEnd } from "../store/tables/tasks.ts";
import { endRun, readRun, releaseRun, type EndStatus } from "../store/tables/workflow-runs.ts";
import type { WorkflowDefinition } from "./create-workflows.ts";
import { warnAboutMissingTasks } from "./missing-tasks.ts";
import { parseReplacedOutputs } from "./parse-replaced-outputs.ts";
import type { Plan } from "./plan.ts";
import type { StartOptions } from "./run-options.ts";
import { loadStates, resultOf } from "./run-result.ts";
import { fencedError } from "./record-task.ts";
import type { RunState } from "./run-state.ts";
import type { RunWorkflowOptions, WorkflowResult } from "./run-workflow.ts";
import { runPlan, type RunPlanOptions } from "./run-plan.ts";
import { continueSaga, failSagas } from "./revert-saga.ts";
import { StoredOutline } from "./stored-outline.ts";
import type { TaskState } from "./task-state.ts";
import { isReactJsxError, REACT_JSX_HINT } from "./react-jsx-error.ts";
import { workflowError } from "./workflow-error.ts";

const DEFAULT_CONCURRENCY = 4;

/** A run that this process owns. */
export interface ClaimedRun {
  readonly host: Host;
  readonly runtime: Runtime;
  readonly runId: string;
  readonly name: string;
  readonly epoch: number;
  /** A process died while it reverted the effects of a saga: the rest of the saga. */
  readonly sagaJson: string | undefined;
  readonly workflow: WorkflowDefinition;
  readonly input: unknown;
  /** The stored options, overridden by those passed now. */
  readonly start: StartOptions;
  readonly options: RunWorkflowOptions;
  /** The process that drove it before has died: how often in a row without progress. */
  readonly takeovers: number | undefined;
  /** Set by a worker, which may give the run back. */
  readonly release?: RunRelease | undefined;
}

/** One activation: from its start or resume until it ends or waits. */
export async function driveRun(claimed: ClaimedRun): Promise<WorkflowResult> {
  const { host, runId, name, takeovers } = claimed;
  const location = { runId, kind: "workflow" } as const;
  emitTakeover(host, { ...location, name, takeovers });
  const driveLinked = async (link: () => Promise<void>): Promise<WorkflowResult> => {
    await orGiveBack(claimed, link());
    return drive(claimed);
  };
  return traceWork(host, { type: "workflow", name, location }, driveLinked, {
    linkTo: linkToRun(host, runId),
    endOf: ({ status, error }) => ({ status, errorType: error?.code }),
  });
}

async function drive(claimed: ClaimedRun): Promise<WorkflowResult> {
  const { host, runtime, runId, epoch, workflow, options } = claimed;
  const {
    maxConcurrency = DEFAULT_CONCURRENCY,
    limits,
    missingTasks: _missingTasks,
    isInputParsed: _isInputParsed,
    replacedOutputs: _replacedOutputs,
    sagas: _sagas,
    ...settings
  } = claimed.start;
  const { states, closedLoops, lastPosition } = await orGiveBack(claimed, loadStates(host, runId));
  // Positions must grow even if the clock of the previous process was ahead of this one.
  let position = Math.max(Date.now() * 1_000, lastPosition);
  const cancelled = new AbortController();
  const { release } = claimed;
  const signal = AbortSignal.any(
    [options.signal, cancelled.signal, release?.signal].filter((one) => one !== undefined),
  );
  const watch = watchForCancel(host, runId, cancelled);
  const listeners = options.onProgress === undefined ? [] : [options.onProgress];
  const run: RunState = {
    runId,
    workflow: claimed.name,
    epoch,
    runtime,
    host,
    states,
    outline: new StoredOutline(claimed.start),
    settings,
    limits,
    signal,
    release,
    closedLoops,
    waits: new Map(),
    closeLoop: (name) => recordLoopEnd(host, runId, epoch, name),
    nextPosition: () => (position += 1),
    emit: createEmitter(host, { runId, kind: "workflow" }, listeners),
  };
  const onFirstPlan = async (plan: Plan): Promise<void> => {
    // A task is stored when it ends, so other processes would not see the tree before that.
    const write = (): ReturnType<StoredOutline["write"]> => run.outline.write(runId, epoch, true);
    run.outline.committed(await host.store.transaction(write, "normal"));
    if (options.acceptChanges === true) await warnAboutMissingTasks(run, plan);
  };
  const outcome = outcomeOf(run, claimed.sagaJson, {
    workflow,
    input: claimed.input,
    maxConcurrency,
    onFirstPlan,
  });
  const end = await orGiveBack(claimed, outcome).finally(() => clearInterval(watch));
  const errorJson = end.error === undefined ? null : encodeCleanError(end.error);
  const nowMs = host.clock.now();
  const write = function* () {
    yield* run.outline.write(runId, epoch);
    const row = yield* endRun(runId, epoch, { status: end.status, errorJson, nowMs });
    // Another process may take the run when the first of its waits is over.
    if (row !== undefined && end.isSagaOver === true) yield* endSaga(runId);
    if (row !== undefined && end.waits !== undefined) yield* wakeAfterWaits(runId, end.waits);
    return row;
  };
  // Use the row of this transaction: another process may resume the run right after it.
  const row = await host.store.transaction(write, "normal").catch((error: unknown) => {
    host.failedWrites.add(runClaimName(runId, epoch), write);
    throw error;
  });
  if (row === undefined) throw fencedError(runId);
  return resultOf(runId, row, states, workflow);
}

/** If `work` on a claimed run fails: this process is still alive, so no other can take over the run until it is released. */
export async function orGiveBack<T>(
  { host, runId, epoch }: Pick<ClaimedRun, "host" | "runId" | "epoch">,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const isDrained = error instanceof Released;
    const { ownerId } = host;
    const write = (): Transaction<void> =>
      releaseRun(runId, { ownerId, epoch }, isDrained ? "queued" : "running");
    const writeLater = (): void => host.failedWrites.add(runClaimName(runId, epoch), write);
    if (isDrained) await host.store.transaction(write, "normal").catch(writeLater);
    else writeLater();
    throw error;
  }
}

interface RunEnd {
  readonly status: EndStatus;
  readonly error?: ToolwrightError;
  /** The tasks that wait for a time or a signal. */
  readonly waits?: readonly WaitLocation[];
  /** A failed saga has reverted every effect that it could. */
  readonly isSagaOver?: boolean;
}

async function outcomeOf(
  run: RunState,
  sagaJson: string | undefined,
  options: RunPlanOptions,
): Promise<RunEnd> {
  try {
    if (sagaJson !== undefined) return await continueSaga(run, sagaJson);
    await parseReplacedOutputs(run, options.workflow);
    const end = await runPlan(run, options);
    if (end.status !== "failed") return end;
    const { failure, sagas } = end;
    const error = ToolwrightError.is(failure) ? failure : taskFailed(failure);
    return sagas.length === 0 ? { status: "failed", error } : await failSagas(run, sagas, error);
  } catch (error) {
    if (error instanceof Released) throw error;
    run.release?.signal.throwIfAborted();
    if (run.signal.reason instanceof Released) throw run.signal.reason;
    if (run.signal.aborted) return { status: "cancelled" };
    if (ToolwrightError.is(error) && (error.code === "TOOL_STORE_FAILED" || error.code === "TOOL_RUN_FENCED"))
      throw error;
    const failure = ToolwrightError.is(error)
      ? error
      : workflowError("the tree", `could not be rendered: ${messageOf(error)}`, renderHint(error));
    return { status: "failed", error: failure };
  }
}

function renderHint(error: unknown): string {
  return isReactJsxError(error) ? REACT_JSX_HINT : "Fix the error in the message, then resume the run.";
}

/** The task's error is part of the message, and its fields are in the details. */
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
      // The hint of the task's own error is more specific than the default hint.
      ...(error?.hint === undefined || error.hint === "" ? {} : { hint: error.hint }),
    },
  );
}

const CANCEL_POLL_MS = 500;

/** Another process cancels a run by setting a flag in the store, so this one polls it. */
function watchForCancel(host: Host, runId: string, cancelled: AbortController): NodeJS.Timeout {
  const poll = async (): Promise<void> => {
    const row = await host.store.read(() => readRun(runId));
    if (row?.isCancelRequested === true) cancelled.abort(new Error("the run was cancelled"));
  };
  // A failed poll is ignored: the run itself reports a store that stays unavailable.
  return setInterval(() => void poll().catch(() => undefined), CANCEL_POLL_MS).unref();
}

async function recordLoopEnd(host: Host, runId: string, epoch: number, name: string): Promise<void> {
  const changes = await host.store.transaction(() => saveLoopEnd(runId, epoch, name), "normal");
  if (changes === 0) throw fencedError(runId);
}
