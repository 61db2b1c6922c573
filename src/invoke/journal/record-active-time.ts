/** With every heartbeat: the time that runs with a time budget were active, so that a kill does not forget it. */
import { addUsage } from "../../store/tables/usage.ts";
import type { Host } from "../host.ts";

export async function recordActiveTime({ budgets, store }: Host): Promise<void> {
  for (const runId of budgets.timedRuns) {
    const ms = budgets.takeUnrecordedMs(runId);
    try {
      await store.transaction(() => addUsage(runId, "maxWallClockMs", ms), "normal");
    } catch {
      // The next heartbeat, or the end of a call, stores it.
      budgets.giveBackMs(runId, ms);
    }
  }
}
