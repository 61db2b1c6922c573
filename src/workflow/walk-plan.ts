/**
 * Walks a plan: reports the tasks that may start, and is notified of tasks that ended. The cost of a step does not
 * grow with the plan: a sequence remembers its position, a group counts.
 */
import type { ToolwrightError } from "../errors.ts";
import type { TaskProps } from "./components.ts";
import { dependenciesOf, type Plan, type PlanNode } from "./plan.ts";
import { dependencyState, instanceName, isOver, type TaskInstance } from "./task-instance.ts";
import type { TaskStates } from "./task-state.ts";
import { workflowError } from "./workflow-error.ts";

interface WalkOptions {
  readonly plan: Plan;
  readonly states: TaskStates;
  /** Called for each task that may run now. */
  readonly onReady: (task: TaskInstance) => void;
  /** The latest pass of a loop that has started: those before it are over, whatever the tree contains now. */
  readonly firstPass: (node: LoopNode, loop: readonly number[]) => number;
  /** Whether a pass of a loop has started, or is certain to start. */
  readonly isPassStarted: (node: LoopNode, loop: readonly number[], index: number) => boolean;
  /** A loop that has ended stays ended, even if `until` becomes false again. */
  readonly isClosed: (node: LoopNode, loop: readonly number[]) => boolean;
  readonly onClosed: (node: LoopNode, loop: readonly number[]) => void;
  /** A loop reached `maxIterations` before `until` was true. */
  readonly onLimit: (node: LoopNode, loop: readonly number[]) => void;
  /** A loop continues: the tree must be rendered with the number of the next pass. */
  readonly onNextPass: (node: LoopNode, loop: readonly number[], index: number) => void;
  /** The tree must be rendered again before the walk can continue. */
  readonly onStale: () => void;
}

/** A loop and its current pass. */
export interface LoopPass {
  /** The loop's number in its plan. */
  readonly loop: number;
  /** From 0. */
  readonly pass: number;
}

type Done = () => void;
export type LoopNode = Extract<PlanNode, { kind: "loop" }>;

export class PlanWalk {
  readonly #options: WalkOptions;
  readonly #waiting = new Map<string, Done[]>();
  /** Tasks that wait for a dependency, by the id of that dependency. */
  readonly #blocked = new Map<string, { readonly id: string; readonly start: () => void }[]>();
  /** No task has ended since the tree was rendered. */
  #isFresh = true;
  isDone = false;
  /** The loops in progress, the outermost first. */
  loopPasses: readonly LoopPass[] = [];

  constructor(options: WalkOptions) {
    this.#options = options;
  }

  start(): void {
    this.#enter(this.#options.plan.root, [], () => {
      this.isDone = true;
    });
  }

  /** Call this when a task has ended and no longer blocks what follows it. */
  taskDone(nodeId: string, loop: readonly number[]): void {
    this.#isFresh = false;
    const instance = instanceName(nodeId, loop);
    const done = this.#waiting.get(instance) ?? [];
    this.#waiting.delete(instance);
    for (const next of done) next();
    const blocked = this.#blocked.get(nodeId) ?? [];
    this.#blocked.delete(nodeId);
    for (const { start } of blocked) start();
  }

  #enter(node: PlanNode, loop: readonly number[], done: Done): void {
    switch (node.kind) {
      case "sequence":
      case "saga":
        this.#enterSequence(node.children, loop, done);
        return;
      case "parallel":
        this.#enterParallel(node.children, node.maxConcurrency, loop, done);
        return;
      case "loop":
        this.#enterLoop(node, loop, done);
        return;
      case "task":
        this.#enterTask(node.props, loop, done);
    }
  }

  /** Iterates, since recursion would overflow the stack after several thousand finished tasks. */
  #enterSequence(children: readonly PlanNode[], loop: readonly number[], done: Done): void {
    let index = 0;
    let isAdvancing = false;
    const advance = (): void => {
      if (isAdvancing) return;
      isAdvancing = true;
      while (index < children.length) {
        const child = children[index];
        let isOver = false;
        let isAsync = false;
        if (child !== undefined) {
          this.#enter(child, loop, () => {
            isOver = true;
            if (!isAsync) return;
            index += 1;
            advance();
          });
        }
        if (!isOver) {
          isAsync = true;
          isAdvancing = false;
          return;
        }
        index += 1;
      }
      done();
    };
    advance();
  }

  #enterParallel(children: readonly PlanNode[], max: number, loop: readonly number[], done: Done): void {
    let next = 0;
    let running = 0;
    let isAdvancing = false;
    const advance = (): void => {
      if (isAdvancing) return;
      isAdvancing = true;
      while (next < children.length && running < max) {
        const child = children[next];
        next += 1;
        if (child === undefined) continue;
        running += 1;
        this.#enter(child, loop, () => {
          running -= 1;
          advance();
        });
      }
      isAdvancing = false;
      if (next === children.length && running === 0) {
        next += 1;
        done();
      }
    };
    advance();
  }

  /** Iterates, as a sequence does: a loop may have thousands of passes. */
  #enterLoop(node: LoopNode, loop: readonly number[], done: Done): void {
    const outer = this.loopPasses;
    let index = this.#options.firstPass(node, loop);
    const leave = (): void => {
      this.loopPasses = outer;
      done();
    };
    const advance = (): void => {
      for (;;) {
        let isOver = false;
        let isAsync = false;
        this.loopPasses = [...outer, { loop: node.number, pass: index }];
        this.#enter(node.body, [...loop, index], () => {
          isOver = true;
          if (isAsync && this.#endPass(node, loop, index, leave)) {
            index += 1;
            advance();
          }
        });
        if (!isOver) {
          isAsync = true;
          return;
        }
        if (!this.#endPass(node, loop, index, leave)) return;
        index += 1;
      }
    };
    advance();
  }

  /** Handles the end of a pass. Returns whether the next one starts immediately. */
  #endPass(node: LoopNode, loop: readonly number[], index: number, leave: Done): boolean {
    const { isPassStarted, isClosed, onClosed, onLimit, onNextPass, onStale } = this.#options;
    if (isPassStarted(node, loop, index + 1)) return true;
    if (isClosed(node, loop)) {
      leave();
      return false;
    }
    // `until` was evaluated before this pass ended, so evaluate it again.
    if (!this.#isFresh) {
      onStale();
      return false;
    }
    const isAtLimit = index + 1 >= node.maxIterations;
    if (!node.until && !isAtLimit) {
      onNextPass(node, loop, index + 1);
      return false;
    }
    if (!node.until) {
      onLimit(node, loop);
      if (node.onMaxReached === "fail") throw limitReached(node);
    }
    onClosed(node, loop);
    leave();
    return false;
  }

  #enterTask(props: TaskProps, loop: readonly number[], done: Done): void {
    if (isOver(props, this.#options.states.get(props.id, loop.join(".")))) {
      done();
      return;
    }
    const instance = instanceName(props.id, loop);
    this.#waiting.set(instance, [...(this.#waiting.get(instance) ?? []), done]);
    this.#startWhenUnblocked(props, loop);
  }

  #startWhenUnblocked(props: TaskProps, loop: readonly number[]): void {
    const { plan, states } = this.#options;
    const missing = dependenciesOf(props).find((id) => {
      const target = plan.tasks.get(id);
      return target === undefined || !isOver(target, dependencyState(states, id, loop));
    });
    if (missing === undefined) {
      this.#options.onReady({ props, loop });
      return;
    }
    this.#blocked.set(missing, [
      ...(this.#blocked.get(missing) ?? []),
      { id: props.id, start: () => this.#startWhenUnblocked(props, loop) },
    ]);
  }

  /** Describes the tasks that wait for a dependency. When no task is running, this is a deadlock. */
  blocked(): string[] {
    return [...this.#blocked].flatMap(([missing, tasks]) =>
      tasks.map(({ id }) => `"${id}" waits for "${missing}"`),
    );
  }
}

function limitReached({ name, maxIterations, isDefaultLimit }: LoopNode): ToolwrightError {
  if (!isDefaultLimit) return workflowError(name, `reached its limit of ${maxIterations} iterations.`);
  return workflowError(
    name,
    `reached the default limit of ${maxIterations} iterations, and "until" is still false.`,
    'Set maxIterations={n} to allow more, or onMaxReached="return-last" to continue with the last iteration.',
  );
}

/** For each task, the numbers of the loops around it, the outermost first. */
export function loopsAroundTasks(root: PlanNode): Map<string, readonly number[]> {
  const found = new Map<string, readonly number[]>();
  const visit = (node: PlanNode, around: readonly number[]): void => {
    if (node.kind === "task") found.set(node.props.id, around);
    else if (node.kind === "loop") visit(node.body, [...around, node.number]);
    else for (const child of node.children) visit(child, around);
  };
  visit(root, []);
  return found;
}

/** The latest pass of a loop in which a task of its body has started, 0 if there is none. */
export function latestPass(body: PlanNode, loop: readonly number[], states: TaskStates): number {
  if (body.kind !== "task") {
    const children = body.kind === "loop" ? [body.body] : body.children;
    return children.reduce((latest, child) => Math.max(latest, latestPass(child, loop, states)), 0);
  }
  let latest = 0;
  for (const { path } of states.ofNode(body.props.id)) {
    const passes = path.split(".").map(Number);
    if (loop.every((pass, depth) => pass === passes[depth]))
      latest = Math.max(latest, passes[loop.length] ?? 0);
  }
  return latest;
}

export function hasRows(node: PlanNode, loop: readonly number[], states: TaskStates): boolean {
  if (node.kind === "task") return states.get(node.props.id, loop.join(".")) !== undefined;
  const children = node.kind === "loop" ? [node.body] : node.children;
  const inner = node.kind === "loop" ? [...loop, 0] : loop;
  return children.some((child) => hasRows(child, inner, states));
}
