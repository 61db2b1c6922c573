/** Decides which tasks and calls of a run a fork keeps. Pure: it reads nothing. */
import type { PlanOutline } from "../invoke/events.ts";
import type { CallToCopy, CopiedScope } from "../store/tables/copy-run.ts";

export interface TaskToCopy {
  readonly nodeId: string;
  readonly path: string;
  readonly attempt: number;
  readonly status: string;
  readonly startedAtMs: number;
  readonly finishedAtMs: number | null;
}

/** What is known about the parent. Tasks are in the order in which they ended, scopes in the order of their creation. */
export interface ForkSource {
  readonly tasks: readonly TaskToCopy[];
  readonly scopes: readonly CopiedScope[];
  readonly calls: readonly CallToCopy[];
  /** The keys of the calls whose effects were reverted. */
  readonly reverted: ReadonlySet<string>;
}

/** The first task or call that runs in the fork. */
export type Cut =
  /** Nothing is kept. */
  | { readonly kind: "start" }
  /** Everything that has ended is kept. */
  | { readonly kind: "end" }
  | { readonly kind: "task"; readonly nodeId: string; readonly path: string | undefined }
  | { readonly kind: "call"; readonly call: CallToCopy };

export interface Kept {
  readonly tasks: readonly TaskToCopy[];
  readonly calls: readonly CallToCopy[];
  /** Whether all of a task is kept. */
  readonly isBefore: (root: CopiedScope) => boolean;
  /** The task in which the cut is: it resumes the attempt of the call. */
  readonly open: { readonly root: CopiedScope; readonly attempt: number } | undefined;
}

/** The scope at the top of a call's task. */
export function rootsOf({ scopes, calls }: ForkSource): (scopeId: number) => CopiedScope | undefined {
  const byId = new Map(scopes.map((scope) => [scope.id, scope]));
  const scopeOfKey = new Map(calls.map(({ key, scopeId }) => [key, scopeId]));
  return (scopeId) => {
    let scope = byId.get(scopeId);
    for (let depth = 0; scope !== undefined && scope.parentKey !== "" && depth < 1_000; depth += 1) {
      const outer = scopeOfKey.get(scope.parentKey);
      scope = outer === undefined ? undefined : byId.get(outer);
    }
    return scope;
  };
}

export function keepBefore(source: ForkSource, cut: Cut, isWorkflow: boolean): Kept {
  if (cut.kind === "start") return { tasks: [], calls: [], isBefore: () => false, open: undefined };
  const rootOf = rootsOf(source);
  const settled = source.calls.filter(isSettled);
  if (cut.kind === "end") return keepAll(source, settled, isWorkflow);
  const place = cut.kind === "task" ? cut : placeOf(rootOf(cut.call.scopeId));
  const open =
    cut.kind === "call" ? { root: rootOf(cut.call.scopeId), attempt: cut.call.attempt } : undefined;
  const tasks = isWorkflow ? tasksBefore(source.tasks, place) : [];
  const isBefore = isWorkflow ? scopesOf(tasks) : scopesBefore(source, place);
  const around = cut.kind === "call" ? enclosingKeys(source, cut.call) : new Set<string>();
  const calls = settled.filter((call) => {
    const root = rootOf(call.scopeId);
    if (root === undefined) return false;
    if (cut.kind !== "call" || root !== open?.root) return isBefore(root);
    const isEarlier =
      call.attempt < cut.call.attempt || (call.attempt === cut.call.attempt && call.seq < cut.call.seq);
    return isEarlier && !around.has(call.key);
  });
  return {
    tasks,
    calls,
    isBefore,
    open: open?.root === undefined ? undefined : { root: open.root, attempt: open.attempt },
  };
}

/** Keeps everything except reverted effects and what came after them: those results no longer match the outside world. */
function keepAll(source: ForkSource, settled: readonly CallToCopy[], isWorkflow: boolean): Kept {
  const { tasks, reverted } = source;
  const isTrue = ({ key }: CallToCopy): boolean => !reverted.has(key);
  if (!isWorkflow || reverted.size === 0)
    return {
      tasks: tasks.filter(isCopied),
      calls: settled.filter(isTrue),
      isBefore: () => true,
      open: undefined,
    };
  const wasReverted = isRevertedIn(source);
  const first = tasks.find(wasReverted);
  const kept = (first === undefined ? tasks.filter(isCopied) : tasksBefore(tasks, first)).filter(
    (task) => !wasReverted(task),
  );
  const isBefore = scopesOf(kept);
  const rootOf = rootsOf(source);
  const calls = settled.filter((call) => {
    const root = rootOf(call.scopeId);
    return isTrue(call) && root !== undefined && isBefore(root);
  });
  return { tasks: kept, calls, isBefore, open: undefined };
}

/** Whether an effect of a task was reverted. */
export function isRevertedIn(source: ForkSource): (task: TaskToCopy) => boolean {
  const rootOf = rootsOf(source);
  const roots = source.calls
    .filter(({ key }) => source.reverted.has(key))
    .flatMap(({ scopeId }) => rootOf(scopeId) ?? []);
  return ({ nodeId, path }) =>
    roots.some((root) => root.nodeId === nodeId && isSamePath(path, root.path.split("#")[0] ?? ""));
}

/** A call that waits, or that has just begun, is compared with the parent's when the fork makes it. */
function isSettled({ status }: CallToCopy): boolean {
  return status !== "started" && status !== "pending";
}

function isCopied({ status }: TaskToCopy): boolean {
  return status !== "waiting";
}

function placeOf(root: CopiedScope | undefined): {
  readonly nodeId: string;
  readonly path: string | undefined;
} {
  return { nodeId: root?.nodeId ?? "", path: root?.path };
}

/** The scope of a task outside any loop has the path of a first pass. */
function isSamePath(taskPath: string, scopePath: string): boolean {
  return taskPath === scopePath || (taskPath === "" && scopePath === "0");
}

/** A task with `continueOnFail` fails for good. Another one that failed is retried, as after a resume. */
const ENDED: ReadonlySet<string> = new Set(["finished", "skipped", "failed"]);

/**
 * A task stays if it ended before the first task of the cut did, or began before that one had ended: then it cannot depend
 * on it.
 */
function tasksBefore(
  tasks: readonly TaskToCopy[],
  cut: { readonly nodeId: string; readonly path: string | undefined },
): TaskToCopy[] {
  const isCut = ({ nodeId, path }: TaskToCopy): boolean =>
    nodeId === cut.nodeId && (cut.path === undefined || isSamePath(path, cut.path));
  const first = tasks.findIndex(isCut);
  const isKept = (task: TaskToCopy, index: number): boolean => {
    if (!ENDED.has(task.status)) return false;
    const at = tasks[first];
    if (at === undefined) return true;
    // Later passes of the same loop come after it.
    if (task.nodeId === at.nodeId) return index < first;
    return index < first || (at.finishedAtMs !== null && task.startedAtMs < at.finishedAtMs);
  };
  return tasks.filter(isKept);
}

function scopesOf(tasks: readonly TaskToCopy[]): (root: CopiedScope) => boolean {
  const names = new Set(tasks.map(({ nodeId, path }) => `${path === "" ? "0" : path} ${nodeId}`));
  return ({ nodeId, path }) => names.has(`${path.split("#")[0] ?? ""} ${nodeId}`);
}

/** Tasks of a program and turns of an agent come one after the other. */
function scopesBefore(
  { scopes }: ForkSource,
  cut: { readonly nodeId: string; readonly path: string | undefined },
): (root: CopiedScope) => boolean {
  const first = scopes.find(
    ({ nodeId, path, parentKey }) =>
      parentKey === "" && nodeId === cut.nodeId && (cut.path === undefined || path === cut.path),
  );
  return ({ id }) => first !== undefined && id < first.id;
}

/** The calls around the cut are entered again. */
export function enclosingKeys({ scopes, calls }: ForkSource, cut: CallToCopy): Set<string> {
  const byId = new Map(scopes.map((scope) => [scope.id, scope]));
  const scopeOfKey = new Map(calls.map(({ key, scopeId }) => [key, scopeId]));
  const keys = new Set<string>();
  for (
    let scope = byId.get(cut.scopeId);
    scope !== undefined && scope.parentKey !== "" && !keys.has(scope.parentKey);
  ) {
    keys.add(scope.parentKey);
    const outer = scopeOfKey.get(scope.parentKey);
    scope = outer === undefined ? undefined : byId.get(outer);
  }
  return keys;
}

/** The loops of a tree by their number, which counts inner loops first. */
function loopsOf(outline: readonly PlanOutline[]): ReadonlySet<string>[] {
  const loops: ReadonlySet<string>[] = [];
  const visit = (node: PlanOutline): string[] => {
    if (node.kind === "task") return [node.id];
    const ids = node.children.flatMap(visit);
    if (node.kind === "loop") loops.push(new Set(ids));
    return ids;
  };
  outline.forEach(visit);
  return loops;
}

/** A loop that had ended stays ended if the fork keeps all of its tasks. @param ended names as `<path> <number>` */
export function keptLoops(
  ended: ReadonlySet<string>,
  outline: readonly PlanOutline[],
  tasks: readonly TaskToCopy[],
  kept: readonly TaskToCopy[],
): string[] {
  const loops = loopsOf(outline);
  const dropped = tasks.filter((task) => !kept.includes(task));
  return [...ended].filter((place) => {
    const [path = "", number = ""] = place.split(" ");
    const ids = loops[Number(number) - 1];
    if (ids === undefined) return false;
    const prefix = path === "" ? "" : `${path}.`;
    return !dropped.some((task) => ids.has(task.nodeId) && task.path.startsWith(prefix));
  });
}
