/**
 * Goes through a plan: starts what may start, and is told what ended. The cost of a step does not grow with the plan: a
 * sequence remembers its place, a group counts.
 */
import type { ToolwrightError } from "../errors.ts";
import type { TaskProps } from "./components.ts";
import { dependenciesOf, type Plan, type PlanNode } from "./plan.ts";
import type { TaskState, TaskStates } from "./task-state.ts";
import { workflowError } from "./workflow-error.ts";

export interface TaskInstance {
  readonly props: TaskProps;
  readonly loop: readonly number[];
}

interface WalkOptions {
  readonly plan: Plan;
  readonly states: TaskStates;
  /** Called for each task that may run now. */
  readonly onReady: (task: TaskInstance) => void;
  /** Whether a pass of a loop has begun, or is known to begin. */
  readonly isDecided: (node: LoopNode, loop: readonly number[], index: number) => boolean;
  /** A loop that has ended stays ended, whatever `until` reads later. */
  readonly isClosed: (node: LoopNode, loop: readonly number[]) => boolean;
  readonly onClosed: (node: LoopNode, loop: readonly number[]) => void;
  /** A loop has reached `maxIterations` before its condition was met. */
  readonly onLimit: (node: LoopNode) => void;
  /** A loop goes on: its next pass is to be rendered with its number. */
  readonly onTurn: (node: LoopNode, loop: readonly number[], index: number) => void;
  /** The tree has to be rendered anew before it can be said how it goes on. */
  readonly onStale: () => void;
}

/** A loop and the pass of it that is at work. */
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
  readonly #after = new Map<string, { readonly id: string; readonly start: () => void }[]>();
  /** Nothing has ended since the tree was rendered. */
  #isFresh = true;
  isDone = false;
  /** The loops that are at work, the outermost first; empty outside any. */
  at: readonly LoopPass[] = [];

  constructor(options: WalkOptions) {
    this.#options = options;
  }

  start(): void {
    this.#enter(this.#options.plan.root, [], () => {
      this.isDone = true;
    });
  }

  /** A task has ended, and counts as done for what follows it. */
  taskDone(nodeId: string, loop: readonly number[]): void {
    this.#isFresh = false;
    const place = placeOf(nodeId, loop);
    const done = this.#waiting.get(place) ?? [];
    this.#waiting.delete(place);
    for (const next of done) next();
    const after = this.#after.get(nodeId) ?? [];
    this.#after.delete(nodeId);
    for (const { start } of after) start();
  }

  #enter(node: PlanNode, loop: readonly number[], done: Done): void {
    switch (node.kind) {
      case "sequence":
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

  /** In a loop and not by recursion: ten thousand finished tasks must not need a stack ten thousand deep. */
  #enterSequence(children: readonly PlanNode[], loop: readonly number[], done: Done): void {
    let index = 0;
    let isGoing = false;
    const go = (): void => {
      if (isGoing) return;
      isGoing = true;
      while (index < children.length) {
        const child = children[index];
        let isOver = false;
        let isLater = false;
        if (child !== undefined) {
          this.#enter(child, loop, () => {
            isOver = true;
            if (!isLater) return;
            index += 1;
            go();
          });
        }
        if (!isOver) {
          isLater = true;
          isGoing = false;
          return;
        }
        index += 1;
      }
      done();
    };
    go();
  }

  #enterParallel(children: readonly PlanNode[], max: number, loop: readonly number[], done: Done): void {
    let next = 0;
    let running = 0;
    let isGoing = false;
    const go = (): void => {
      if (isGoing) return;
      isGoing = true;
      while (next < children.length && running < max) {
        const child = children[next];
        next += 1;
        if (child === undefined) continue;
        running += 1;
        this.#enter(child, loop, () => {
          running -= 1;
          go();
        });
      }
      isGoing = false;
      if (next === children.length && running === 0) {
        next += 1;
        done();
      }
    };
    go();
  }

  /** In a loop and not by recursion, as a sequence: there may be thousands of passes on record. */
  #enterLoop(node: LoopNode, loop: readonly number[], done: Done): void {
    const outer = this.at;
    let index = 0;
    const leave = (): void => {
      this.at = outer;
      done();
    };
    const go = (): void => {
      for (;;) {
        let isOver = false;
        let isLater = false;
        this.at = [...outer, { loop: node.number, pass: index }];
        this.#enter(node.body, [...loop, index], () => {
          isOver = true;
          if (isLater && this.#turn(node, loop, index, leave)) {
            index += 1;
            go();
          }
        });
        if (!isOver) {
          isLater = true;
          return;
        }
        if (!this.#turn(node, loop, index, leave)) return;
        index += 1;
      }
    };
    go();
  }

  /** A pass has ended: whether the next one is to be entered now. */
  #turn(node: LoopNode, loop: readonly number[], index: number, leave: Done): boolean {
    const { isDecided, isClosed, onClosed, onLimit, onTurn, onStale } = this.#options;
    if (isDecided(node, loop, index + 1)) return true;
    if (isClosed(node, loop)) {
      leave();
      return false;
    }
    // What `until` says was asked before this pass ended: it has to be asked again.
    if (!this.#isFresh) {
      onStale();
      return false;
    }
    const isAtLimit = index + 1 >= node.maxIterations;
    if (!node.until && !isAtLimit) {
      onTurn(node, loop, index + 1);
      return false;
    }
    if (!node.until) {
      onLimit(node);
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
    const place = placeOf(props.id, loop);
    this.#waiting.set(place, [...(this.#waiting.get(place) ?? []), done]);
    this.#startWhenFree(props, loop);
  }

  #startWhenFree(props: TaskProps, loop: readonly number[]): void {
    const { plan, states } = this.#options;
    const missing = dependenciesOf(props).find((id) => {
      const target = plan.tasks.get(id);
      return target === undefined || !isOver(target, dependencyState(states, id, loop));
    });
    if (missing === undefined) {
      this.#options.onReady({ props, loop });
      return;
    }
    this.#after.set(missing, [
      ...(this.#after.get(missing) ?? []),
      { id: props.id, start: () => this.#startWhenFree(props, loop) },
    ]);
  }

  /** Tasks that wait for others, with what they wait for: where nothing runs any more, they wait for ever. */
  blocked(): string[] {
    return [...this.#after].flatMap(([missing, tasks]) =>
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

/** Done for what follows: finished, skipped, or failed for good where the run goes on without it. */
function isOver(props: TaskProps, state: TaskState | undefined): boolean {
  if (state === undefined) return false;
  if (state.status === "failed") return props.continueOnFail === true && state.attempt >= attemptsOf(props);
  return state.status === "finished" || state.status === "skipped";
}

const DEFAULT_RETRIES = 2;

export function attemptsOf(props: TaskProps): number {
  return 1 + (props.retries ?? DEFAULT_RETRIES);
}

/** A dependency is met by the same pass of the loop, or by a task outside of it. */
export function dependencyState(states: TaskStates, id: string, loop: readonly number[]) {
  for (let depth = loop.length; depth >= 0; depth -= 1) {
    const state = states.get(id, loop.slice(0, depth).join("."));
    if (state !== undefined) return state;
  }
  // A task of a loop, seen from outside of it: its last pass.
  return states.ofNode(id).at(-1);
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

export function hasRows(node: PlanNode, loop: readonly number[], states: TaskStates): boolean {
  if (node.kind === "task") return states.get(node.props.id, loop.join(".")) !== undefined;
  const children = node.kind === "loop" ? [node.body] : node.children;
  const inner = node.kind === "loop" ? [...loop, 0] : loop;
  return children.some((child) => hasRows(child, inner, states));
}

function placeOf(nodeId: string, loop: readonly number[]): string {
  return `${loop.join(".")} ${nodeId}`;
}
