/** Whether a worker may take a run, and if none may, why. One answer for `why`, `ps`, the server and the page. */
import type { Store } from "../store/store.ts";
import type { RunRow } from "../store/tables/runs.ts";
import { toAge, toDuration } from "../terminal/readable.ts";
import { toTerminalName } from "../terminal/terminal-text.ts";
import { listWorkers, type WorkerSummary } from "./list-workers.ts";

export const NO_WORKER = "No worker is running.";

export interface WorkerOutlook {
  /** A living worker may take the run now, or when its time has come. */
  readonly mayTake: boolean;
  /** One sentence. */
  readonly because: string;
  /** An operator has to accept the changes of the workflow. */
  readonly isChanged: boolean;
}

/**
 * Whether the run could continue now, if a worker took it. A run that still sleeps needs none yet.
 * @param nowMs by the clock of this process, which is good enough for what is shown
 */
export function isReadyNow(
  { readyAtMs, state, parked }: Pick<RunRow, "readyAtMs" | "state" | "parked">,
  nowMs = Date.now(),
): boolean {
  return readyAtMs !== null && (state !== "waiting-timer" || parked !== null || readyAtMs <= nowMs);
}

/** @param nowMs by the clock of this process, for times that are shown */
export function outlookOf(row: RunRow, workers: readonly WorkerSummary[], nowMs = Date.now()): WorkerOutlook {
  const none = (because: string, isChanged = false): WorkerOutlook => ({
    mayTake: false,
    because,
    isChanged,
  });
  // It stays so when the worker that found it has ended.
  if (row.parked === "changed" && row.onChange !== "pin")
    return none(
      "Its workflow has changed since it started, so workers leave it until the changes are accepted.",
      true,
    );
  const living = workers.filter(({ status }) => status === "active");
  if (living.length === 0) return none(NO_WORKER);
  const serving = living.filter(({ serves }) =>
    serves.some(
      (one) =>
        one.kind === row.kind && (one.name === row.name || (row.code !== null && one.code === row.code)),
    ),
  );
  if (serving.length === 0) return none(`No running worker knows the name "${toTerminalName(row.name)}".`);
  const near = serving.filter(({ host, sharedRoot }) => row.host === null || sharedRoot || host === row.host);
  if (near.length === 0)
    return none("It used files on another machine, and no worker that serves it is running there.");
  const built = near.filter(
    ({ build }) => row.onChange !== "pin" || row.build === null || build === row.build,
  );
  if (built.length === 0)
    return none(
      `It is pinned to build "${toTerminalName(row.build ?? "")}", and no worker with that build is running.`,
    );
  if (row.parked === "changed")
    return none("Its workflow has changed since it started, and no worker with the old version is running.");
  if (row.readyAtMs !== null && row.readyAtMs > nowMs)
    return {
      mayTake: true,
      because: `A worker takes it in ${toDuration(row.readyAtMs - nowMs)}.`,
      isChanged: false,
    };
  const since = row.readyAtMs === null ? "" : ` It became ready ${toAge(row.readyAtMs)}.`;
  return { mayTake: true, because: `It waits for a free worker.${since}`, isChanged: false };
}

export async function readOutlook(store: Store, row: RunRow): Promise<WorkerOutlook> {
  return outlookOf(row, await listWorkers(store));
}
