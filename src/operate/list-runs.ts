/** Lists the runs of a store, newest first, by the status that operators see. */
import type { Store } from "../store/store.ts";
import {
  countRuns as selectCounts,
  listRuns as selectRuns,
  type RunOverview,
} from "../store/tables/workflow-queries.ts";
import type { RunStatus } from "../store/tables/workflow-runs.ts";
import { describeRun, type DescribedRun } from "./describe-run.ts";
import { type ShownStatus, shownStatus } from "./run-status.ts";

export interface ListedRun extends DescribedRun, Omit<RunOverview, "run"> {}

const PAGE = 100;

export async function listRuns(
  store: Store,
  status: ShownStatus | undefined,
  limit: number,
): Promise<ListedRun[]> {
  if (status !== "running" && status !== "interrupted") return readPage(store, status, limit, 0);
  // Both are stored as running. Only the liveness of each owner tells them apart, so filter page by page.
  const runs: ListedRun[] = [];
  for (let offset = 0; runs.length < limit; offset += PAGE) {
    const page = await readPage(store, "running", PAGE, offset);
    runs.push(...page.filter((run) => shownStatus(run) === status));
    if (page.length < PAGE) break;
  }
  return runs.slice(0, limit);
}

async function readPage(
  store: Store,
  status: RunStatus | undefined,
  limit: number,
  offset: number,
): Promise<ListedRun[]> {
  const found = await store.read(() => selectRuns({ status, limit, offset }));
  return Promise.all(
    found.map(async ({ run, tasks, currentTask }) => ({
      ...(await describeRun(store, run)),
      tasks,
      currentTask,
    })),
  );
}

export function countRuns(store: Store): Promise<Partial<Record<RunStatus, number>>> {
  return store.read(selectCounts);
}
