/** Runs one task to its end, attempt after attempt. Each state is stored before the next step starts. */
import { ToolwrightError } from "../errors.ts";
import { attemptFailed } from "../invoke/replay/replay.ts";
import { recordTask } from "./record-task.ts";
import { recordedAttempts, replayTask } from "./replay-task.ts";
import { isValueTask, runAttempt } from "./run-attempt.ts";
import type { RunState } from "./run-state.ts";
import { isWait, runWait } from "./run-wait.ts";
import { checkTaskApproval } from "./task-approval.ts";
import { readCachedOutput, writeCachedOutput } from "./task-cache.ts";
import type { TaskState } from "./task-state.ts";
import { attemptsOf, type TaskInstance } from "./task-instance.ts";

const DEFAULT_DELAY_MS = 1_000;

/** Resolves when the task has finished, has failed for good, or waits. Rejects when the run stops. */
export async function runTask(run: RunState, task: TaskInstance): Promise<TaskState> {
  const { props, loop } = task;
  const stored = run.states.get(props.id, loop.join("."));
  const lastAttempt = stored?.attempt ?? 1;
  if (props.skipIf === true) return recordTask(run, task, { attempt: lastAttempt, status: "skipped" });
  const { replay } = run.host;
  if (replay !== undefined) return replayTask(run, task, replay, runAttempts);
  if (props.asks === true || props.needsApproval === true) {
    const state = await checkTaskApproval(run, task, lastAttempt);
    if (state !== undefined) return state;
  }
  if (isWait(props)) return runWait(run, task, stored?.status === "failed" ? lastAttempt + 1 : lastAttempt);
  const cached = await readCachedOutput(run, task);
  if (cached !== undefined)
    return recordTask(run, task, { attempt: lastAttempt, status: "finished", output: cached.output });
  // An attempt that was interrupted or waits is resumed. A failed one is followed by the next.
  const first = stored?.status === "failed" ? stored.attempt + 1 : lastAttempt;
  return runAttempts(run, task, first);
}

async function runAttempts(run: RunState, task: TaskInstance, first: number): Promise<TaskState> {
  // A fixed value that is invalid stays invalid, so it is not retried.
  const { replay } = run.host;
  const recorded = replay === undefined ? 0 : recordedAttempts(replay, task);
  const most = replay === undefined ? attemptsOf(task.props) : recorded;
  const last = isValueTask(task.props) ? first : Math.max(first, most);
  for (let attempt = first; ; attempt += 1) {
    const startedAtMs = run.host.clock.now();
    try {
      const result = await runAttempt(run, task, attempt);
      // What made an attempt fail, such as a timeout, may not happen again.
      if (attempt < recorded) throw attemptFailed(task.props.id, attempt);
      // The task may have caught the error of a call that was not allowed to begin, so its result does not count.
      run.release?.signal.throwIfAborted();
      if (result.kind === "waiting")
        return await recordTask(run, task, { attempt, status: "waiting", startedAtMs });
      const { output } = result;
      const finished = await recordTask(run, task, { attempt, status: "finished", output, startedAtMs });
      await writeCachedOutput(run, task, finished.output);
      return finished;
    } catch (error) {
      run.signal.throwIfAborted();
      if (hasCode(error, "TOOL_STORE_FAILED", "TOOL_RUN_FENCED")) throw error;
      // A call that the task's function made waits for approval, so the task waits too.
      if (hasCode(error, "TOOL_APPROVAL_PENDING"))
        return await recordTask(run, task, { attempt, status: "waiting", startedAtMs });
      const isLast = attempt >= last;
      const failed = await recordTask(run, task, { attempt, status: "failed", error, isLast, startedAtMs });
      if (isLast) return failed;
      if (replay === undefined) await run.host.clock.sleep(retryDelay(task, attempt), run.signal);
    }
  }
}

function hasCode(error: unknown, ...codes: ToolwrightError["code"][]): boolean {
  return ToolwrightError.is(error) && codes.includes(error.code);
}

function retryDelay({ props }: TaskInstance, attempt: number): number {
  const { backoff = "fixed", initialDelayMs = props.retryPolicy === undefined ? 0 : DEFAULT_DELAY_MS } =
    props.retryPolicy ?? {};
  if (backoff === "linear") return initialDelayMs * attempt;
  return backoff === "exponential" ? initialDelayMs * 2 ** (attempt - 1) : initialDelayMs;
}
