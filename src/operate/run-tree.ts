/** The tree of a run: the groups and tasks of a workflow, including those that have not started; the tasks or turns of any other run. */
import type { PlanOutline } from "../invoke/events.ts";
import type { Store } from "../store/store.ts";
import { readRootScopes, type RootScope } from "../store/tables/run-pages.ts";
import { readOutline } from "../store/tables/runs.ts";
import { readTaskHeads, type TaskHead } from "../store/tables/tasks.ts";
import { errorOf } from "./described-error.ts";
import { livenessIn } from "./run-owner.ts";
import type { NodeStatus, RunNode, RunSummary } from "../runtime/runs.ts";

/** A loop may have had thousands of passes: the latest are shown. */
const MOST_PASSES = 50;
const MOST_SCOPES = 500;

export async function readRunTree(
  store: Store,
  run: Pick<RunSummary, "runId" | "kind" | "status" | "interrupted">,
): Promise<RunNode[]> {
  if (run.kind !== "workflow") return scopeNodes(store, run);
  const { tasks, outline, scopes } = await store.read(function* () {
    return {
      tasks: yield* readTaskHeads(run.runId),
      outline: yield* readOutline(run.runId),
      scopes: yield* readRootScopes(run.runId, MOST_SCOPES),
    };
  });
  const nodes = outline === undefined ? [] : (JSON.parse(outline) as readonly PlanOutline[]);
  const inLoops = new Set(nodes.flatMap(tasksInLoops));
  return new TreeBuilder(run, [...tasks, ...tasksAtWork(tasks, scopes, inLoops)]).build(nodes);
}

/** `null`: it has started, and has made no call yet. */
type TaskAtWork = Omit<TaskHead, "startedAtMs"> & { readonly startedAtMs: number | null };

/** A task that runs a function is stored when it ends. Until then, its open scope shows that it has started. */
function tasksAtWork(
  tasks: readonly TaskHead[],
  scopes: readonly RootScope[],
  inLoops: ReadonlySet<string>,
): TaskAtWork[] {
  const stored = new Set(tasks.map(({ nodeId, path }) => `${path === "" ? "0" : path} ${nodeId}`));
  return scopes
    .filter(({ nodeId, path, ownerId }) => ownerId !== null && !stored.has(`${path} ${nodeId}`))
    .map(({ nodeId, path, iteration, attempt, startedAtMs }) => ({
      nodeId,
      // A scope outside any loop has the path of a first pass.
      path: inLoops.has(nodeId) ? path : "",
      iteration,
      attempt,
      status: "running",
      errorJson: null,
      startedAtMs,
      finishedAtMs: null,
    }));
}

class TreeBuilder {
  readonly #run: Pick<RunSummary, "status" | "interrupted">;
  readonly #rows = new Map<string, TaskAtWork>();
  readonly #shown = new Set<string>();
  readonly #groups = new Map<string, number>();
  readonly #named = new Set<string>();

  constructor(run: Pick<RunSummary, "status" | "interrupted">, tasks: readonly TaskAtWork[]) {
    this.#run = run;
    for (const task of tasks) this.#rows.set(`${task.path} ${task.nodeId}`, task);
  }

  build(outline: readonly PlanOutline[]): RunNode[] {
    const nodes = outline.flatMap((node) => this.#node(node, [], true));
    // Tasks that the latest tree no longer has, or of a run whose tree was not stored.
    const others = [...this.#rows].filter(([name]) => !this.#shown.has(name));
    return [...nodes, ...others.map(([, task]) => this.#task(task))];
  }

  /** @param isLatest whether tasks without a row are still to come */
  #node(node: PlanOutline, passes: readonly number[], isLatest: boolean): RunNode[] {
    const path = passes.join(".");
    if (node.kind === "task") {
      const row = this.#rows.get(`${path} ${node.id}`);
      if (row !== undefined) {
        this.#shown.add(`${path} ${node.id}`);
        return [this.#task(row)];
      }
      return isLatest ? [pendingTask(node.id, passes)] : [];
    }
    const nodeId = this.#groupId(node, path);
    if (node.kind !== "loop") {
      const children = node.children.flatMap((child) => this.#node(child, passes, isLatest));
      return children.length === 0 ? [] : [this.#group(nodeId, node.kind, passes, children)];
    }
    const found = this.#passesOf(node, passes);
    const last = found.at(-1) ?? 0;
    const children = (found.length === 0 ? [0] : found).flatMap((pass) =>
      node.children.flatMap((child) => this.#node(child, [...passes, pass], isLatest && pass === last)),
    );
    return [this.#group(nodeId, "loop", passes, children)];
  }

  /** The author's id, unless two loops have the same. */
  #groupId({ kind, id }: Exclude<PlanOutline, { kind: "task" }>, path: string): string {
    const location = `${path} ${id}`;
    if (id !== undefined && !this.#named.has(location)) {
      this.#named.add(location);
      return id;
    }
    const number = (this.#groups.get(kind) ?? 0) + 1;
    this.#groups.set(kind, number);
    return `${kind}-${number}`;
  }

  /** The passes of a loop that have rows, oldest first. */
  #passesOf(loop: PlanOutline, passes: readonly number[]): number[] {
    const ids = new Set(taskIds(loop));
    const prefix = passes.length === 0 ? "" : `${passes.join(".")}.`;
    const found = new Set<number>();
    for (const { nodeId, path } of this.#rows.values()) {
      if (!ids.has(nodeId) || !path.startsWith(prefix)) continue;
      const pass = Number(path.slice(prefix.length).split(".")[0]);
      if (path.length > prefix.length && Number.isInteger(pass)) found.add(pass);
    }
    return [...found].sort((one, other) => one - other).slice(-MOST_PASSES);
  }

  #task(task: TaskAtWork): RunNode {
    const isInterrupted = task.status === "running" && this.#run.interrupted;
    return {
      nodeId: task.nodeId,
      kind: "task",
      status: isInterrupted ? "interrupted" : task.status,
      attempt: task.attempt,
      iteration: task.iteration,
      path: task.path,
      startedAtMs: task.startedAtMs,
      finishedAtMs: task.finishedAtMs,
      error: errorOf(task.errorJson),
      children: [],
    };
  }

  #group(
    nodeId: string,
    kind: "sequence" | "parallel" | "loop",
    passes: readonly number[],
    children: readonly RunNode[],
  ): RunNode {
    const started = children.flatMap(({ startedAtMs }) => startedAtMs ?? []);
    const finished = children.flatMap(({ finishedAtMs }) => finishedAtMs ?? []);
    const status = this.#statusOf(children.map((child) => child.status));
    const isDone = status === "finished" || status === "failed" || status === "skipped";
    return {
      nodeId,
      kind,
      status,
      attempt: null,
      iteration: passes.at(-1) ?? 0,
      path: passes.join("."),
      startedAtMs: started.length === 0 ? null : Math.min(...started),
      finishedAtMs: isDone && finished.length > 0 ? Math.max(...finished) : null,
      error: null,
      children,
    };
  }

  #statusOf(statuses: readonly NodeStatus[]): NodeStatus {
    for (const status of ["interrupted", "running", "failed", "waiting"] as const)
      if (statuses.includes(status)) return status;
    const open = statuses.filter((status) => status === "pending").length;
    if (open === 0) return statuses.every((status) => status === "skipped") ? "skipped" : "finished";
    if (open === statuses.length) return "pending";
    return this.#run.status === "running" && !this.#run.interrupted ? "running" : "pending";
  }
}

function tasksInLoops(node: PlanOutline): string[] {
  if (node.kind === "task") return [];
  return node.kind === "loop" ? taskIds(node) : node.children.flatMap(tasksInLoops);
}

function taskIds(node: PlanOutline): string[] {
  return node.kind === "task" ? [node.id] : node.children.flatMap(taskIds);
}

function pendingTask(nodeId: string, passes: readonly number[]): RunNode {
  return {
    nodeId,
    kind: "task",
    status: "pending",
    attempt: null,
    iteration: passes.at(-1) ?? 0,
    path: passes.join("."),
    startedAtMs: null,
    finishedAtMs: null,
    error: null,
    children: [],
  };
}

async function scopeNodes(
  store: Store,
  run: Pick<RunSummary, "runId" | "kind" | "status">,
): Promise<RunNode[]> {
  const isAlive = livenessIn(store);
  const scopes = await store.read(() => readRootScopes(run.runId, MOST_SCOPES));
  const nodes: RunNode[] = [];
  for (const [index, scope] of scopes.entries()) {
    const status = await statusOfScope(scope, isAlive);
    // The run failed in the scope that was open last.
    const hasFailed = status === "finished" && run.status === "failed" && index === scopes.length - 1;
    const isOver = status === "finished";
    nodes.push({
      nodeId: scope.nodeId,
      kind: run.kind === "agent" ? "turn" : "task",
      status: hasFailed ? "failed" : status,
      attempt: scope.attempt,
      iteration: scope.iteration,
      path: scope.path,
      startedAtMs: scope.startedAtMs,
      finishedAtMs: isOver ? scope.lastMs : null,
      error: null,
      children: [],
    });
  }
  return nodes;
}

async function statusOfScope(
  { ownerId, callOwnerId, pending }: RootScope,
  isAlive: (ownerId: string) => Promise<boolean>,
): Promise<NodeStatus> {
  const owner = ownerId ?? callOwnerId;
  if (owner !== null) return (await isAlive(owner)) ? "running" : "interrupted";
  return pending > 0 ? "waiting" : "finished";
}
