/** What is known of a run's tasks, in memory: by task and loop path, and by the key of their output. */
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
  readonly #byPlace = new Map<string, TaskState>();
  readonly #byNode = new Map<string, TaskState[]>();
  readonly #byKey = new Map<string, TaskState[]>();
  /** The task that ended last. */
  last: TaskState | undefined;

  constructor(states: readonly TaskState[] = []) {
    for (const state of states) this.set(state);
  }

  get(nodeId: string, path: string): TaskState | undefined {
    return this.#byPlace.get(placeOf(nodeId, path));
  }

  set(state: TaskState): void {
    const known = this.get(state.nodeId, state.path);
    this.#byPlace.set(placeOf(state.nodeId, state.path), state);
    replaceIn(this.#byNode, state.nodeId, known, state);
    if (state.status !== "finished") return;
    this.last = state;
    if (state.outputKey !== null) replaceIn(this.#byKey, state.outputKey, known, state);
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

function placeOf(nodeId: string, path: string): string {
  return `${path} ${nodeId}`;
}

function replaceIn(
  lists: Map<string, TaskState[]>,
  name: string,
  known: TaskState | undefined,
  state: TaskState,
): void {
  const list = lists.get(name);
  if (list === undefined) {
    lists.set(name, [state]);
    return;
  }
  // The latest is changed most: a long list is not searched from its beginning.
  const index = known === undefined ? -1 : list.lastIndexOf(known);
  if (index >= 0) list[index] = state;
  else list.push(state);
}
