/** Lists runs by the status that is shown, newest first. */
import type { Store } from "../store/store.ts";
import { listRuns } from "../store/tables/workflow-queries.ts";
import { describeOverview } from "./describe-run.ts";
import { type ShownStatus, statusOf } from "./run-status.ts";

type ListedRun = Awaited<ReturnType<typeof describeOverview>>;

const PAGE = 100;

export async function listRunsAs(
  store: Store,
  status: ShownStatus | undefined,
  limit: number,
): Promise<ListedRun[]> {
  const read = async (stored: typeof status, most: number, offset: number): Promise<ListedRun[]> => {
    const filter = { status: stored === "interrupted" ? "running" : stored, limit: most, offset } as const;
    const found = await store.read(() => listRuns(filter));
    return Promise.all(found.map((run) => describeOverview(store, run)));
  };
  if (status !== "running" && status !== "interrupted") return read(status, limit, 0);
  // Both are stored as running. Only a look at each process tells them apart, so they are read page by page.
  const runs: ListedRun[] = [];
  for (let offset = 0; runs.length < limit; offset += PAGE) {
    const page = await read(status, PAGE, offset);
    runs.push(...page.filter((run) => statusOf(run) === status));
    if (page.length < PAGE) break;
  }
  return runs.slice(0, limit);
}
