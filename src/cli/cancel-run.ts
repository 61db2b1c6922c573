/** Stops a run: its owner is asked to, or, where nobody has it in hand, it is put on record as stopped. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "../store/store.ts";
import { cancelIdleRun, readRun, requestCancel, type WorkflowRunRow } from "../store/workflow-runs.ts";
import { CliError } from "./cli-error.ts";
import { describeOwner, readLivingOwner } from "./owner.ts";

export interface Cancelled {
  readonly status: WorkflowRunRow["status"];
  readonly message: string;
}

const WAIT_MS = 10_000;
const LOOK_MS = 50;

export async function cancelRun(store: Store, run: WorkflowRunRow): Promise<Cancelled> {
  const { runId, status } = run;
  if (status === "cancelled") return { status, message: `Run "${runId}" is stopped already.` };
  if (status === "finished" || status === "failed") {
    throw new CliError("CLI_RUN_OVER", `Run "${runId}" has ${status} already; there is nothing to stop.`);
  }
  const owner = status === "running" ? await readLivingOwner(store, run.ownerId) : undefined;
  if (owner !== undefined) {
    await store.transaction(() => requestCancel(runId), "normal");
    const ended = await waitForEnd(store, runId);
    if (ended === "running") {
      return {
        status: ended,
        message: `${describeOwner(owner)} was asked to stop run "${runId}", and has not yet.`,
      };
    }
    return { status: ended, message: `Run "${runId}" is ${ended === "cancelled" ? "stopped" : ended}.` };
  }
  const ended = await store.transaction(() => cancelIdleRun(run, Date.now()), "normal");
  if (ended > 0) return { status: "cancelled", message: `Run "${runId}" is stopped.` };
  throw new CliError(
    "TOOL_RUN_CONFLICT",
    `Run "${runId}" was taken by another process just now.`,
    "Try again.",
  );
}

async function waitForEnd(store: Store, runId: string): Promise<WorkflowRunRow["status"]> {
  for (const deadline = performance.now() + WAIT_MS; ; await sleep(LOOK_MS)) {
    const status = (await store.read(() => readRun(runId)))?.status ?? "running";
    if (status !== "running" || performance.now() > deadline) return status;
  }
}
