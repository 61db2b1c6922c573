/** Summaries of runs: their status, whether they were interrupted, and why, in one sentence. */
import { decodeError } from "../invoke/error-record.ts";
import type { Store } from "../store/store.ts";
import { type RunFacts, readRunFacts } from "../store/tables/run-pages.ts";
import type { RunStatus, RunSummary } from "../runtime/runs.ts";
import type { WaitFacts } from "../store/tables/waits.ts";
import type { RunRow } from "../store/tables/runs.ts";
import { systemClock } from "../util/clock.ts";
import { toDuration, toShortText } from "../terminal/readable.ts";
import { toTime } from "./run-waits.ts";
import { listWorkers, type WorkerSummary } from "./list-workers.ts";
import { isReadyNow, outlookOf } from "./worker-outlook.ts";
import { describeOwner, type LivingOwner, readLivingOwner } from "./run-owner.ts";

/** In the order of the rows. */
export async function summarizeRuns(store: Store, rows: readonly RunRow[]): Promise<RunSummary[]> {
  const facts = await store.read(() =>
    readRunFacts(
      rows.map(({ runId }) => runId),
      systemClock.now(),
      store.dialect,
    ),
  );
  const owners = new OwnerChecks(store);
  // Only runs that wait for a worker say which one.
  const workers = rows.some((row) => isReadyNow(row)) ? await listWorkers(store) : [];
  const summaries: RunSummary[] = [];
  for (const row of rows) {
    const found = facts.get(row.runId);
    if (found !== undefined) summaries.push(await summarize(row, found, owners, workers));
  }
  return summaries;
}

async function summarize(
  row: RunRow,
  facts: RunFacts,
  owners: OwnerChecks,
  workers: readonly WorkerSummary[],
): Promise<RunSummary> {
  const { status, interrupted, owner } = await statusOf(row, facts, owners);
  return {
    runId: row.runId,
    kind: row.kind,
    name: row.name,
    status,
    interrupted,
    createdAtMs: row.createdAtMs,
    updatedAtMs: Math.max(row.updatedAtMs, facts.lastCallMs),
    finishedAtMs: row.finishedAtMs === null || status === "running" ? null : finishedAt(row, facts),
    tasks: row.kind === "workflow" ? facts.tasks : facts.scopes,
    calls: facts.calls,
    pendingApprovals: facts.pendingApprovals,
    labels: facts.labels,
    why: why(row, facts, status, interrupted, owner, workers),
  };
}

/** Later bare calls of a run do not write its row again. */
function finishedAt({ kind, finishedAtMs }: RunRow, { lastCallMs }: RunFacts): number {
  return kind === "workflow" ? (finishedAtMs ?? 0) : Math.max(finishedAtMs ?? 0, lastCallMs);
}

interface FoundStatus {
  readonly status: RunStatus;
  readonly interrupted: boolean;
  readonly owner: LivingOwner | undefined;
}

async function statusOf(row: RunRow, facts: RunFacts, owners: OwnerChecks): Promise<FoundStatus> {
  if (row.state === "running") {
    const owner = await owners.check(row.ownerId);
    return { status: "running", interrupted: owner === undefined, owner };
  }
  // Only the first call of a run without a scope of its own writes the run's row. A call in progress shows the rest.
  if (row.kind !== "workflow" && facts.callOwners.length > 0) {
    for (const ownerId of facts.callOwners) {
      const owner = await owners.check(ownerId);
      if (owner !== undefined) return { status: "running", interrupted: false, owner };
    }
    if (row.state === "finished") return { status: "running", interrupted: true, owner: undefined };
  }
  return { status: row.state, interrupted: false, owner: undefined };
}

function why(
  row: RunRow,
  { pendingApprovals, request, waits }: RunFacts,
  status: RunStatus,
  interrupted: boolean,
  owner: LivingOwner | undefined,
  workers: readonly WorkerSummary[],
): string {
  switch (status) {
    case "queued":
      // A fork of a run whose input is not stored.
      if (row.readyAtMs === null) return "It has not started: its own program starts it.";
      return outlookOf(row, workers).because;
    case "running":
      if (interrupted) return `Its process ended before the run did.${afterwards(row, workers)}`;
      return owner === undefined ? "It is running." : `It is running in ${describeOwner(owner)}.`;
    case "waiting-approval": {
      if (request === undefined)
        return `Every request has been decided; it has not been resumed yet.${afterwards(row, workers)}`;
      const more = pendingApprovals === 1 ? "" : ` ${pendingApprovals - 1} more are pending.`;
      const what = request.kind === "replay" ? `What happened to "${request.toolName}"?` : "";
      return `It waits for approval: ${toShortText(what === "" ? request.prompt : what, 200)}${more}`;
    }
    case "waiting-timer":
    case "waiting-signal":
      if (waits === undefined) return "It waits; resume it to continue.";
      return `${whyItWaits(waits)}${waits.isOver ? afterwards(row, workers) : ""}`;
    case "finished":
      return `It finished after ${toDuration((row.finishedAtMs ?? row.updatedAtMs) - row.createdAtMs)}.`;
    case "failed":
      return `It failed: ${toShortText(reasonOf(row.errorJson), 300)}`;
    case "cancelled":
      return "It was cancelled.";
  }
}

function whyItWaits({ dueAtMs, signal, isOver }: WaitFacts): string {
  const until = dueAtMs === null ? "" : ` until ${toTime(dueAtMs)}`;
  const what = signal === null ? `slept${until}` : `waited for the signal "${toShortText(signal)}"`;
  if (isOver) return `It ${what}, and can continue.`;
  return signal === null ? `It sleeps${until}.` : `It waits for the signal "${toShortText(signal)}"${until}.`;
}

/** Why a ready run has not started: no worker is running, or the workers have left it. */
function afterwards(row: RunRow, workers: readonly WorkerSummary[]): string {
  const isSeen = row.parked !== null || workers.some(({ status }) => status === "active");
  return isReadyNow(row) && isSeen ? ` ${outlookOf(row, workers).because}` : "";
}

function reasonOf(errorJson: string | null): string {
  return errorJson === null ? "see its error" : decodeError(errorJson).message;
}

/** Each owner is checked once for all runs of a page. */
class OwnerChecks {
  readonly #store: Store;
  readonly #found = new Map<string, Promise<LivingOwner | undefined>>();

  constructor(store: Store) {
    this.#store = store;
  }

  check(ownerId: string | null): Promise<LivingOwner | undefined> {
    if (ownerId === null) return Promise.resolve(undefined);
    const found = this.#found.get(ownerId) ?? readLivingOwner(this.#store, ownerId);
    this.#found.set(ownerId, found);
    return found;
  }
}
