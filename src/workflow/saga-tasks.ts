/**
 * The tasks of each saga, including tasks that are no longer in the tree: a failure reverts their effects too. Stored
 * with the options of the run, before the tasks start or with the end of one, so that a process that resumes the run
 * knows them.
 */
import type { Transaction } from "../store/store.ts";
import { saveRunOptions } from "../store/tables/workflow-runs.ts";
import { encode } from "../util/encode.ts";
import type { PlanNode } from "./plan.ts";
import type { StartOptions } from "./run-options.ts";
import { holds, type OutermostSaga, type SagaPlace, sagasIn, tasksIn } from "./saga.ts";
import { StoredText, type WrittenText } from "./stored-text.ts";
import type { TaskState } from "./task-state.ts";

/** By the id of the saga, or a number if it has none. */
export type StoredSagas = Readonly<
  Record<string, { readonly loops: number; readonly tasks: readonly string[] }>
>;

interface KnownSaga {
  loops: number;
  readonly tasks: Set<string>;
}

export class SagaTasks {
  readonly #sagas: Map<string, KnownSaga>;
  /** Those of the latest tree. */
  #rendered: ReadonlyMap<PlanNode, KnownSaga> = new Map();
  readonly #stored: StoredText;
  #text: string;

  constructor(stored: StoredSagas = {}) {
    const known = Object.entries(stored).map(([name, { loops, tasks }]): [string, KnownSaga] => [
      name,
      { loops, tasks: new Set(tasks) },
    ]);
    this.#sagas = new Map(known);
    this.#text = JSON.stringify(stored);
    this.#stored = new StoredText(this.#text);
  }

  note(root: PlanNode): void {
    const rendered = sagasIn(root);
    if (rendered.length === 0 && this.#sagas.size === 0) return;
    const found = rendered.map(({ node, loops }) => ({ node, loops, known: this.#find(node) }));
    // A task belongs to the saga that it is in now.
    for (const id of tasksIn(root)) for (const { tasks } of this.#sagas.values()) tasks.delete(id);
    for (const { node, loops, known } of found) {
      known.loops = loops;
      for (const id of tasksIn(node)) known.tasks.add(id);
    }
    this.#rendered = new Map(found.map(({ node, known }) => [node, known]));
    this.#text = JSON.stringify(this.toStored());
  }

  /** A saga without an id is recognized by its tasks: sagas may come and go. */
  #find(node: OutermostSaga["node"]): KnownSaga {
    const { id } = node;
    const tasks = tasksIn(node);
    const name =
      id === undefined
        ? [...this.#sagas].find(
            ([key, one]) => isNumbered(key) && tasks.some((task) => one.tasks.has(task)),
          )?.[0]
        : `id ${id}`;
    const found = name === undefined ? undefined : this.#sagas.get(name);
    if (found !== undefined) return found;
    const added: KnownSaga = { loops: 0, tasks: new Set() };
    this.#sagas.set(name ?? `${this.#sagas.size + 1}`, added);
    return added;
  }

  toStored(): StoredSagas {
    const sagas = [...this.#sagas].map(([name, { loops, tasks }]) => [
      name,
      { loops, tasks: [...tasks].sort() },
    ]);
    return Object.fromEntries(sagas) as StoredSagas;
  }

  /** Part of a transaction, which may run more than once. */
  *write(runId: string, epoch: number, options: StartOptions): Transaction<WrittenText> {
    const written = this.#stored.write(this.#text);
    if (!this.#stored.holds(written.text))
      yield* saveRunOptions(runId, epoch, encode({ ...options, sagas: this.toStored() }));
    return written;
  }

  /** Call it after the commit. */
  committed(written: WrittenText): void {
    this.#stored.committed(written);
  }

  /** The saga that a failed task is in. */
  around({ nodeId, path }: Pick<TaskState, "nodeId" | "path">): SagaPlace | undefined {
    const saga = [...this.#sagas.values()].find(({ tasks }) => tasks.has(nodeId));
    return saga && placeOf(saga, path === "" ? [] : path.split(".").map(Number));
  }

  /** The same for a loop that reached its limit. @param passes of the loops around it */
  aroundLoop(loop: PlanNode, passes: readonly number[]): SagaPlace | undefined {
    const saga = [...this.#rendered].find(([node]) => holds(node, loop))?.[1];
    return saga && placeOf(saga, passes);
  }
}

function isNumbered(name: string): boolean {
  return !name.startsWith("id ");
}

function placeOf({ loops, tasks }: KnownSaga, passes: readonly number[]): SagaPlace {
  return { tasks: [...tasks], passes: passes.slice(0, loops) };
}
