/**
 * Which runs wait for a worker. One marker per run, for every kind of run: `ready_at_ms` says from when a worker may take
 * it, and `is_due` that the time has come. Whatever makes a run ready (an enqueue, a decision, a signal, a timer, a release,
 * the death of its owner) sets the marker here, in its own transaction; taking or ending the run clears it. On PostgreSQL a
 * trigger notifies the workers.
 */
import { readInteger, readIntegerOrNull, readOneOf, readText, readTextOrNull } from "./columns.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { RUN_STATES, type RunState } from "../run-words.ts";
import { insertLabels, insertRunRow, IS_FOR_WORKERS, type Labels, listedName } from "./runs.ts";
import { assertNotDeleted } from "./tombstones.ts";

const AT = "COALESCE(CAST(?2 AS BIGINT), {now})";
const IS_OPEN = "status = 'open' AND state NOT IN ('finished', 'failed', 'cancelled')";

const MARK = `UPDATE toolwright_runs SET sent_at_ms = NULL, parked = NULL,
  ready_at_ms = CASE WHEN ready_at_ms IS NULL OR ready_at_ms > ${AT} THEN ${AT} ELSE ready_at_ms END,
  is_due = CASE WHEN is_due = 1 OR ${AT} <= {now} THEN 1 ELSE 0 END
WHERE id = ?1 AND ${IS_OPEN} AND ${IS_FOR_WORKERS}`;

/**
 * From this time on a worker may take the run: once its owner, if it has one, has released it. The earliest of several times
 * counts. A run that has ended stays ended, and one that no worker can know waits for its own program: 0.
 * @param atMs by the database's clock. `null`: now
 */
export function markReady(runId: string, atMs: number | null = null): Transaction<number> {
  return change(MARK, runId, atMs);
}

/** Runs whose time has come enter the queue. Returns how many. */
export function promoteDue(): Transaction<number> {
  return change(
    `UPDATE toolwright_runs SET is_due = 1
     WHERE ready_at_ms IS NOT NULL AND is_due = 0 AND parked IS NULL AND ready_at_ms <= {now}`,
  );
}

/** In how many milliseconds the next run is due. `null`: none waits for a time. */
export function* readNextDue(): Transaction<number | null> {
  const row = yield* first(
    `SELECT MIN(ready_at_ms) - {now} AS in_ms FROM toolwright_runs
     WHERE ready_at_ms IS NOT NULL AND is_due = 0 AND parked IS NULL`,
  );
  return row === undefined ? null : readIntegerOrNull(row, "in_ms");
}

/** Runs that were enqueued and have come due, and that no worker has taken. */
export function* countQueued(): Transaction<{ count: number; oldestMs: number }> {
  const row = yield* first(
    `SELECT COUNT(*) AS count, {now} - MIN(ready_at_ms) AS oldest_ms FROM toolwright_runs
     WHERE status = 'open' AND state = 'queued' AND parked IS NULL AND ready_at_ms <= {now}`,
  );
  if (row === undefined) return { count: 0, oldestMs: 0 };
  return {
    count: readInteger(row, "count"),
    oldestMs: Math.max(0, readIntegerOrNull(row, "oldest_ms") ?? 0),
  };
}

export interface QueuedRun {
  readonly runId: string;
  readonly kind: "workflow" | "agent" | "program";
  /** Under which workers know it. */
  readonly name: string;
  readonly inputJson: string;
  /** Of the input of an agent or a program, which is deleted when the run has finished. */
  readonly inputHash?: string | undefined;
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
VALUES (?1, ?2, NULL, '', 'queued', ?3, ?4, 0, NULL, CAST(?5 AS BIGINT), CAST(?5 AS BIGINT)) ON CONFLICT DO NOTHING`;

const INSERT_OTHER = `INSERT INTO toolwright_runs (id, status, created_at_ms, updated_at_ms, kind, name, state, input_json, input_hash)
VALUES (?1, 'open', ?2, ?2, ?3, ?4, 'queued', ?5, ?6) ON CONFLICT DO NOTHING`;

const ENQUEUE = `UPDATE toolwright_runs SET priority = ?3, position = {position}, ready_at_ms = ${AT},
  is_due = CASE WHEN ${AT} <= {now} THEN 1 ELSE 0 END WHERE id = ?1 AND status = 'open'`;

/** A run that no process has started. `false` when the id is taken. */
export function* insertQueuedRun(run: QueuedRun): Transaction<boolean> {
  const { runId, kind, createdAtMs } = run;
  const changes = yield* kind === "workflow" ? insertWorkflow(run) : insertOther(run);
  // The insert waits for a garbage collection that deletes a run with this id, so check after it.
  yield* assertNotDeleted(runId);
  if (changes === 0) return false;
  yield* change(ENQUEUE, runId, run.startAtMs, run.priority);
  if (run.labels !== undefined) yield* insertLabels(runId, run.labels, createdAtMs);
  return true;
}

function insertOther(run: QueuedRun): Transaction<number> {
  const { runId, kind, name, inputJson, inputHash = null, createdAtMs } = run;
  return change(INSERT_OTHER, runId, createdAtMs, kind, listedName(name), inputJson, inputHash);
}

/** Listed first: that waits for a transaction that lists another run with this id, which the trigger would replace. */
function* insertWorkflow(run: QueuedRun): Transaction<number> {
  const { runId, name, inputJson, optionsJson, createdAtMs } = run;
  if (!(yield* insertRunRow(runId, { kind: "workflow", name, ownerId: null }, createdAtMs))) return 0;
  return yield* change(INSERT_WORKFLOW, runId, name, inputJson, optionsJson, createdAtMs);
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

/** The code that a worker serves: by name and, for workflows, by digest. */
export interface Served {
  readonly kind: "workflow" | "agent" | "program";
  readonly name: string;
  /** The shape of a workflow that came from a file. */
  readonly code?: string | undefined;
}

export interface WorkerTraits {
  /** Where it runs. Owners distinguish hosts in the same way. */
  readonly host: string;
  readonly build: string | null;
  /** It has the same files as every other worker. */
  readonly sharedRoot: boolean;
}

export interface ReadyRun {
  readonly runId: string;
  readonly kind: Served["kind"];
  readonly name: string;
  /** The digest of the code that a workflow run was started with, from a file. */
  readonly code: string | null;
  /** How long it had been ready when it was listed, by the database's clock. */
  readonly waitedMs: number;
  /** When it was listed, by the monotonic clock of this process. */
  readonly listedMs: number;
}

/** The owner has died or left. On its own host a process that is not a worker lives as long as the process table says. */
const IS_FREE = `(r.owner_id IS NULL OR EXISTS (SELECT 1 FROM toolwright_owners o WHERE o.id = r.owner_id
    AND (o.ended_at_ms IS NOT NULL OR (o.lease_until_ms < {now} AND (o.is_worker = 1 OR o.host <> ?1))))
  OR NOT EXISTS (SELECT 1 FROM toolwright_owners o WHERE o.id = r.owner_id))`;

const MAY_TAKE = `(r.host IS NULL OR CAST(?3 AS BIGINT) = 1 OR r.host = ?1)
  AND (r.on_change IS NULL OR r.on_change <> 'pin' OR r.build IS NULL OR r.build = ?2)`;

/**
 * One branch per name, each of which reads its part of the index in order: runs that no worker serves cost nothing. Build the
 * text once per worker. Runs that are found by their code alone have their own limit: most may turn out to be of another
 * workflow in the same file, and must not hide the runs that the worker serves.
 * @param otherNames names of runs with the same code that are of another workflow
 */
export function readyStatement(
  served: readonly Served[],
  limit: number,
  otherNames: Iterable<string> = [],
): string {
  const branch = (
    condition: string,
  ): string => `SELECT * FROM (SELECT r.id, r.kind, r.name, r.code, r.priority, r.position, r.ready_at_ms
FROM toolwright_runs r WHERE r.is_due = 1 AND ${condition} AND ${MAY_TAKE} AND ${IS_FREE}
ORDER BY r.priority DESC, r.position, r.id LIMIT ${limit}) AS b`;
  const some = (branches: readonly string[]): string =>
    `SELECT * FROM (${branches.join("\nUNION ")}\nORDER BY priority DESC, position, id LIMIT ${limit}) AS s`;
  const names = served.map(({ kind, name }) => `r.kind = '${kind}' AND r.name = ${quoted(listedName(name))}`);
  const workflows = served.flatMap(({ kind, name }) => (kind === "workflow" ? [listedName(name)] : []));
  const notByName = [...workflows, ...otherNames].map(quoted).join(", ");
  const codes = new Set(served.flatMap(({ code }) => (code === undefined ? [] : [code])));
  const byCode = [...codes].map((code) =>
    branch(`r.code = ${quoted(code)} AND r.name NOT IN (${notByName})`),
  );
  const parts = [some(names.map(branch)), ...(byCode.length > 0 ? [some(byCode)] : [])];
  return `SELECT q.*, {now} - q.ready_at_ms AS waited_ms FROM (${parts.join("\nUNION ALL ")}) AS q
ORDER BY priority DESC, position, id`;
}

/** Names are part of the text: a placeholder would hide from the planner which part of the index is meant. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

export function* listReady(statement: string, traits: WorkerTraits): Transaction<ReadyRun[]> {
  const rows = yield* all(statement, traits.host, traits.build, Number(traits.sharedRoot));
  return rows.map((row) => ({
    runId: readText(row, "id"),
    kind: readText(row, "kind") as Served["kind"],
    name: readText(row, "name"),
    code: readTextOrNull(row, "code"),
    waitedMs: Math.max(0, readIntegerOrNull(row, "waited_ms") ?? 0),
    listedMs: performance.now(),
  }));
}

/** No worker may take the run, and no live worker could. A worker that starts looks again. */
export function parkRun(runId: string, reason: "changed"): Transaction<number> {
  return change(
    `UPDATE toolwright_runs SET is_due = 0, parked = ?2 WHERE id = ?1 AND is_due = 1 AND ${IS_OPEN}`,
    runId,
    reason,
  );
}

/** A worker with different code has started. */
export function unparkRuns(): Transaction<number> {
  return change(
    `UPDATE toolwright_runs SET is_due = 1, parked = NULL WHERE parked IS NOT NULL AND ready_at_ms <= {now} AND ${IS_OPEN}`,
  );
}
