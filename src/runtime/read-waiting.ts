/** Counts the waiting work in the store, for telemetry gauges. Any process can read them, even if no worker is alive. */
import type { Host } from "../invoke/host.ts";
import type { Waiting } from "../invoke/telemetry.ts";
import { countPending, hasUnmeasured, takeUnmeasured } from "../store/tables/approvals.ts";
import { countQueued } from "../store/tables/queue.ts";

/** Telemetry that is turned on does not report the decisions of all time. */
const MEASURED_MS = 3_600_000;

export async function readWaiting({ store, clock }: Host): Promise<Waiting> {
  const now = clock.now();
  const since = now - MEASURED_MS;
  const { pending, queue, hasDecided } = await store.read(function* () {
    const requests = yield* countPending(now);
    return { pending: requests, queue: yield* countQueued(), hasDecided: yield* hasUnmeasured(since) };
  });
  const { count, oldestAtMs } = pending;
  const oldestMs = oldestAtMs === null ? 0 : Math.max(0, now - oldestAtMs);
  const decided = hasDecided ? await store.transaction(() => takeUnmeasured(since), "normal") : [];
  return { approvals: { count, oldestMs }, queue, decided };
}
