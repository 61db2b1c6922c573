/**
 * Renders, plans and runs until no task may start. Renders again only when an output that the render read has
 * changed.
 */
import { ToolwrightError } from "../errors.ts";
import type { WorkflowDefinition } from "./create-workflows.ts";
import { createWorkflowContext } from "./context.ts";
import { createPlan, outlineOf, type Plan } from "./plan.ts";
import { runTask } from "./run-task.ts";
import type { RunState } from "./run-state.ts";
import type { SagaPlace } from "./saga.ts";
import type { TaskState } from "./task-state.ts";
import type { WaitPlace } from "../store/tables/waits.ts";
import { systemClock } from "../util/clock.ts";
import { Released } from "../invoke/run-release.ts";
import { EventLoopTurns } from "../util/event-loop-turns.ts";
import { workflowError } from "./workflow-error.ts";
import { instanceName, type TaskInstance } from "./task-instance.ts";
import {
  hasRows,
  latestPass,
  type LoopNode,
  type LoopPass,
  loopsAroundTasks,
  PlanWalk,
} from "./walk-plan.ts";

/** Signals come from other processes, so the store is read. */
const SIGNAL_POLL_MS = 250;

export interface RunPlanOptions {
  readonly workflow: WorkflowDefinition;
  readonly input: unknown;
  readonly maxConcurrency: number;
  /** Called with the first plan of a started or resumed run, before any task starts. */
  readonly onFirstPlan: (plan: Plan) => Promise<void> | undefined;
}

/** How the tasks of a run ended. */
export type PlanEnd =
  | { readonly status: "finished" }
  | {
      readonly status: "failed";
      /** The first task that failed, or the error of a loop that reached its limit. */
      readonly failure: TaskState | ToolwrightError;
      /** The outermost sagas around everything that failed. */
      readonly sagas: readonly SagaPlace[];
    }
  | {
      readonly status: "waiting-approval" | "waiting-timer" | "waiting-signal";
      /** The tasks that wait for a time or a signal. */
      readonly waits: readonly WaitPlace[];
    };

export async function runPlan(run: RunState, options: RunPlanOptions): Promise<PlanEnd> {
  return new Schedule(run, options).run();
}

class Schedule {
  readonly #run: RunState;
  readonly #options: RunPlanOptions;
  readonly #eventLoop = new EventLoopTurns();
  readonly #active = new Map<string, Promise<void>>();
  /** The latest pass of each loop that is certain to start. */
  readonly #passes = new Map<string, number>();
  #ready: TaskInstance[] = [];
  #walk: PlanWalk | undefined;
  #firstPlan: Plan | undefined;
  #reads = new Set<string>();
  #loopPasses: readonly LoopPass[] = [];
  #loopsAround: (() => ReadonlyMap<string, readonly number[]>) | undefined;
  #isStale = true;
  readonly #waiting = new Map<string, TaskInstance>();
  readonly #justClosed: string[] = [];
  /** In the order in which they failed. */
  readonly #failed: TaskState[] = [];
  /** The sagas around loops that reached their limit. */
  readonly #limitSagas: SagaPlace[] = [];
  /** An error of the workflow or the store, as opposed to a failed task. */
  #thrown: { readonly error: unknown } | undefined;
  #wake: () => void = () => undefined;
  /** A task has ended since the last look: it may end while something else is awaited, and then nothing is woken. */
  #hasChanged = false;

  constructor(run: RunState, options: RunPlanOptions) {
    this.#run = run;
    this.#options = options;
  }

  async run(): Promise<PlanEnd> {
    for (;;) {
      this.#hasChanged = false;
      await this.#advance();
      if (this.#active.size > 0) {
        if (!this.#hasChanged) await this.#nextChange();
        continue;
      }
      const failure = this.#failure();
      if (failure !== undefined) return { status: "failed", failure, sagas: this.#failedSagas() };
      const isReleased = this.#run.release?.isRequested === true && this.#walk?.isDone !== true;
      if (isReleased && this.#ready.length > 0) throw new Released();
      if (this.#thrown !== undefined) throw this.#thrown.error;
      this.#run.signal.throwIfAborted();
      if (this.#walk?.isDone === true) return { status: "finished" };
      if (this.#waiting.size > 0) return this.#waitingEnd();
      const blocked = this.#walk?.blocked() ?? [];
      throw workflowError("tasks", `wait for each other: ${blocked.join(", ")}.`);
    }
  }

  #failure(): TaskState | ToolwrightError | undefined {
    const error = this.#thrown?.error;
    const isLimit = this.#limitSagas.length > 0 && ToolwrightError.is(error);
    return this.#failed[0] ?? (isLimit ? error : undefined);
  }

  /** Tasks that ran alongside the first failure may have failed in other sagas. */
  #failedSagas(): SagaPlace[] {
    const around = this.#failed.flatMap((task) => this.#run.outline.sagas.around(task) ?? []);
    return [...around, ...this.#limitSagas];
  }

  /**
   * Resolves when a task has ended, or when a task that waits must be looked at again: while others run, the tasks after a
   * sleep or a signal must not wait for them.
   */
  async #nextChange(): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    if (this.#waiting.size === 0) return woken;
    const over = new AbortController();
    const waits = [...this.#waiting.keys()].flatMap((name) => this.#run.waits.get(name) ?? []);
    const due = waits.flatMap(({ leftMs }) => leftMs ?? []).toSorted((one, other) => one - other);
    const { clock } = this.#run.host;
    const pauses = [
      ...due.slice(0, 1).map((ms) => clock.sleep(ms, over.signal)),
      ...(waits.some(({ kind }) => kind === "signal")
        ? [systemClock.sleep(SIGNAL_POLL_MS, over.signal)]
        : []),
    ];
    const paused = pauses.map((pause) =>
      pause.then(
        () => this.#lookAgain(),
        () => undefined,
      ),
    );
    try {
      await Promise.race([woken, ...paused]);
    } finally {
      over.abort();
    }
  }

  #lookAgain(): void {
    for (const [name, task] of this.#waiting) {
      if (!this.#run.waits.delete(name)) continue;
      this.#waiting.delete(name);
      this.#ready.push(task);
    }
  }

  /** An approver comes first, then a sender, then the time: the status says who can end the wait first. */
  #waitingEnd(): PlanEnd {
    const entries = [...this.#waiting].map(([name, task]) => ({ task, wait: this.#run.waits.get(name) }));
    const waits = entries.flatMap(({ task: { props, loop }, wait }) =>
      wait === undefined ? [] : [{ nodeId: props.id, path: loop.join(".") }],
    );
    const status = entries.some(({ wait }) => wait === undefined)
      ? "waiting-approval"
      : entries.some(({ wait }) => wait?.kind === "signal")
        ? "waiting-signal"
        : "waiting-timer";
    return { status, waits };
  }

  /** An error is reported when the tasks that run have ended. */
  async #advance(): Promise<void> {
    if (this.#thrown !== undefined || this.#failed.length > 0) return;
    try {
      if (this.#isStale) await this.#renderAgain();
      const plan = this.#firstPlan;
      this.#firstPlan = undefined;
      if (plan !== undefined) await this.#options.onFirstPlan(plan);
      // The end of a loop is stored before any task after it starts.
      for (const name of this.#justClosed.splice(0)) await this.#run.closeLoop(name);
      if (!this.#isStale) this.#startReady();
    } catch (error) {
      this.#thrown = { error };
    }
  }

  async #renderAgain(): Promise<void> {
    // The next pass of a loop is rendered with its number, which may take several rounds.
    do {
      // Passes without tasks do not use the store, so nothing else would yield to the event loop.
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
        firstPass: (node, loop) => this.#firstPass(node, loop),
        isPassStarted: (node, loop, index) => this.#isPassStarted(node, loop, index),
        isClosed: (node, loop) => this.#run.closedLoops.has(loopName(node, loop)),
        onClosed: (node, loop) => {
          this.#run.closedLoops.add(loopName(node, loop));
          this.#justClosed.push(loopName(node, loop));
        },
        onLimit: (node, loop) => {
          const { name, maxIterations, onMaxReached } = node;
          this.#run.emit({ type: "loop-limit-reached", name, maxIterations, onMaxReached });
          const saga = onMaxReached === "fail" ? this.#run.outline.sagas.aroundLoop(node, loop) : undefined;
          if (saga !== undefined) this.#limitSagas.push(saga);
        },
        onNextPass: (node, loop, index) => {
          this.#passes.set(loopName(node, loop), index);
          this.#isStale = true;
        },
        onStale: () => {
          this.#isStale = true;
        },
      });
      walk.start();
      this.#walk = walk;
      if (!walk.isDone && !areSamePasses(walk.loopPasses, this.#loopPasses)) {
        this.#loopPasses = walk.loopPasses;
        this.#isStale = true;
      }
    } while (this.#isStale);
  }

  render(): Plan {
    const { workflow, input } = this.#options;
    const context = createWorkflowContext({
      runId: this.#run.runId,
      input,
      loopPasses: this.#loopPasses,
      loopsAround: this.#loopsAround,
      states: this.#run.states,
      keys: Object.keys(workflow.schemas),
      reads: this.#reads,
    });
    const plan = createPlan(workflow.render(context));
    this.#run.outline.note(plan.root);
    this.#run.emit({ type: "plan-rendered", name: plan.name, outline: () => outlineOf(plan.root) });
    return plan;
  }

  #firstPass(node: LoopNode, loop: readonly number[]): number {
    const name = loopName(node, loop);
    const first = this.#passes.get(name) ?? latestPass(node.body, loop, this.#run.states);
    this.#passes.set(name, first);
    return first;
  }

  #isPassStarted(node: LoopNode, loop: readonly number[], index: number): boolean {
    const name = loopName(node, loop);
    if ((this.#passes.get(name) ?? 0) >= index) return true;
    if (!hasRows(node.body, [...loop, index], this.#run.states)) return false;
    this.#passes.set(name, index);
    return true;
  }

  #startReady(): void {
    while (this.#ready.length > 0 && this.#active.size < this.#options.maxConcurrency) {
      // After a failure no task starts; running tasks are awaited.
      if (this.#failed.length > 0 || this.#thrown !== undefined || this.#run.signal.aborted) return;
      if (this.#run.release?.isRequested === true) return;
      const task = this.#ready.shift();
      if (task === undefined) return;
      const name = instanceName(task.props.id, task.loop);
      // A task that waits for approval is not started again in this process: a resume reads the decision. The others are
      // looked at again when it is time.
      if (!this.#active.has(name) && !this.#waiting.has(name))
        this.#active.set(name, this.#perform(name, task));
    }
    this.#run.release?.setTasks(this.#active.size);
  }

  async #perform(name: string, task: TaskInstance): Promise<void> {
    try {
      const state = await runTask(this.#run, task);
      this.#ended(name, task, state);
    } catch (error) {
      this.#thrown ??= { error };
    } finally {
      this.#active.delete(name);
      this.#run.release?.setTasks(this.#active.size);
      this.#hasChanged = true;
      this.#wake();
    }
  }

  #ended(name: string, task: TaskInstance, state: TaskState): void {
    if (state.status === "waiting") {
      this.#waiting.set(name, task);
      return;
    }
    if (state.status === "failed" && task.props.continueOnFail !== true) {
      this.#failed.push(state);
      return;
    }
    const { outputKey: key, nodeId } = state;
    const isRead = key !== null && (this.#reads.has(key) || this.#reads.has(`${key} ${nodeId}`));
    if (isRead) this.#isStale = true;
    else this.#walk?.taskDone(task.props.id, task.loop);
  }
}

function areSamePasses(one: readonly LoopPass[], other: readonly LoopPass[]): boolean {
  const isSame = ({ loop, pass }: LoopPass, index: number): boolean =>
    loop === other[index]?.loop && pass === other[index].pass;
  return one.length === other.length && one.every(isSame);
}

/** Stored as the name of a loop that has ended: it must never change. */
function loopName(node: LoopNode, loop: readonly number[]): string {
  return `${loop.join(".")} ${node.number}`;
}
