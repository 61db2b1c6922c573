/** Cancels a run: asks its owner to end it or, where no process is at work on it, records that it is cancelled. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "../store/store.ts";
import { cancelRun as decideCancel, readRun, type WorkflowRunRow } from "../store/tables/workflow-runs.ts";
import { CliError } from "./cli-error.ts";
import { describeOwner, type LivingOwner, readLivingOwner } from "./owner.ts";

export interface Cancelled {
  readonly status: WorkflowRunRow["status"];
  readonly message: string;
}

const WAIT_MS = 10_000;
const LOOK_MS = 50;

export async function cancelRun(store: Store, { runId, status: seen }: WorkflowRunRow): Promise<Cancelled> {
  let owner: LivingOwner | undefined;
  let judged: { ownerId: string; isAlive: boolean } | undefined;
  for (;;) {
    const step = await store.transaction(() => decideCancel(runId, judged, Date.now()), "normal");
    switch (step.kind) {
      case "missing":
        throw new CliError("TOOL_RUN_DELETED", `Run "${runId}" was deleted in the meantime.`);
      case "judge":
        owner = await readLivingOwner(store, step.ownerId);
        judged = { ownerId: step.ownerId, isAlive: owner !== undefined };
        break;
      case "ended":
        return describeEnd(step.run, seen);
      case "requested":
        return waitForEnd(store, runId, owner);
    }
  }
}

function describeEnd({ runId, status }: WorkflowRunRow, seen: WorkflowRunRow["status"]): Cancelled {
  if (status === "cancelled") {
    const message =
      seen === "cancelled" ? `Run "${runId}" is stopped already.` : `Run "${runId}" is stopped.`;
    return { status, message };
  }
  throw new CliError("CLI_RUN_OVER", `Run "${runId}" has ${status} already; there is nothing to stop.`);
}

async function waitForEnd(store: Store, runId: string, owner: LivingOwner | undefined): Promise<Cancelled> {
  for (const deadline = performance.now() + WAIT_MS; ; await sleep(LOOK_MS)) {
    const status = (await store.read(() => readRun(runId)))?.status ?? "running";
    if (status !== "running")
      return { status, message: `Run "${runId}" is ${status === "cancelled" ? "stopped" : status}.` };
    if (performance.now() > deadline) {
      const who = owner === undefined ? "Its process" : describeOwner(owner);
      return {
        status,
        message: `${who} was asked to stop run "${runId}" and has not stopped yet. The request stays open: if the process ends first, the next resume ends the run as cancelled.`,
      };
    }
  }
}
