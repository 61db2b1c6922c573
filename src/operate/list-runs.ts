/** Lists runs of every kind, newest first, page by page. */
import { aBoolean, aStorableText, type Check, must, oneOf } from "../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../definition/option-table.ts";
import { ToolwrightError } from "../errors.ts";
import type { Store } from "../store/store.ts";
import { listRunRows, type RunCursor, type RunPageFilter } from "../store/tables/run-pages.ts";
import { readRunRow, type RunRow } from "../store/tables/runs.ts";
import {
  countRuns as selectCounts,
  readTaskProgress,
  type TaskProgress,
} from "../store/tables/workflow-queries.ts";
import type { RunFilter, RunPage, RunError, RunStatus, RunSummary } from "../runtime/runs.ts";
import { errorOf } from "./described-error.ts";
import { listWorkers, type WorkerSummary } from "./list-workers.ts";
import { readLivingOwner } from "./run-owner.ts";
import { MOST_RUNS, RUN_KINDS, RUN_STATES } from "./run-status.ts";
import { summarizeRuns } from "./summarize-runs.ts";
import { isReadyNow, NO_WORKER, outlookOf } from "./worker-outlook.ts";

const DEFAULT_RUNS = 50;
const LABEL = /^([^=]+)=(.*)$/s;

const aLabel: Check = (value, field) => {
  must((given) => typeof given === "string" && LABEL.test(given), "a label in the form key=value")(
    value,
    field,
  );
  aStorableText(value, field);
};

export const RUN_FILTER: OptionTable = optionTable<RunFilter>("runtime.runs", {
  status: oneOf(...RUN_STATES, "interrupted"),
  interrupted: aBoolean,
  kind: oneOf(...RUN_KINDS),
  workflow: aStorableText,
  label: aLabel,
  q: aStorableText,
  before: aStorableText,
  limit: must(
    (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MOST_RUNS,
    `a whole number from 1 to ${MOST_RUNS}`,
  ),
});

/** @throws TOOL_OPTION_INVALID */
export async function listRuns(store: Store, filter: RunFilter = {}): Promise<RunPage> {
  checkOptions(RUN_FILTER, filter);
  const { status: shown, kind, workflow, label, q, limit = DEFAULT_RUNS } = filter;
  if (shown === "interrupted" && filter.interrupted === false)
    throw new ToolwrightError(
      "TOOL_OPTION_INVALID",
      'runtime.runs: interrupted: false cannot be combined with status "interrupted": no run is both.',
      { details: { option: "interrupted" } },
    );
  const interrupted = shown === "interrupted" ? true : filter.interrupted;
  // Only the liveness of each owner shows which runs are interrupted.
  const status = shown === "interrupted" || interrupted === true ? "running" : shown;
  const [, key = "", value = ""] = label === undefined ? [] : (LABEL.exec(label) ?? []);
  const wanted: Omit<RunPageFilter, "limit" | "before"> = {
    state: status,
    kind,
    workflow,
    label: label === undefined ? undefined : { key, value },
    q,
  };
  const runs: RunSummary[] = [];
  let before = filter.before === undefined ? undefined : await cursorOf(store, filter.before);
  for (;;) {
    const from = before;
    // One more than is shown, to find out whether there is a next page.
    const rows = await store.read(() => listRunRows({ ...wanted, before: from, limit: limit + 1 }));
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const fitting = (await summarizeRuns(store, page)).filter((run) => fits(run, status, interrupted));
    const room = limit - runs.length;
    runs.push(...fitting.slice(0, room));
    // The last page may have more runs that fit than there is room for.
    const isEnd = last === undefined || (rows.length <= limit && fitting.length <= room);
    if (isEnd) return { runs, next: null };
    before = last;
    if (runs.length >= limit) return { runs, next: toCursor(runs.at(-1) ?? last) };
    // Runs that do not fit were left out.
    if (interrupted === undefined && runs.length > 0) return { runs, next: toCursor(last) };
  }
}

/** The stored state lags behind where a later bare call is in progress. */
function fits(run: RunSummary, status: RunStatus | undefined, interrupted: boolean | undefined): boolean {
  if (interrupted !== undefined && run.interrupted !== interrupted) return false;
  return status === undefined || run.status === status;
}

export function toCursor({ createdAtMs, runId }: Pick<RunRow, "createdAtMs" | "runId">): string {
  return `${createdAtMs}~${runId}`;
}

async function cursorOf(store: Store, text: string): Promise<RunCursor> {
  const [, createdAtMs, runId = ""] = /^(\d{1,15})~(.+)$/s.exec(text) ?? [];
  if (createdAtMs !== undefined) return { createdAtMs: Number(createdAtMs), runId };
  const row = await store.read(() => readRunRow(text));
  if (row !== undefined) return row;
  throw new ToolwrightError(
    "TOOL_OPTION_INVALID",
    `runtime.runs: before must be the "next" of a page, or the id of a run; there is no run "${text}".`,
    { details: { option: "before" } },
  );
}

/** A run in a list of the command line: with the progress of its tasks. */
export interface ListedRun extends RunSummary {
  /** The name of the workflow. `null` for other runs. */
  readonly workflow: string | null;
  readonly file: string | null;
  /** The process that runs it. */
  readonly pid: number | null;
  readonly error: RunError | null;
  readonly taskCounts: TaskProgress["tasks"] | null;
  /** The most recent task that runs, waits or failed. */
  readonly currentTask: string | null;
  /** Why every worker leaves it, in one sentence. */
  readonly leftByWorkers: string | null;
}

export async function listRunsWithProgress(
  store: Store,
  filter: RunFilter,
): Promise<{ readonly runs: readonly ListedRun[]; readonly next: string | null }> {
  const { runs, next } = await listRuns(store, filter);
  const workers = await listWorkers(store);
  const listed: ListedRun[] = [];
  for (const run of runs) {
    const isWorkflow = run.kind === "workflow";
    const progress = isWorkflow ? await store.read(() => readTaskProgress(run.runId)) : undefined;
    const row = await store.read(() => readRunRow(run.runId));
    const owner = run.status === "running" ? await readLivingOwner(store, row?.ownerId ?? null) : undefined;
    listed.push({
      ...run,
      workflow: isWorkflow ? run.name : null,
      file: progress?.file ?? null,
      pid: owner?.pid ?? null,
      error: run.status === "failed" ? errorOf(row?.errorJson ?? null) : null,
      taskCounts: progress?.tasks ?? null,
      currentTask: progress?.currentTask ?? null,
      leftByWorkers: row !== undefined && !isAtWork(run) ? reasonToLeave(row, workers) : null,
    });
  }
  return { runs: listed, next };
}

function isAtWork({ status, interrupted }: RunSummary): boolean {
  return status === "running" && !interrupted;
}

function reasonToLeave(row: RunRow, workers: readonly WorkerSummary[]): string | null {
  const { mayTake, because } = outlookOf(row, workers);
  return isReadyNow(row) && !mayTake && because !== NO_WORKER ? because : null;
}

export function countRuns(store: Store): Promise<Partial<Record<RunStatus, number>>> {
  return store.read(selectCounts);
}
