/** Finds the saga that a failed task or loop is in. Pure. */
import type { PlanNode } from "./plan.ts";
import type { TaskState } from "./task-state.ts";

/** The tasks of a saga, in one pass of the loops around it. */
export interface SagaPlace {
  readonly tasks: readonly string[];
  /** The passes of the loops around the saga. */
  readonly passes: readonly number[];
}

/** The outermost one: a failure that leaves an inner saga is a failure inside the outer one. */
export function sagaAround(
  root: PlanNode | undefined,
  failed: Pick<TaskState, "nodeId" | "path">,
): SagaPlace | undefined {
  const passes = failed.path === "" ? [] : failed.path.split(".").map(Number);
  return placeAround(root, passes, (node) => node.kind === "task" && node.props.id === failed.nodeId);
}

/** The same for a loop that reached its limit. @param passes of the loops around it */
export function sagaAroundLoop(
  root: PlanNode | undefined,
  loop: PlanNode,
  passes: readonly number[],
): SagaPlace | undefined {
  return placeAround(root, passes, (node) => node === loop);
}

function placeAround(
  root: PlanNode | undefined,
  passes: readonly number[],
  isFailed: (node: PlanNode) => boolean,
): SagaPlace | undefined {
  const found = root === undefined ? undefined : findSaga(root, isFailed, 0);
  return found && { tasks: tasksIn(found.saga), passes: passes.slice(0, found.loops) };
}

function findSaga(
  node: PlanNode,
  isFailed: (node: PlanNode) => boolean,
  loops: number,
): { readonly saga: PlanNode; readonly loops: number } | undefined {
  if (node.kind === "saga") return holds(node, isFailed) ? { saga: node, loops } : undefined;
  const inner = node.kind === "loop" ? loops + 1 : loops;
  for (const child of childrenOf(node)) {
    const found = findSaga(child, isFailed, inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

function holds(node: PlanNode, isFailed: (node: PlanNode) => boolean): boolean {
  return isFailed(node) || childrenOf(node).some((child) => holds(child, isFailed));
}

function childrenOf(node: PlanNode): readonly PlanNode[] {
  if (node.kind === "task") return [];
  return node.kind === "loop" ? [node.body] : node.children;
}

function tasksIn(node: PlanNode): string[] {
  return node.kind === "task" ? [node.props.id] : childrenOf(node).flatMap(tasksIn);
}

/** Whether a call of this task and path belongs to the saga. */
export function isInSaga(
  { tasks, passes }: SagaPlace,
  { nodeId, path }: { readonly nodeId: string; readonly path: string },
): boolean {
  // A turn of a chat inside the task adds its number to the path.
  const around = (path.split("#")[0] ?? "").split(".").map(Number);
  return tasks.includes(nodeId) && passes.every((pass, depth) => around[depth] === pass);
}
