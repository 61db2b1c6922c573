/** Waits, in this process, until a run that waits can continue: its time is up, a signal has arrived, or a request was decided. */
import type { RunStatus } from "../runtime/runs.ts";
import type { Store } from "../store/store.ts";
import { readReadiness } from "../store/tables/queue.ts";
import { systemClock } from "../util/clock.ts";
import { isOver } from "./run-status.ts";

/** Another process may send a signal or decide a request, so the store is polled. */
const POLL_MS = 200;

/**
 * The status of the run when it can continue, or has ended elsewhere. A run that another process runs is waited for.
 * `undefined` when the signal was aborted.
 */
export async function waitForRun(
  store: Store,
  runId: string,
  signal: AbortSignal,
): Promise<RunStatus | undefined> {
  while (!signal.aborted) {
    const found = await store.read(() => readReadiness(runId));
    if (found === undefined) return undefined;
    const { state, readyInMs } = found;
    const isAtWork = state === "running" || state === "queued";
    if (isOver(state) || (!isAtWork && readyInMs !== null && readyInMs <= 0)) return state;
    await systemClock.sleep(POLL_MS, signal).catch(() => undefined);
  }
  return undefined;
}
