/**
 * Goes through a plan: starts what may start, and is told what ended. The cost of a step does not grow with the plan: a
 * sequence remembers its place, a group counts.
 */
import type { TaskProps } from "./components.ts";
import { dependenciesOf, type Plan, type PlanNode } from "./plan.ts";
import type { TaskStates } from "./task-state.ts";
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
  /** A loop goes on: its next pass is to be rendered with its number. */
  readonly onTurn: (node: LoopNode, loop: readonly number[], index: number) => void;
  /** The tree has to be rendered anew before it can be said how it goes on. */
  readonly onStale: () => void;
}

type Done = () => void;
export type LoopNode = Extract<PlanNode, { kind: "loop" }>;

export class PlanWalk {
  readonly #options: WalkOptions;
  readonly #waiting = new Map<string, Done[]>();
  readonly #after = new Map<string, (() => void)[]>();
  /** Nothing has ended since the tree was rendered. */
  #isFresh = true;
  isDone = false;

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
    for (const start of after) start();
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
        this.#enterLoop(node, loop, 0, done);
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

  #enterLoop(
    node: Extract<PlanNode, { kind: "loop" }>,
    loop: readonly number[],
    index: number,
    done: Done,
  ): void {
    this.#enter(node.body, [...loop, index], () => {
      if (this.#options.isDecided(node, loop, index + 1)) {
        this.#enterLoop(node, loop, index + 1, done);
        return;
      }
      // What `until` says was asked before this pass ended: it has to be asked again.
      if (!this.#isFresh) {
        this.#options.onStale();
        return;
      }
      if (node.until) {
        done();
        return;
      }
      if (index + 1 >= node.maxIterations) {
        if (node.onMaxReached === "fail") {
          throw workflowError(node.name, `came to its limit of ${node.maxIterations} iterations.`);
        }
        done();
        return;
      }
      this.#options.onTurn(node, loop, index + 1);
    });
  }

  #enterTask(props: TaskProps, loop: readonly number[], done: Done): void {
    const { states } = this.#options;
    if (states.isDone(props.id, loop.join("."))) {
      done();
      return;
    }
    const place = placeOf(props.id, loop);
    this.#waiting.set(place, [...(this.#waiting.get(place) ?? []), done]);
    this.#startWhenFree(props, loop);
  }

  #startWhenFree(props: TaskProps, loop: readonly number[]): void {
    const missing = dependenciesOf(props).find((id) => !isDoneAnywhere(this.#options.states, id, loop));
    if (missing === undefined) {
      this.#options.onReady({ props, loop });
      return;
    }
    this.#after.set(missing, [...(this.#after.get(missing) ?? []), () => this.#startWhenFree(props, loop)]);
  }
}

/** A dependency is met by the same pass of the loop, or by a task outside of it. */
export function dependencyState(states: TaskStates, id: string, loop: readonly number[]) {
  for (let depth = loop.length; depth >= 0; depth -= 1) {
    const state = states.get(id, loop.slice(0, depth).join("."));
    if (state !== undefined) return state;
  }
  return undefined;
}

function isDoneAnywhere(states: TaskStates, id: string, loop: readonly number[]): boolean {
  const status = dependencyState(states, id, loop)?.status;
  return status === "finished" || status === "skipped";
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
