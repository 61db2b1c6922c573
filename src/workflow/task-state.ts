/** The states of a run's tasks in memory, indexed by task and loop path, and by output key. */
import type { TaskStatus } from "../invoke/events.ts";
import type { ToolwrightError } from "../errors.ts";

export interface TaskState {
  readonly nodeId: string;
  /** Loop indices, `""` outside any loop. */
  readonly path: string;
  readonly iteration: number;
  readonly attempt: number;
  readonly status: TaskStatus;
  readonly outputKey: string | null;
  readonly output: unknown;
  readonly error: ToolwrightError | undefined;
  readonly prompt: unknown;
}

export class TaskStates {
  readonly #byPath = new Map<string, TaskState>();
  readonly #byNode = new Map<string, TaskState[]>();
  readonly #byKey = new Map<string, TaskState[]>();
  /** The task that finished last. */
  last: TaskState | undefined;

  constructor(states: readonly TaskState[] = []) {
    for (const state of states) this.set(state);
  }

  get(nodeId: string, path: string): TaskState | undefined {
    return this.#byPath.get(`${path} ${nodeId}`);
  }

  set(state: TaskState): void {
    const previous = this.get(state.nodeId, state.path);
    this.#byPath.set(`${state.path} ${state.nodeId}`, state);
    replaceIn(this.#byNode, state.nodeId, previous, state);
    if (state.status !== "finished") return;
    this.last = state;
    if (state.outputKey !== null) replaceIn(this.#byKey, state.outputKey, previous, state);
  }

  /** Another output of a task that has ended: it does not end again. */
  replace(state: TaskState): void {
    const { last } = this;
    const previous = this.get(state.nodeId, state.path);
    this.set(state);
    this.last = last === previous ? state : last;
  }

  /** All iterations of a task, oldest first. */
  ofNode(nodeId: string): readonly TaskState[] {
    return this.#byNode.get(nodeId) ?? [];
  }

  /** All finished rows of an output, in the order in which they were stored. */
  ofKey(key: string): readonly TaskState[] {
    return this.#byKey.get(key) ?? [];
  }
}

function replaceIn(
  lists: Map<string, TaskState[]>,
  name: string,
  previous: TaskState | undefined,
  state: TaskState,
): void {
  const list = lists.get(name);
  if (list === undefined) {
    lists.set(name, [state]);
    return;
  }
  // The newest entry changes most often, so search from the end.
  const index = previous === undefined ? -1 : list.lastIndexOf(previous);
  if (index >= 0) list[index] = state;
  else list.push(state);
}
