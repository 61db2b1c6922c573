/** Tasks of a run: one row for each node and loop path, with its latest attempt. Only the owner of the run writes them. */
import { readText, readTextOrNull } from "./columns.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { columns, integer, integerOrNull, oneOf, type RowOf, text, textOrNull } from "./table.ts";

export const TASK_STATUSES = ["running", "finished", "failed", "skipped", "waiting"] as const;

export const TASKS = columns({
  nodeId: text("node_id"),
  path: text("path"),
  iteration: integer("iteration"),
  attempt: integer("attempt"),
  status: oneOf("status", TASK_STATUSES),
  outputKey: textOrNull("output_key"),
  outputJson: textOrNull("output_json"),
  errorJson: textOrNull("error_json"),
  promptJson: textOrNull("prompt_json"),
  position: integer("position"),
  startedAtMs: integer("started_at_ms"),
  finishedAtMs: integerOrNull("finished_at_ms"),
});

export type TaskRow = RowOf<(typeof TASKS)["map"]>;

const SAVE = `INSERT INTO toolwright_tasks (run_id, ${TASKS.list()})
SELECT ?1, ${TASKS.parameters(3)} FROM toolwright_workflow_runs WHERE run_id = ?1 AND epoch = ?2 {share}
ON CONFLICT (run_id, node_id, path) DO UPDATE SET
  ${TASKS.omit("nodeId", "path", "iteration", "startedAtMs").excluded()},
  started_at_ms = CASE WHEN toolwright_tasks.attempt = excluded.attempt THEN toolwright_tasks.started_at_ms
    ELSE excluded.started_at_ms END`;

/** 0 when the run was taken over. */
export function saveTask(runId: string, epoch: number, task: TaskRow): Transaction<number> {
  return change(SAVE, runId, epoch, ...TASKS.values(task));
}

const READ = `SELECT ${TASKS.list()} FROM toolwright_tasks WHERE run_id = ?1 ORDER BY position`;

/** In the order in which they ended. */
export function* readTasks(runId: string): Transaction<TaskRow[]> {
  return (yield* all(READ, runId)).map(TASKS.parse);
}

const HEADS = TASKS.pick(
  "nodeId",
  "path",
  "iteration",
  "attempt",
  "status",
  "errorJson",
  "startedAtMs",
  "finishedAtMs",
);

export type TaskHead = RowOf<(typeof HEADS)["map"]>;

const READ_HEADS = `SELECT ${HEADS.list()} FROM toolwright_tasks WHERE run_id = ?1 ORDER BY position`;

/** The same without outputs and prompts. */
export function* readTaskHeads(runId: string): Transaction<TaskHead[]> {
  return (yield* all(READ_HEADS, runId)).map(HEADS.parse);
}

/**
 * The stored output of one task, or of the run: the output under the key "output", else of the task that finished last.
 */
export function* readOutputJson(
  runId: string,
  task?: { readonly nodeId: string; readonly path: string },
): Transaction<string | null> {
  const row =
    task === undefined
      ? yield* first(READ_RESULT, runId)
      : yield* first(READ_OUTPUT, runId, task.nodeId, task.path);
  return row === undefined ? null : readTextOrNull(row, "output_json");
}

const READ_OUTPUT =
  "SELECT output_json FROM toolwright_tasks WHERE run_id = ?1 AND node_id = ?2 AND path = ?3";

const READ_RESULT = `SELECT output_json FROM toolwright_tasks WHERE run_id = ?1 AND status = 'finished'
ORDER BY CASE WHEN output_key = 'output' THEN 0 ELSE 1 END, position DESC LIMIT 1`;

const ENDED = TASKS.pick("nodeId", "iteration", "attempt", "status", "startedAtMs", "finishedAtMs");

export type EndedTask = RowOf<(typeof ENDED)["map"]>;

const READ_ENDED = `SELECT ${ENDED.list()} FROM toolwright_tasks
WHERE run_id = ?1 AND status IN ('finished', 'skipped') ORDER BY position`;

/** Tasks that do not run again, in the order in which they ended, without their outputs. */
export function* readEndedTasks(runId: string): Transaction<EndedTask[]> {
  return (yield* all(READ_ENDED, runId)).map(ENDED.parse);
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
  return new Set(rows.map((row) => readText(row, "place")));
}
