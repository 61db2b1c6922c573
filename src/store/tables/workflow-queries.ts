/** Lists runs for users: newest first, with the progress of their tasks. Read-only. */
import { readInteger, readOneOf, readText } from "./columns.ts";
import { all, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { TASK_STATUSES } from "./tasks.ts";
import { RUN_STATUSES, type RunStatus, WORKFLOW_RUNS, type WorkflowRunRow } from "./workflow-runs.ts";

export type TaskCounts = Readonly<Record<(typeof TASK_STATUSES)[number], number>>;

export interface RunOverview {
  readonly run: WorkflowRunRow;
  readonly tasks: TaskCounts;
  /** The most recent task that runs, waits or failed. */
  readonly currentTask: string | null;
}

export interface RunFilter {
  readonly status?: RunStatus | undefined;
  readonly limit: number;
  /** How many of the newest runs to skip. */
  readonly offset?: number | undefined;
}

/** Newest first. Only the tasks of the runs that are shown are counted. */
export function* listRuns(filter: RunFilter): Transaction<RunOverview[]> {
  const { status, limit, offset = 0 } = filter;
  const where = status === undefined ? "" : "WHERE status = ?3";
  const rows = yield* all(
    `SELECT ${WORKFLOW_RUNS.list()} FROM toolwright_workflow_runs ${where} ORDER BY created_at_ms DESC, run_id LIMIT ?1 OFFSET ?2`,
    limit,
    offset,
    ...(status === undefined ? [] : [status]),
  );
  const runs: RunOverview[] = [];
  for (const row of rows) {
    const run = WORKFLOW_RUNS.parse(row);
    runs.push({ run, ...(yield* countTasks(run.runId)) });
  }
  return runs;
}

function* countTasks(runId: string): Transaction<Omit<RunOverview, "run">> {
  const rows = yield* all(
    `SELECT status, CAST(count(*) AS INTEGER) AS tasks FROM toolwright_tasks WHERE run_id = ?1 GROUP BY status`,
    runId,
  );
  const counted = new Map(
    rows.map((row) => [readOneOf(row, "status", TASK_STATUSES), readInteger(row, "tasks")]),
  );
  const tasks = Object.fromEntries(
    TASK_STATUSES.map((status) => [status, counted.get(status) ?? 0]),
  ) as TaskCounts;
  if (tasks.running + tasks.waiting + tasks.failed === 0) return { tasks, currentTask: null };
  const [current] = yield* all(
    `SELECT node_id FROM toolwright_tasks WHERE run_id = ?1 AND status IN ('running', 'waiting', 'failed')
     ORDER BY position DESC LIMIT 1`,
    runId,
  );
  return { tasks, currentTask: current === undefined ? null : readText(current, "node_id") };
}

/** The number of runs by status. */
export function* countRuns(): Transaction<Partial<Record<RunStatus, number>>> {
  const rows: readonly Row[] = yield* all(
    "SELECT status, CAST(count(*) AS INTEGER) AS runs FROM toolwright_workflow_runs GROUP BY status",
  );
  return Object.fromEntries(
    rows.map((row) => [readOneOf(row, "status", RUN_STATUSES), readInteger(row, "runs")]),
  );
}
