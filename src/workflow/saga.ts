/** Finds the sagas of a tree, and what belongs to a saga that failed. Pure. */
import type { PlanNode } from "./plan.ts";

/** The tasks of a saga, in one pass of the loops around it. */
export interface SagaLocation {
  readonly tasks: readonly string[];
  /** The passes of the loops around the saga. */
  readonly passes: readonly number[];
}

/** One that is in no other saga: a failure that leaves an inner saga is a failure inside the outer one. */
export interface OutermostSaga {
  readonly node: Extract<PlanNode, { kind: "saga" }>;
  /** How many loops are around it. */
  readonly loops: number;
}

export function sagasIn(node: PlanNode, loops = 0): OutermostSaga[] {
  if (node.kind === "saga") return [{ node, loops }];
  const inner = node.kind === "loop" ? loops + 1 : loops;
  return childrenOf(node).flatMap((child) => sagasIn(child, inner));
}

export function holds(node: PlanNode, wanted: PlanNode): boolean {
  return node === wanted || childrenOf(node).some((child) => holds(child, wanted));
}

function childrenOf(node: PlanNode): readonly PlanNode[] {
  if (node.kind === "task") return [];
  return node.kind === "loop" ? [node.body] : node.children;
}

export function tasksIn(node: PlanNode): string[] {
  return node.kind === "task" ? [node.props.id] : childrenOf(node).flatMap(tasksIn);
}

/** Whether a call of this task and path belongs to the saga. */
export function isInSaga(
  { tasks, passes }: SagaLocation,
  { nodeId, path }: { readonly nodeId: string; readonly path: string },
): boolean {
  // A turn of a chat inside the task adds its number to the path.
  const around = (path.split("#")[0] ?? "").split(".").map(Number);
  return tasks.includes(nodeId) && passes.every((pass, depth) => around[depth] === pass);
}
