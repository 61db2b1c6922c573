/** Finds out where a fork starts, from its options. */
import { ToolwrightError } from "../errors.ts";
import type { ForkOptions } from "../runtime/runtime.ts";
import type { WorkflowRunRow } from "../store/tables/workflow-runs.ts";
import type { PlanOutline } from "../invoke/events.ts";
import type { KnownRun } from "./describe-run.ts";
import type { CallToCopy } from "../store/tables/copy-run.ts";
import { type Cut, enclosingKeys, type ForkSource, type Kept, rootsOf, type TaskToCopy } from "./fork-cut.ts";
import { listTasks, parseTaskName } from "./task-names.ts";

interface Parent extends ForkSource {
  readonly workflow: WorkflowRunRow | undefined;
  readonly outline: readonly PlanOutline[];
  /** Scopes whose model responses are stored. */
  readonly recorded: ReadonlySet<number>;
  /** The run was recorded with `recording: "keep"`. */
  readonly isKept: boolean;
}

/** @throws TOOL_FORK_INVALID */
export function chooseCut({ row, summary }: KnownRun, parent: Parent, options: ForkOptions): Cut {
  const { runId, at, input } = options;
  if (parent.workflow === undefined) {
    if (input !== undefined)
      throw forkError(
        `Run "${runId}" is not a workflow: its program passes the input, so input cannot be set`,
      );
    if (options.outputs !== undefined)
      throw forkError(`Run "${runId}" is not a workflow, so it has no outputs of tasks to replace`);
  }
  if (at !== undefined) return cutAt(parent, options, at, summary.status === "finished");
  if (input !== undefined) return { kind: "start" };
  if (summary.status !== "finished") return { kind: "end" };
  throw forkError(
    `Run "${runId}" has finished, so a fork needs a task or call to start from${row.kind === "workflow" ? ", or another input" : ""}. ${listTasks(placesOf(parent))}`,
  );
}

function placesOf({ tasks, scopes, outline }: Parent): { readonly nodeId: string; readonly path: string }[] {
  const roots = scopes.filter(({ parentKey }) => parentKey === "");
  return [...tasks, ...roots, ...outline.flatMap(taskIds).map((nodeId) => ({ nodeId, path: "" }))];
}

function taskIds(node: PlanOutline): string[] {
  return node.kind === "task" ? [node.id] : node.children.flatMap(taskIds);
}

function cutAt(parent: Parent, { runId }: ForkOptions, at: string, isFinished: boolean): Cut {
  const places = placesOf(parent);
  const place = parseTaskName(at, places);
  if (place !== undefined) return { kind: "task", ...place };
  const rows = parent.calls.filter(({ key }) => key === at);
  const call = rows.toSorted((one, other) => other.attempt - one.attempt)[0];
  if (call === undefined)
    throw forkError(`Run "${runId}" has no task and no call "${at}". ${listTasks(places)}`);
  const root = rootsOf(parent)(call.scopeId);
  if (root === undefined) throw forkError(`The call ${at} of run "${runId}" belongs to no task`);
  const isOver = parent.workflow === undefined ? isFinished : hasEnded(parent, root);
  const isRecorded = parent.isKept || parent.recorded.has(root.id) || parent.recorded.has(call.scopeId);
  if (isOver && !isRecorded) throw notRecorded(root.nodeId, runId, at);
  assertNotInside(parent, call);
  return { kind: "call", call };
}

/** The responses of an agent inside a call are deleted when the call ends, so the fork would ask its model again. */
function assertNotInside(parent: Parent, call: CallToCopy): void {
  if (call.toolCallId === null || parent.recorded.has(call.scopeId)) return;
  const around = enclosingKeys(parent, call);
  const ended = parent.calls.find(({ key, status }) => around.has(key) && /^(success|error)$/.test(status));
  if (ended === undefined) return;
  throw forkError(
    `The call ${call.key} was made by an agent inside the call ${ended.key}, which has ended, and the responses of that agent's model were not kept`,
    `Fork at the call around it: at: ${JSON.stringify(ended.key)}.`,
  );
}

/** The task runs again up to the call: without its model responses, it would ask the model again. */
function notRecorded(nodeId: string, runId: string, at: string): ToolwrightError {
  return forkError(
    `The call ${at} is inside task "${nodeId}" of run "${runId}", which has finished, and the data that the task needs to run up to the call was not kept`,
    `Fork at the task: at: ${JSON.stringify(nodeId)}. To fork at calls of finished tasks, run with recording: "keep".`,
  );
}

function hasEnded({ tasks }: Parent, root: { readonly nodeId: string; readonly path: string }): boolean {
  const task = tasks.find(
    ({ nodeId, path }) =>
      nodeId === root.nodeId && (path === root.path || (path === "" && root.path === "0")),
  );
  return task?.status === "finished" || task?.status === "skipped";
}

export interface ReplacedOutput {
  readonly place: TaskToCopy;
  readonly output: unknown;
}

/** @throws TOOL_FORK_INVALID if a task is not kept, or has several passes */
export function outputsFor(
  { summary: { runId } }: KnownRun,
  { tasks }: Kept,
  outputs: ForkOptions["outputs"] = {},
): ReplacedOutput[] {
  return Object.entries(outputs).map(([name, output]) => {
    const place = parseTaskName(name, tasks);
    if (place === undefined)
      throw forkError(
        `outputs names "${name}", which is not a finished task of run "${runId}" before the cut. ${listTasks(tasks)}`,
      );
    const found = tasks.filter(
      ({ nodeId, path, status }) =>
        nodeId === place.nodeId && status === "finished" && (place.path === undefined || path === place.path),
    );
    const [task] = found;
    if (task === undefined)
      throw forkError(`outputs names "${name}", which failed or was skipped and has no output`);
    if (found.length > 1)
      throw forkError(
        `outputs names "${name}", which has ${found.length} passes: name one of them, such as "${name}[${found.at(-1)?.path ?? "0"}]"`,
      );
    return { place: task, output };
  });
}

export function forkError(problem: string, hint?: string): ToolwrightError {
  const message = /[.?]$/.test(problem) ? problem : `${problem}.`;
  return new ToolwrightError("TOOL_FORK_INVALID", message, {
    effect: "none",
    ...(hint === undefined ? {} : { hint }),
  });
}
