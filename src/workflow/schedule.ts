/** Renders, plans and runs until nothing is left that may run. Renders anew only when what was read has changed. */
import type { WorkflowDefinition } from "./create-smithers.ts";
import { createWorkflowContext } from "./context.ts";
import { createPlan, type Plan } from "./plan.ts";
import { outlineOf } from "./plan-outline.ts";
import { runTask } from "./run-task.ts";
import type { RunState } from "./run-state.ts";
import type { TaskState } from "./task-state.ts";
import { hasRows, type LoopNode, PlanWalk, type TaskInstance } from "./walk-plan.ts";

export interface ScheduleOptions {
  readonly workflow: WorkflowDefinition;
  readonly input: unknown;
  readonly maxConcurrency: number;
}

/** How a run ended, as far as its tasks are concerned. */
export type ScheduleEnd =
  | { readonly status: "finished" }
  | { readonly status: "failed"; readonly task: TaskState }
  | { readonly status: "waiting-approval" };

export async function schedule(run: RunState, options: ScheduleOptions): Promise<ScheduleEnd> {
  return new Schedule(run, options).run();
}

class Schedule {
  readonly #run: RunState;
  readonly #options: ScheduleOptions;
  readonly #active = new Map<string, Promise<void>>();
  readonly #turns = new Map<string, number>();
  #ready: TaskInstance[] = [];
  #walk: PlanWalk | undefined;
  #reads = new Set<string>();
  #iteration = 0;
  #isStale = true;
  #isWaiting = false;
  #failed: TaskState | undefined;
  #broken: { readonly error: unknown } | undefined;
  #wake: () => void = () => undefined;

  constructor(run: RunState, options: ScheduleOptions) {
    this.#run = run;
    this.#options = options;
  }

  async run(): Promise<ScheduleEnd> {
    for (;;) {
      if (this.#isStale) this.#renderAnew();
      this.#startReady();
      if (this.#active.size === 0) {
        if (this.#broken !== undefined) throw this.#broken.error;
        this.#run.signal.throwIfAborted();
        if (this.#failed !== undefined) return { status: "failed", task: this.#failed };
        if (this.#isStale) continue;
        return { status: this.#walk?.isDone === true ? "finished" : "waiting-approval" };
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #renderAnew(): void {
    // A loop that goes on is rendered once more with its number, so one look may not be enough.
    do {
      this.#isStale = false;
      this.#ready = [];
      this.#reads = new Set();
      const plan = this.render();
      this.#run.tell({ type: "plan-rendered", name: plan.name, outline: () => outlineOf(plan.root) });
      this.#walk = new PlanWalk({
        plan,
        states: this.#run.states,
        onReady: (task) => this.#ready.push(task),
        isDecided: (node, loop, index) => this.#isDecided(node, loop, index),
        onTurn: (node, loop, index) => {
          this.#turns.set(turnName(node, loop), index);
          this.#iteration = index;
          this.#isStale = true;
        },
        onStale: () => {
          this.#isStale = true;
        },
      });
      this.#walk.start();
    } while (this.#isStale);
  }

  render(): Plan {
    const { workflow, input } = this.#options;
    const context = createWorkflowContext({
      runId: this.#run.runId,
      input,
      iteration: this.#iteration,
      states: this.#run.states,
      keys: Object.keys(workflow.schemas),
      reads: this.#reads,
    });
    return createPlan(workflow.render(context));
  }

  #isDecided(node: LoopNode, loop: readonly number[], index: number): boolean {
    if ((this.#turns.get(turnName(node, loop)) ?? 0) >= index) return true;
    if (!hasRows(node.body, [...loop, index], this.#run.states)) return false;
    this.#iteration = Math.max(this.#iteration, index);
    return true;
  }

  #startReady(): void {
    while (this.#ready.length > 0 && this.#active.size < this.#options.maxConcurrency) {
      // After a failure nothing new begins; what runs comes to its end.
      if (this.#failed !== undefined || this.#broken !== undefined || this.#run.signal.aborted) return;
      const task = this.#ready.shift();
      if (task === undefined) return;
      const place = `${task.loop.join(".")} ${task.props.id}`;
      if (!this.#active.has(place)) this.#active.set(place, this.#perform(place, task));
    }
  }

  async #perform(place: string, task: TaskInstance): Promise<void> {
    try {
      const state = await runTask(this.#run, task);
      this.#ended(task, state);
    } catch (error) {
      this.#broken ??= { error };
    } finally {
      this.#active.delete(place);
      this.#wake();
    }
  }

  #ended(task: TaskInstance, state: TaskState): void {
    if (state.status === "waiting") {
      this.#isWaiting = true;
      return;
    }
    if (state.status === "failed" && task.props.continueOnFail !== true) {
      this.#failed ??= state;
      return;
    }
    if (state.outputKey !== null && this.#reads.has(state.outputKey)) this.#isStale = true;
    else this.#walk?.taskDone(task.props.id, task.loop);
  }
}

function turnName(node: LoopNode, loop: readonly number[]): string {
  return `${loop.join(".")} ${node.name}`;
}
