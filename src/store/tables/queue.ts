/**
 * Which runs wait for a worker. One marker per run, for every kind of run: `ready_at_ms` says from when a worker may take
 * it, and `is_due` that the time has come. Whatever makes a run ready (an enqueue, a decision, a signal, a timer, a release,
 * the death of its owner) sets the marker here, in its own transaction; taking or ending the run clears it. On PostgreSQL a
 * trigger notifies the workers.
 */
import { readIntegerOrNull, readOneOf } from "./columns.ts";
import { change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { insertLabels, type Labels, listedName, RUN_STATES, type RunState } from "./runs.ts";
import { assertNotDeleted } from "./tombstones.ts";

const AT = "COALESCE(CAST(?2 AS BIGINT), {now})";

const MARK = `UPDATE toolwright_runs SET sent_at_ms = NULL,
  ready_at_ms = CASE WHEN ready_at_ms IS NULL OR ready_at_ms > ${AT} THEN ${AT} ELSE ready_at_ms END,
  is_due = CASE WHEN is_due = 1 OR ${AT} <= {now} THEN 1 ELSE 0 END
WHERE id = ?1 AND status = 'open' AND state NOT IN ('finished', 'failed', 'cancelled')`;

/**
 * From this time on a worker may take the run: once its owner, if it has one, has released it. The earliest of several times
 * counts. A run that has ended stays ended: 0.
 * @param atMs by the database's clock. `null`: now
 */
export function markReady(runId: string, atMs: number | null = null): Transaction<number> {
  return change(MARK, runId, atMs);
}

/** Runs whose time has come enter the queue. Returns how many. */
export function promoteDue(): Transaction<number> {
  return change(
    `UPDATE toolwright_runs SET is_due = 1 WHERE ready_at_ms IS NOT NULL AND is_due = 0 AND ready_at_ms <= {now}`,
  );
}

export interface QueuedRun {
  readonly runId: string;
  readonly kind: "workflow" | "agent" | "program";
  /** Under which workers know it. */
  readonly name: string;
  readonly inputJson: string;
  /** What the start stores for resumes. Only for workflows. */
  readonly optionsJson: string;
  readonly createdAtMs: number;
  /** By the database's clock. `null`: now. */
  readonly startAtMs: number | null;
  /** Larger first. */
  readonly priority: number;
  readonly labels?: Labels | undefined;
}

const INSERT_WORKFLOW = `INSERT INTO toolwright_workflow_runs (run_id, workflow, file, shape, status, input_json, options_json,
  epoch, owner_id, created_at_ms, updated_at_ms)
SELECT ?1, ?2, NULL, '', 'queued', ?3, ?4, 0, NULL, CAST(?5 AS BIGINT), CAST(?5 AS BIGINT)
WHERE NOT EXISTS (SELECT 1 FROM toolwright_runs WHERE id = ?1) ON CONFLICT DO NOTHING`;

const INSERT_OTHER = `INSERT INTO toolwright_runs (id, status, created_at_ms, updated_at_ms, kind, name, state, input_json)
VALUES (?1, 'open', ?2, ?2, ?3, ?4, 'queued', ?5) ON CONFLICT DO NOTHING`;

const ENQUEUE = `UPDATE toolwright_runs SET priority = ?3, position = {position}, ready_at_ms = ${AT},
  is_due = CASE WHEN ${AT} <= {now} THEN 1 ELSE 0 END WHERE id = ?1 AND status = 'open'`;

/** A run that no process has started. `false` when the id is taken. */
export function* insertQueuedRun(run: QueuedRun): Transaction<boolean> {
  const { runId, kind, createdAtMs } = run;
  const changes =
    kind === "workflow"
      ? yield* change(INSERT_WORKFLOW, runId, run.name, run.inputJson, run.optionsJson, createdAtMs)
      : yield* change(INSERT_OTHER, runId, createdAtMs, kind, listedName(run.name), run.inputJson);
  // The insert waits for a garbage collection that deletes a run with this id, so check after it.
  yield* assertNotDeleted(runId);
  if (changes === 0) return false;
  yield* change(ENQUEUE, runId, run.startAtMs, run.priority);
  if (run.labels !== undefined) yield* insertLabels(runId, run.labels, createdAtMs);
  return true;
}

export interface Readiness {
  readonly state: RunState;
  /** Until a worker may take it, 0 or less if it may now; `null` while nothing makes it ready. */
  readonly readyInMs: number | null;
}

/** `undefined` when there is no such run. */
export function* readReadiness(runId: string): Transaction<Readiness | undefined> {
  const row = yield* first(
    "SELECT state, ready_at_ms - {now} AS ready_in_ms FROM toolwright_runs WHERE id = ?1 AND status = 'open'",
    runId,
  );
  return (
    row && {
      state: readOneOf(row, "state", RUN_STATES),
      readyInMs: readIntegerOrNull(row, "ready_in_ms"),
    }
  );
}
