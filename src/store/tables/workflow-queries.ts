/** The progress of the tasks of a run, and the number of runs. Read-only. */
import { readInteger, readOneOf, readText, readTextOrNull } from "./columns.ts";
import { all, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { TASK_STATUSES } from "./tasks.ts";
import { RUN_STATES, type RunState } from "../run-words.ts";

export type TaskCounts = Readonly<Record<(typeof TASK_STATUSES)[number], number>>;

export interface TaskProgress {
  readonly tasks: TaskCounts;
  /** The most recent task that runs, waits or failed. */
  readonly currentTask: string | null;
  /** The workflow's file. */
  readonly file: string | null;
}

export function* readTaskProgress(runId: string): Transaction<TaskProgress> {
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
  const [run] = yield* all("SELECT file FROM toolwright_workflow_runs WHERE run_id = ?1", runId);
  const file = run === undefined ? null : readTextOrNull(run, "file");
  if (tasks.running + tasks.waiting + tasks.failed === 0) return { tasks, file, currentTask: null };
  const [current] = yield* all(
    `SELECT node_id FROM toolwright_tasks WHERE run_id = ?1 AND status IN ('running', 'waiting', 'failed')
     ORDER BY position DESC LIMIT 1`,
    runId,
  );
  return { tasks, file, currentTask: current === undefined ? null : readText(current, "node_id") };
}

/** The number of runs by state. */
export function* countRuns(): Transaction<Partial<Record<RunState, number>>> {
  const rows: readonly Row[] = yield* all(
    `SELECT state, CAST(count(*) AS BIGINT) AS runs FROM toolwright_runs WHERE status = 'open' GROUP BY state`,
  );
  return Object.fromEntries(
    rows.map((row) => [readOneOf(row, "state", RUN_STATES), readInteger(row, "runs")]),
  );
}
