/** Runs the body of a task once: a value, a function, or an agent, the latter two in a scope for their tool calls. */
import { ToolwrightError } from "../errors.ts";
import { currentScope } from "../invoke/call-in-context.ts";
import { copyError } from "../invoke/error-record.ts";
import { runTaskScope } from "../runtime/create-runtime.ts";
import type { Transaction } from "../store/store.ts";
import { holdRun } from "../store/tables/workflow-runs.ts";
import { type AttemptResult, runAgentTask } from "./agent-task.ts";
import { limitAttempt } from "./attempt-limit.ts";
import type { TaskProps } from "./components.ts";
import { aboutAgent } from "./about-agent.ts";
import { traceAgentInside } from "../invoke/trace-work.ts";
import { loadTaskPrompt } from "./load-task-prompt.ts";
import { fencedError } from "./record-task.ts";
import { attemptId, type RunState } from "./run-state.ts";
import { validateOutput } from "./task-output.ts";
import { dependencyOutputs, type TaskInstance } from "./task-instance.ts";

export async function runAttempt(run: RunState, task: TaskInstance, attempt: number): Promise<AttemptResult> {
  const { props } = task;
  const id = attemptId(run, task, attempt);
  run.emit({ type: "task-changed", nodeId: id.nodeId, iteration: id.iteration, attempt, status: "running" });
  if (isValueTask(props)) return { kind: "output", output: await valueOf(props) };
  const isAgent = props.agent !== undefined || props.model !== undefined;
  const limit = limitAttempt(run, props);
  const body = (): Promise<AttemptResult> =>
    isAgent ? runAgent(run, task, attempt, limit.signal) : runFunction(run, task);
  const scope = { ...id, signal: limit.signal, settings: run.settings, limits: run.limits };
  // The race is inside the scope: a body that outlives its limit keeps neither the scope nor the runtime open.
  return runTaskScope(run.runtime, scope, () => limit.race(body()), {
    isLazy: !isAgent,
    guard: () => assertOwned(run),
  });
}

async function runFunction(run: RunState, task: TaskInstance): Promise<AttemptResult> {
  const { props } = task;
  const body = props.children as (deps: unknown) => unknown;
  const output = await body(dependencyOutputs(run.states, task));
  return { kind: "output", output: await validateOutput(props.id, props.output, output) };
}

async function runAgent(
  run: RunState,
  task: TaskInstance,
  attempt: number,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const { props } = task;
  const prompt = await loadTaskPrompt(run, task, attempt);
  const scope = currentScope();
  const work = (): Promise<AttemptResult> =>
    runAgentTask({
      props,
      attempt,
      ...prompt,
      signal,
      onDiverged: (position) => run.emit({ type: "replay-diverged", nodeId: props.id, position }),
      isWaiting: () => (currentScope()?.root.waiting.size ?? 0) > 0,
    });
  const about = run.host.telemetry === undefined ? undefined : aboutAgent(props, attempt);
  if (scope === undefined || about === undefined) return work();
  return traceAgentInside(scope, about, work, ({ kind }) => ({
    status: kind === "waiting" ? "waiting" : undefined,
  }));
}

/** Whether the children are the output itself. */
export function isValueTask(props: TaskProps): boolean {
  return props.agent === undefined && props.model === undefined && typeof props.children !== "function";
}

async function valueOf({ id, output, children }: TaskProps): Promise<unknown> {
  try {
    return await validateOutput(id, output, children);
  } catch (error) {
    // The author of an invalid text most likely meant it as a prompt.
    if (typeof children !== "string" || !ToolwrightError.is(error)) throw error;
    throw copyError(error, {
      message: `Task "${id}" contains text but has no agent, so the text is its output. It does not match the schema of "${output?.key ?? ""}".`,
      hint: `If the text is a prompt, add an agent: <Task id=${JSON.stringify(id)} agent={…}>. Otherwise return the value: {{ … }} or a function.`,
    });
  }
}

/** A process that has lost the run must not start its tasks. */
function* assertOwned(run: RunState): Transaction<void> {
  if (!(yield* holdRun(run.runId, run.epoch))) throw fencedError(run.runId);
}
