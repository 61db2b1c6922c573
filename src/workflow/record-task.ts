/** Stores the state of a task, then puts it into memory and emits it. Nothing is visible before it is committed. */
import { ToolwrightError } from "../errors.ts";
import { decodeError, encodeCleanError, wrapThrown } from "../invoke/error-record.ts";
import type { TaskStatus } from "../invoke/events.ts";
import { endReplay } from "../invoke/recording/keep-recording.ts";
import { hasScopes, sealScopes } from "../store/tables/scopes.ts";
import { voidApprovalsOfTask, voidPending } from "../store/tables/approvals.ts";
import { outputPart } from "../store/tables/recordings.ts";
import { saveTask, type TaskRow } from "../store/tables/tasks.ts";
import { endWait } from "../store/tables/waits.ts";
import type { Transaction } from "../store/store.ts";
import { decode, encode } from "../util/encode.ts";
import { digest } from "../util/hash.ts";
import type { RunState } from "./run-state.ts";
import type { TaskState } from "./task-state.ts";
import type { TaskInstance } from "./task-instance.ts";

interface TaskChange {
  readonly attempt: number;
  readonly status: TaskStatus;
  readonly output?: unknown;
  readonly error?: unknown;
  readonly prompt?: unknown;
  /** Set on a failure that no further attempt follows. */
  readonly isLast?: boolean;
  /** Part of the transaction that stores the change. */
  readonly also?: () => Transaction<void>;
  /** When the attempt began. Default: now. A stored start of the same attempt stays. */
  readonly startedAtMs?: number;
}

export async function recordTask(run: RunState, task: TaskInstance, change: TaskChange): Promise<TaskState> {
  const { props, loop } = task;
  const path = loop.join(".");
  const now = run.host.clock.now();
  const stored = run.states.get(props.id, path);
  const isOver = change.status !== "running" && change.status !== "waiting";
  const prompt = change.prompt ?? (stored?.attempt === change.attempt && !isOver ? stored.prompt : undefined);
  const row: TaskRow = {
    nodeId: props.id,
    path,
    iteration: loop.at(-1) ?? 0,
    attempt: change.attempt,
    status: change.status,
    outputKey: change.status === "finished" ? (props.output?.key ?? null) : null,
    outputJson: change.status === "finished" ? encode(change.output) : null,
    errorJson:
      change.error === undefined
        ? null
        : encodeCleanError(wrapThrown(change.error, "WORKFLOW_TASK_FAILED", { hint: "" })),
    promptJson: prompt === undefined ? null : encode(prompt),
    position: run.nextPosition(),
    startedAtMs: change.startedAtMs ?? now,
    finishedAtMs: isOver ? now : null,
  };
  if (change.status === "finished") await run.host.streams.beforeDeletion(run.runId);
  const { changes, written } = await run.host.store.transaction(function* () {
    const saved = yield* saveTask(run.runId, run.epoch, row);
    const outline = yield* run.outline.write(run.runId, run.epoch);
    if (saved > 0 && change.also !== undefined) yield* change.also();
    if (saved > 0 && isOver) yield* endAttempt(run.runId, task, change, row);
    return { changes: saved, written: outline };
  }, "normal");
  if (changes === 0) throw fencedError(run.runId);
  run.outline.committed(written);
  const state = toTaskState(row);
  run.states.set(state);
  const { nodeId, iteration, attempt, status } = row;
  // `runAttempt` has emitted "running" already.
  if (status !== "running") run.emit({ type: "task-changed", nodeId, iteration, attempt, status });
  return state;
}

/** Part of the transaction that stores the end of an attempt. */
function* endAttempt(
  runId: string,
  task: TaskInstance,
  { status, isLast }: TaskChange,
  { nodeId, path, outputJson }: TaskRow,
): Transaction<void> {
  const scope = { runId, nodeId, path: path === "" ? "0" : path };
  // Most tasks that call no tool have opened no scope, so they have nothing to clean up.
  const hasCalls = yield* hasScopes(scope);
  // A finished task never resumes, so none of its data is needed in plain text.
  if (hasCalls && status === "finished")
    yield* endReplay(
      { runId, task: { nodeId, path: scope.path } },
      { part: outputPart(nodeId, path), json: outputJson ?? "" },
    );
  if (status !== "failed" || isLast === true)
    yield* endTask(runId, task, status, hasCalls ? scope : undefined);
}

/**
 * Voids the pending approvals of a task that has ended and deletes its wait.
 * @param scope of its calls, if it has one
 */
function* endTask(
  runId: string,
  task: TaskInstance,
  status: TaskStatus,
  scope: Parameters<typeof hasScopes>[0] | undefined,
): Transaction<void> {
  const { props, loop } = task;
  if (scope !== undefined) {
    // The function of a task that timed out may still be about to call a tool.
    if (status === "failed") yield* sealScopes(scope);
    yield* voidApprovalsOfTask(scope);
  }
  if (props.sleeps !== undefined || props.awaits !== undefined)
    yield* endWait(runId, props.id, loop.join("."));
  if (props.asks === true || props.needsApproval === true) yield* voidPending(taskApprovalId(runId, task));
}

/** Derived from the task and its loop passes, so that a resume finds the same request. */
export function taskApprovalId(runId: string, { props, loop }: TaskInstance): string {
  return `apr_${digest(["task", runId, props.id, loop.join(".")]).slice(0, 24)}`;
}

export function fencedError(runId: string): ToolwrightError {
  return new ToolwrightError("TOOL_RUN_FENCED", `Another process has taken over run "${runId}".`);
}

export function toTaskState(row: TaskRow): TaskState {
  return {
    nodeId: row.nodeId,
    path: row.path,
    iteration: row.iteration,
    attempt: row.attempt,
    status: row.status,
    outputKey: row.outputKey,
    output: row.outputJson === null ? undefined : decode(row.outputJson),
    error: row.errorJson === null ? undefined : decodeError(row.errorJson),
    prompt: row.promptJson === null ? undefined : decode(row.promptJson),
  };
}
