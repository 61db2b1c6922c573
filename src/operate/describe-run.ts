/** A run of any kind as data for programs and people. */
import { ToolwrightError } from "../errors.ts";
import type { Store, Transaction } from "../store/store.ts";
import { readCallMarks } from "../store/tables/call-pages.ts";
import { CALL_STATUSES, type CallStatus } from "../store/tables/calls.ts";
import { readFork } from "../store/tables/forks.ts";
import { readRevertedAt } from "../store/tables/reverts.ts";
import { readForks, readRunRow, type RunRow } from "../store/tables/runs.ts";
import { assertNotDeleted } from "../store/tables/tombstones.ts";
import { errorOf } from "./described-error.ts";
import { reportInterrupted } from "../store/tables/report-interrupted.ts";
import { isOver } from "./run-status.ts";
import { listWaits } from "./run-waits.ts";
import { livenessIn } from "./run-owner.ts";
import { readRunTree } from "./run-tree.ts";
import { summarizeRuns } from "./summarize-runs.ts";
import type { NodeStatus, RunDescription, RunLineage, RunNode, RunSummary } from "../runtime/runs.ts";

const MOST_FORKS = 100;

/** @throws TOOL_RUN_NOT_FOUND, TOOL_RUN_DELETED */
export async function describeRun(store: Store, runId: string): Promise<RunDescription> {
  const { row, summary } = await requireRun(store, runId);
  const tree = await readRunTree(store, summary);
  return {
    ...summary,
    error: row.state === summary.status ? errorOf(row.errorJson) : null,
    waits: isOver(summary.status) ? [] : await listWaits(store, runId),
    tree,
    counts: { tasks: countNodes(tree), calls: await countCalls(store, runId) },
    lineage: await store.read(() => readLineage(row)),
    revertedAtMs: await store.read(() => readRevertedAt(runId)),
  };
}

function* readLineage({ runId, parentId }: RunRow): Transaction<RunLineage> {
  const fork = parentId === null ? undefined : yield* readFork(runId);
  return {
    parent: parentId,
    fork: fork === undefined ? null : { at: fork.cut, effects: fork.effects, madeAtMs: fork.madeAtMs },
    forks: yield* readForks(runId, MOST_FORKS),
  };
}

export interface KnownRun {
  readonly row: RunRow;
  readonly summary: RunSummary;
}

/** @throws TOOL_RUN_NOT_FOUND, TOOL_RUN_DELETED */
export async function requireRun(store: Store, runId: string): Promise<KnownRun> {
  const row = await store.read(() => readRunRow(runId));
  const [summary] = row === undefined ? [] : await summarizeRuns(store, [row]);
  if (row !== undefined && summary !== undefined) return { row, summary };
  await store.read(() => assertNotDeleted(runId));
  throw new ToolwrightError("TOOL_RUN_NOT_FOUND", `There is no run "${runId}" in this store.`, {
    details: { runId },
  });
}

const NO_NODES: Readonly<Record<NodeStatus, number>> = {
  pending: 0,
  running: 0,
  interrupted: 0,
  waiting: 0,
  finished: 0,
  failed: 0,
  skipped: 0,
};

function countNodes(nodes: readonly RunNode[], counts = { ...NO_NODES }): Record<NodeStatus, number> {
  for (const node of nodes) {
    if (node.kind === "task" || node.kind === "turn") counts[node.status] += 1;
    countNodes(node.children, counts);
  }
  return counts;
}

/** Calls whose owner is dead count as `unknown`. */
async function countCalls(store: Store, runId: string): Promise<Record<CallStatus, number>> {
  const read = () => store.read(() => readCallMarks(runId));
  const { found, reported } = await reportInterrupted(read, (calls) => calls, livenessIn(store));
  const counts = Object.fromEntries(CALL_STATUSES.map((status) => [status, 0])) as Record<CallStatus, number>;
  for (const call of found) counts[reported(call).status] += 1;
  return counts;
}
