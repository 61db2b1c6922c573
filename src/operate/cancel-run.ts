/** Cancels a run: asks its owner to stop it or, if the owner is dead, records the run as cancelled. */
import { setTimeout as sleep } from "node:timers/promises";
import { ToolwrightError } from "../errors.ts";
import type { Store } from "../store/store.ts";
import { cancelRun as tryCancel, readRun, type WorkflowRunRow } from "../store/tables/workflow-runs.ts";
import type { RunStatus } from "../runtime/runs.ts";
import { type LivingOwner, readLivingOwner } from "./run-owner.ts";

export interface CancelResult {
  /**
   * `already-ended`: it had finished or failed before. `ended`: it finished, failed or began to wait before its owner
   * stopped it.
   * `requested`: the owner has not stopped it yet.
   */
  readonly outcome: "cancelled" | "already-cancelled" | "already-ended" | "ended" | "requested";
  readonly status: RunStatus;
  /** The process that was asked to stop the run. */
  readonly owner: LivingOwner | undefined;
}

const WAIT_MS = 10_000;
const POLL_MS = 50;

/** @throws TOOL_RUN_DELETED */
export async function cancelRun(
  store: Store,
  { runId, status: statusBefore }: WorkflowRunRow,
  { waitMs = WAIT_MS }: { readonly waitMs?: number } = {},
): Promise<CancelResult> {
  let owner: LivingOwner | undefined;
  let judged: { ownerId: string; isAlive: boolean } | undefined;
  for (;;) {
    const step = await store.transaction(() => tryCancel(runId, judged, Date.now()), "normal");
    switch (step.kind) {
      case "missing":
        throw new ToolwrightError("TOOL_RUN_DELETED", `Run "${runId}" was deleted in the meantime.`, {
          effect: "none",
        });
      case "judge":
        owner = await readLivingOwner(store, step.ownerId);
        judged = { ownerId: step.ownerId, isAlive: owner !== undefined };
        break;
      case "ended": {
        const { status } = step.run;
        if (status !== "cancelled") return { outcome: "already-ended", status, owner };
        const outcome = statusBefore === "cancelled" ? "already-cancelled" : "cancelled";
        return { outcome, status, owner };
      }
      case "requested":
        return waitForEnd(store, runId, owner, waitMs);
    }
  }
}

async function waitForEnd(
  store: Store,
  runId: string,
  owner: LivingOwner | undefined,
  waitMs: number,
): Promise<CancelResult> {
  for (const deadline = performance.now() + waitMs; ; await sleep(POLL_MS)) {
    const status = (await store.read(() => readRun(runId)))?.status ?? "running";
    if (status !== "running")
      return { outcome: status === "cancelled" ? "cancelled" : "ended", status, owner };
    if (performance.now() > deadline) return { outcome: "requested", status, owner };
  }
}
