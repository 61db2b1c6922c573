/** Stores the state of a task, then puts it into memory and emits it. Nothing is visible before it is committed. */
import { ToolwrightError } from "../errors.ts";
import { decodeError, encodeCleanError, wrapThrown } from "../invoke/error-record.ts";
import type { TaskStatus } from "../invoke/events.ts";
import { endReplay } from "../invoke/recording/keep-recording.ts";
import { sealScopes } from "../store/tables/scopes.ts";
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
  if (change.status === "finished") await run.host.streams.drain(run.runId);
  const changes = await run.host.store.transaction(function* () {
    const saved = yield* saveTask(run.runId, run.epoch, row);
    yield* run.outline.write(run.runId, run.epoch);
    if (saved > 0 && change.also !== undefined) yield* change.also();
    // A finished task never resumes, so nothing of it is needed in clear.
    if (saved > 0 && change.status === "finished")
      yield* endReplay(
        { runId: run.runId, task: { nodeId: props.id, path: path === "" ? "0" : path } },
        { part: outputPart(props.id, path), json: row.outputJson ?? "" },
      );
    if (saved > 0 && isOver && (change.status !== "failed" || change.isLast === true))
      yield* endTask(run.runId, task, change.status);
    return saved;
  }, "normal");
  if (changes === 0) throw fencedError(run.runId);
  run.outline.committed();
  const state = toTaskState(row);
  run.states.set(state);
  const { nodeId, iteration, attempt, status } = row;
  // `runAttempt` has emitted "running" already.
  if (status !== "running") run.emit({ type: "task-changed", nodeId, iteration, attempt, status });
  return state;
}

/** Voids the pending approvals of a task that has ended and deletes its wait, in the transaction that stores its end. */
function* endTask(runId: string, task: TaskInstance, status: TaskStatus): Transaction<void> {
  const { props, loop } = task;
  const scope = { runId, nodeId: props.id, path: loop.length === 0 ? "0" : loop.join(".") };
  // The function of a task that timed out may still be about to call a tool.
  if (status === "failed") yield* sealScopes(scope);
  yield* voidApprovalsOfTask(scope);
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
