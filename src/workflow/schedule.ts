/** Renders, plans and runs until nothing is left that may run. Renders anew only when what was read has changed. */
import type { WorkflowDefinition } from "./create-smithers.ts";
import { createWorkflowContext } from "./context.ts";
import { createPlan, type Plan } from "./plan.ts";
import { outlineOf } from "./plan-outline.ts";
import { runTask } from "./run-task.ts";
import type { RunState } from "./run-state.ts";
import type { TaskState } from "./task-state.ts";
import { EventLoopTurns } from "../util/event-loop-turns.ts";
import { workflowError } from "./workflow-error.ts";
import {
  hasRows,
  type LoopNode,
  type LoopPass,
  loopsAroundTasks,
  PlanWalk,
  type TaskInstance,
} from "./walk-plan.ts";

export interface ScheduleOptions {
  readonly workflow: WorkflowDefinition;
  readonly input: unknown;
  readonly maxConcurrency: number;
  /** Called with the tree as it is when the run begins or resumes, before any task does. */
  readonly onFirstPlan: (plan: Plan) => Promise<void> | undefined;
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
  readonly #eventLoop = new EventLoopTurns();
  readonly #active = new Map<string, Promise<void>>();
  readonly #turns = new Map<string, number>();
  #ready: TaskInstance[] = [];
  #walk: PlanWalk | undefined;
  #firstPlan: Plan | undefined;
  #reads = new Set<string>();
  #at: readonly LoopPass[] = [];
  #loopsAround: (() => ReadonlyMap<string, readonly number[]>) | undefined;
  #isStale = true;
  readonly #parked = new Set<string>();
  readonly #justClosed: string[] = [];
  #failed: TaskState | undefined;
  #broken: { readonly error: unknown } | undefined;
  #wake: () => void = () => undefined;

  constructor(run: RunState, options: ScheduleOptions) {
    this.#run = run;
    this.#options = options;
  }

  async run(): Promise<ScheduleEnd> {
    for (;;) {
      await this.#goOn();
      if (this.#active.size > 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      if (this.#failed !== undefined) return { status: "failed", task: this.#failed };
      if (this.#broken !== undefined) throw this.#broken.error;
      this.#run.signal.throwIfAborted();
      if (this.#walk?.isDone === true) return { status: "finished" };
      if (this.#parked.size > 0) return { status: "waiting-approval" };
      const blocked = this.#walk?.blocked() ?? [];
      throw workflowError("tasks", `wait for each other: ${blocked.join(", ")}.`);
    }
  }

  /** What cannot be rendered is told when what runs has come to its end. */
  async #goOn(): Promise<void> {
    if (this.#broken !== undefined || this.#failed !== undefined) return;
    try {
      if (this.#isStale) await this.#renderAnew();
      const plan = this.#firstPlan;
      this.#firstPlan = undefined;
      if (plan !== undefined) await this.#options.onFirstPlan(plan);
      // Before anything that follows a loop begins, it is on record that the loop has ended.
      for (const name of this.#justClosed.splice(0)) await this.#run.closeLoop(name);
      if (!this.#isStale) this.#startReady();
    } catch (error) {
      this.#broken = { error };
    }
  }

  async #renderAnew(): Promise<void> {
    // A loop that goes on is rendered once more with its number, so one look may not be enough.
    do {
      // Passes without any task read and write nothing, so no store lets the event loop turn.
      await this.#eventLoop.nextIfDue();
      this.#run.signal.throwIfAborted();
      this.#isStale = false;
      this.#ready = [];
      this.#reads = new Set();
      const plan = this.render();
      if (this.#walk === undefined) this.#firstPlan = plan;
      let loops: Map<string, readonly number[]> | undefined;
      this.#loopsAround = () => (loops ??= loopsAroundTasks(plan.root));
      const walk = new PlanWalk({
        plan,
        states: this.#run.states,
        onReady: (task) => this.#ready.push(task),
        isDecided: (node, loop, index) => this.#isDecided(node, loop, index),
        isClosed: (node, loop) => this.#run.closedLoops.has(turnName(node, loop)),
        onClosed: (node, loop) => {
          this.#run.closedLoops.add(turnName(node, loop));
          this.#justClosed.push(turnName(node, loop));
        },
        onLimit: ({ name, maxIterations, onMaxReached }) =>
          this.#run.emit({ type: "loop-limit-reached", name, maxIterations, onMaxReached }),
        onTurn: (node, loop, index) => {
          this.#turns.set(turnName(node, loop), index);
          this.#isStale = true;
        },
        onStale: () => {
          this.#isStale = true;
        },
      });
      walk.start();
      this.#walk = walk;
      if (!walk.isDone && !isSamePlace(walk.at, this.#at)) {
        this.#at = walk.at;
        this.#isStale = true;
      }
    } while (this.#isStale);
  }

  render(): Plan {
    const { workflow, input } = this.#options;
    const context = createWorkflowContext({
      runId: this.#run.runId,
      input,
      at: this.#at,
      loopsAround: this.#loopsAround,
      states: this.#run.states,
      keys: Object.keys(workflow.schemas),
      reads: this.#reads,
    });
    const plan = createPlan(workflow.render(context));
    this.#run.emit({ type: "plan-rendered", name: plan.name, outline: () => outlineOf(plan.root) });
    return plan;
  }

  #isDecided(node: LoopNode, loop: readonly number[], index: number): boolean {
    if ((this.#turns.get(turnName(node, loop)) ?? 0) >= index) return true;
    return hasRows(node.body, [...loop, index], this.#run.states);
  }

  #startReady(): void {
    while (this.#ready.length > 0 && this.#active.size < this.#options.maxConcurrency) {
      // After a failure nothing new begins; what runs comes to its end.
      if (this.#failed !== undefined || this.#broken !== undefined || this.#run.signal.aborted) return;
      const task = this.#ready.shift();
      if (task === undefined) return;
      const place = `${task.loop.join(".")} ${task.props.id}`;
      // Who waits for a person is not asked again before somebody has decided, and that is another process's turn.
      if (!this.#active.has(place) && !this.#parked.has(place))
        this.#active.set(place, this.#perform(place, task));
    }
  }

  async #perform(place: string, task: TaskInstance): Promise<void> {
    try {
      const state = await runTask(this.#run, task);
      this.#ended(place, task, state);
    } catch (error) {
      this.#broken ??= { error };
    } finally {
      this.#active.delete(place);
      this.#wake();
    }
  }

  #ended(place: string, task: TaskInstance, state: TaskState): void {
    if (state.status === "waiting") {
      this.#parked.add(place);
      return;
    }
    if (state.status === "failed" && task.props.continueOnFail !== true) {
      this.#failed ??= state;
      return;
    }
    const { outputKey: key, nodeId } = state;
    const isRead = key !== null && (this.#reads.has(key) || this.#reads.has(`${key} ${nodeId}`));
    if (isRead) this.#isStale = true;
    else this.#walk?.taskDone(task.props.id, task.loop);
  }
}

function isSamePlace(one: readonly LoopPass[], other: readonly LoopPass[]): boolean {
  const isSame = ({ loop, pass }: LoopPass, index: number): boolean =>
    loop === other[index]?.loop && pass === other[index].pass;
  return one.length === other.length && one.every(isSame);
}

function turnName(node: LoopNode, loop: readonly number[]): string {
  return `${loop.join(".")} ${node.number}`;
}
