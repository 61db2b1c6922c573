/** Finds the saga that a failed task is in. Pure. */
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
  const found = root === undefined ? undefined : findSaga(root, failed.nodeId, 0);
  if (found === undefined) return undefined;
  const passes = failed.path === "" ? [] : failed.path.split(".").map(Number);
  return { tasks: found.tasks, passes: passes.slice(0, found.loops) };
}

function findSaga(
  node: PlanNode,
  taskId: string,
  loops: number,
): { readonly tasks: readonly string[]; readonly loops: number } | undefined {
  if (node.kind === "task") return undefined;
  if (node.kind === "saga") {
    const tasks = tasksIn(node);
    return tasks.includes(taskId) ? { tasks, loops } : undefined;
  }
  if (node.kind === "loop") return findSaga(node.body, taskId, loops + 1);
  for (const child of node.children) {
    const found = findSaga(child, taskId, loops);
    if (found !== undefined) return found;
  }
  return undefined;
}

function tasksIn(node: PlanNode): string[] {
  if (node.kind === "task") return [node.props.id];
  return (node.kind === "loop" ? [node.body] : node.children).flatMap(tasksIn);
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
