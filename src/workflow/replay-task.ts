/**
 * A task in a replay. Functions and agents run, on recorded calls and responses. Values that only people, time or other processes
 * can give, such as a decision or a signal, come from the fixture.
 */
import { ToolwrightError } from "../errors.ts";
import type { FixtureTask } from "../invoke/replay/fixture.ts";
import { type Replay, toError } from "../invoke/replay/replay.ts";
import { decodeJson } from "../invoke/replay/recorded-calls.ts";
import { recordTask } from "./record-task.ts";
import type { RunState } from "./run-state.ts";
import { isWait } from "./run-wait.ts";
import type { TaskInstance } from "./task-instance.ts";
import type { TaskState } from "./task-state.ts";

type RunAttempts = (run: RunState, task: TaskInstance, first: number) => Promise<TaskState>;

export async function replayTask(
  run: RunState,
  task: TaskInstance,
  replay: Replay,
  runAttempts: RunAttempts,
): Promise<TaskState> {
  const { props, loop } = task;
  const path = loop.join(".");
  const recorded = replay.task(props.id, path);
  if (recorded === undefined) {
    // A run that fails starts no more tasks, and a replay is faster: this one may come before the failure.
    if (replay.fixture.run.status === "failed")
      return recordTask(run, task, { attempt: 1, status: "skipped" });
    return failUnknown(run, task, replay);
  }
  replay.noteStarted(recorded);
  if (isGiven(task, recorded, replay)) return giveState(run, task, recorded);
  const state = await runAttempts(run, task, 1);
  const { status, output } = state;
  if (status !== recorded.status)
    replay.report({
      kind: "result",
      nodeId: props.id,
      path: "status",
      expected: recorded.status,
      actual: status,
      nearest: null,
    });
  else if (status === "finished")
    replay.compareResult(props.id, decodeJson(recorded.output), output, "output");
  return state;
}

export function recordedAttempts(replay: Replay, { props, loop }: TaskInstance): number {
  return replay.task(props.id, loop.join("."))?.attempt ?? 0;
}

/** Whether the task ends as recorded, without running. */
function isGiven({ props, loop }: TaskInstance, recorded: FixtureTask, replay: Replay): boolean {
  if (isWait(props) || props.asks === true) return true;
  // It was not approved.
  if (props.needsApproval === true && recorded.error?.code === "TOOL_APPROVAL_DENIED") return true;
  if (recorded.status === "skipped") return true;
  if (recorded.status !== "finished" || replay.hasSteps(props.id, loop.join("."))) return false;
  const isAgent = props.agent !== undefined || props.model !== undefined;
  // From the cache; or its responses were deleted, in a run that does not keep them; or it worked in its own run.
  return props.cache === true || isAgent;
}

function giveState(run: RunState, task: TaskInstance, recorded: FixtureTask): Promise<TaskState> {
  const { attempt, status } = recorded;
  if (status === "finished")
    return recordTask(run, task, { attempt, status, output: decodeJson(recorded.output) });
  if (status === "failed")
    return recordTask(run, task, { attempt, status, error: toError(recorded.error), isLast: true });
  if (status === "skipped") return recordTask(run, task, { attempt, status });
  const error = new ToolwrightError(
    "WORKFLOW_TASK_FAILED",
    `Task "${task.props.id}" had not ended when the run was recorded.`,
  );
  return recordTask(run, task, { attempt, status: "failed", error, isLast: true });
}

function failUnknown(run: RunState, task: TaskInstance, replay: Replay): Promise<TaskState> {
  const { id } = task.props;
  replay.report({
    kind: "result",
    nodeId: id,
    path: "",
    expected: undefined,
    actual: `task ${id}`,
    nearest: null,
  });
  const error = new ToolwrightError(
    "TOOL_REPLAY_DIFFERS",
    `The recorded run has no task "${id}"${task.loop.length === 0 ? "" : ` in pass ${task.loop.join(".")}`}.`,
  );
  return recordTask(run, task, { attempt: 1, status: "failed", error, isLast: true });
}
