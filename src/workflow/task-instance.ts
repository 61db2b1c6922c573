/** One task in one pass of the loops around it: its name, its attempts, and the states of its dependencies. */
import type { TaskProps } from "./components.ts";
import type { TaskState, TaskStates } from "./task-state.ts";

export interface TaskInstance {
  readonly props: TaskProps;
  readonly loop: readonly number[];
}

/** Names one task in one pass of its loops. */
export function instanceName(nodeId: string, loop: readonly number[]): string {
  return `${loop.join(".")} ${nodeId}`;
}

/** Whether what follows may start: the task finished, was skipped, or failed for good with `continueOnFail`. */
export function isOver(props: TaskProps, state: TaskState | undefined): boolean {
  if (state === undefined) return false;
  if (state.status === "failed") return props.continueOnFail === true && state.attempt >= attemptsOf(props);
  return state.status === "finished" || state.status === "skipped";
}

const DEFAULT_RETRIES = 2;

export function attemptsOf(props: TaskProps): number {
  return 1 + (props.retries ?? DEFAULT_RETRIES);
}

/** Finds a dependency in the same pass of the loops, or outside of them. */
export function dependencyState(states: TaskStates, id: string, loop: readonly number[]) {
  for (let depth = loop.length; depth >= 0; depth -= 1) {
    const state = states.get(id, loop.slice(0, depth).join("."));
    if (state !== undefined) return state;
  }
  // The dependency is in a loop that the task is not in: use its last pass.
  return states.ofNode(id).at(-1);
}

/** The outputs that a function child receives, by task id. */
export function dependencyOutputs(
  states: TaskStates,
  { props, loop }: TaskInstance,
): Readonly<Record<string, unknown>> {
  const ids = Object.keys(props.deps ?? {});
  return Object.fromEntries(ids.map((id) => [id, dependencyState(states, id, loop)?.output]));
}
