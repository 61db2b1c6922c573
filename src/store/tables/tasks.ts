/** Tasks of a run: one row for each place in the tree, with its latest attempt. Written only by the run's owner. */
import { integer, oneOf, text, textOrNull } from "./columns.ts";
import { all, change, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";

export const TASK_STATUSES = ["running", "finished", "failed", "skipped", "waiting"] as const;

export interface TaskRow {
  readonly nodeId: string;
  readonly path: string;
  readonly iteration: number;
  readonly attempt: number;
  readonly status: (typeof TASK_STATUSES)[number];
  readonly outputKey: string | null;
  readonly outputJson: string | null;
  readonly errorJson: string | null;
  readonly promptJson: string | null;
  readonly position: number;
  readonly startedAtMs: number;
  readonly finishedAtMs: number | null;
}

/** 0 when the run was taken over. */
export function saveTask(runId: string, epoch: number, task: TaskRow): Transaction<number> {
  return change(
    `INSERT INTO toolwright_tasks (run_id, node_id, path, iteration, attempt, status, output_key, output_json,
       error_json, prompt_json, position, started_at_ms, finished_at_ms)
     SELECT ?1, ?3, ?4, CAST(?5 AS BIGINT), CAST(?6 AS BIGINT), ?7, ?8, ?9, ?10, ?11, CAST(?12 AS BIGINT),
       CAST(?13 AS BIGINT), CAST(?14 AS BIGINT)
     FROM toolwright_workflow_runs WHERE run_id = ?1 AND epoch = ?2 {share}
     ON CONFLICT (run_id, node_id, path) DO UPDATE SET attempt = excluded.attempt, status = excluded.status,
       output_key = excluded.output_key, output_json = excluded.output_json, error_json = excluded.error_json,
       prompt_json = excluded.prompt_json, position = excluded.position,
       started_at_ms = CASE WHEN toolwright_tasks.attempt = excluded.attempt THEN toolwright_tasks.started_at_ms
         ELSE excluded.started_at_ms END,
       finished_at_ms = excluded.finished_at_ms`,
    runId,
    epoch,
    task.nodeId,
    task.path,
    task.iteration,
    task.attempt,
    task.status,
    task.outputKey,
    task.outputJson,
    task.errorJson,
    task.promptJson,
    task.position,
    task.startedAtMs,
    task.finishedAtMs,
  );
}

/** In the order in which they ended. */
export function* readTasks(runId: string): Transaction<TaskRow[]> {
  const rows = yield* all("SELECT * FROM toolwright_tasks WHERE run_id = ?1 ORDER BY position", runId);
  return rows.map(toTaskRow);
}

export type EndedTask = Pick<
  TaskRow,
  "nodeId" | "iteration" | "attempt" | "status" | "startedAtMs" | "finishedAtMs"
>;

/** Tasks that do not run again, in the order in which they ended, without their outputs. */
export function* readEndedTasks(runId: string): Transaction<EndedTask[]> {
  const rows = yield* all(
    `SELECT node_id, iteration, attempt, status, started_at_ms, finished_at_ms FROM toolwright_tasks
     WHERE run_id = ?1 AND status IN ('finished', 'skipped') ORDER BY position`,
    runId,
  );
  return rows.map((row) => ({
    nodeId: text(row, "node_id"),
    iteration: integer(row, "iteration"),
    attempt: integer(row, "attempt"),
    status: oneOf(row, "status", TASK_STATUSES),
    startedAtMs: integer(row, "started_at_ms"),
    finishedAtMs: row["finished_at_ms"] === null ? null : integer(row, "finished_at_ms"),
  }));
}

/** 0 when the run was taken over. */
export function saveLoopEnd(runId: string, epoch: number, place: string): Transaction<number> {
  return change(
    `INSERT INTO toolwright_loops (run_id, place)
     SELECT ?1, ?3 FROM toolwright_workflow_runs WHERE run_id = ?1 AND epoch = ?2 {share}
     ON CONFLICT (run_id, place) DO UPDATE SET place = excluded.place`,
    runId,
    epoch,
    place,
  );
}

export function* readLoopEnds(runId: string): Transaction<Set<string>> {
  const rows = yield* all("SELECT place FROM toolwright_loops WHERE run_id = ?1", runId);
  return new Set(rows.map((row) => text(row, "place")));
}

function toTaskRow(row: Row): TaskRow {
  const finishedAtMs = row["finished_at_ms"];
  return {
    nodeId: text(row, "node_id"),
    path: text(row, "path"),
    iteration: integer(row, "iteration"),
    attempt: integer(row, "attempt"),
    status: oneOf(row, "status", TASK_STATUSES),
    outputKey: textOrNull(row, "output_key"),
    outputJson: textOrNull(row, "output_json"),
    errorJson: textOrNull(row, "error_json"),
    promptJson: textOrNull(row, "prompt_json"),
    position: integer(row, "position"),
    startedAtMs: integer(row, "started_at_ms"),
    finishedAtMs: typeof finishedAtMs === "number" ? finishedAtMs : null,
  };
}
