/**
 * The latest tree of a run, for other processes. It is written with the next state of a task, or with the end of the run, and
 * only when it has changed. Bounded: it is rewritten as a whole.
 */
import type { PlanOutline } from "../invoke/events.ts";
import { saveOutline } from "../store/tables/runs.ts";
import type { Transaction } from "../store/store.ts";
import { outlineOf, type PlanNode } from "./plan.ts";
import type { StartOptions } from "./run-options.ts";
import { SagaTasks } from "./saga-tasks.ts";
import { StoredText, type WrittenText } from "./stored-text.ts";

/** Later tasks appear in the tree when they start. */
const MOST_NODES = 1_000;

/** The rows that one transaction has written, for `committed`. */
export interface WrittenOutline {
  readonly tree: WrittenText;
  readonly sagas: WrittenText;
}

export class StoredOutline {
  readonly sagas: SagaTasks;
  /** The stored options of the run, which hold the tasks of its sagas. */
  options: StartOptions;
  #rendered: PlanNode | undefined;
  #text = "";
  readonly #stored = new StoredText("");

  constructor(options: StartOptions) {
    this.options = options;
    this.sagas = new SagaTasks(options.sagas);
  }

  note(root: PlanNode): void {
    this.#rendered = root;
    this.sagas.note(root);
  }

  /**
   * Part of a transaction, which may run more than once.
   * @param isLast nothing follows in the transaction
   */
  *write(runId: string, epoch: number, isLast = false): Transaction<WrittenOutline> {
    const sagas = yield* this.sagas.write(runId, epoch, this.options);
    if (this.#rendered !== undefined) {
      this.#text = JSON.stringify(firstNodes(outlineOf(this.#rendered), { left: MOST_NODES }));
      this.#rendered = undefined;
    }
    const tree = this.#stored.write(this.#text);
    if (!this.#stored.holds(tree.text)) yield* saveOutline(runId, epoch, tree.text, isLast);
    return { tree, sagas };
  }

  /** Call it after the commit. The tree may have changed since, and another transaction may be writing that. */
  committed({ tree, sagas }: WrittenOutline): void {
    this.#stored.committed(tree);
    this.sagas.committed(sagas);
  }
}

function firstNodes(nodes: readonly PlanOutline[], count: { left: number }): PlanOutline[] {
  const kept: PlanOutline[] = [];
  for (const node of nodes) {
    if (count.left <= 0) break;
    count.left -= 1;
    kept.push(node.kind === "task" ? node : { ...node, children: firstNodes(node.children, count) });
  }
  return kept;
}
