/**
 * Tasks that wait for a time or for a signal. The time at which a wait is over is stored when it begins, by the clock of the
 * database: every process of every machine reads the same one.
 */
import { readInteger, readIntegerOrNull, readText, readTextOrNull } from "./columns.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { markReady } from "./queue.ts";
import { columns, integer, integerOrNull, oneOf, type RowOf, text, textOrNull } from "./table.ts";

export const WAIT_KINDS = ["timer", "signal"] as const;
export type WaitKind = (typeof WAIT_KINDS)[number];

const WAITS = columns({
  nodeId: text("node_id"),
  path: text("path"),
  kind: oneOf("kind", WAIT_KINDS),
  /** The name of the signal. */
  signal: textOrNull("signal"),
  /** The JSON Schema of the payload. */
  schemaJson: textOrNull("schema_json"),
  /** How long the wait may last. `null` for a fixed date, and without a limit. */
  totalMs: integerOrNull("total_ms"),
  startedAtMs: integer("started_at_ms"),
  dueAtMs: integerOrNull("due_at_ms"),
});

export type WaitRow = RowOf<(typeof WAITS)["map"]>;

/** The end of the wait is `totalMs` from now, else the fixed `dueAtMs`. */
export type NewWait = Omit<WaitRow, "startedAtMs">;

/** The clock of the database; in tests a given time. */
const NOW = (parameter: number): string => `COALESCE(CAST(?${parameter} AS BIGINT), {now})`;

// The clock of the database is read once: it may advance within a statement.
const BEGIN = `INSERT INTO toolwright_waits
  (run_id, node_id, path, kind, signal, schema_json, total_ms, started_at_ms, due_at_ms)
SELECT ?1, ?3, ?4, ?5, ?6, ?7, CAST(?8 AS BIGINT), c.now_ms,
  CASE WHEN CAST(?8 AS BIGINT) IS NULL THEN CAST(?9 AS BIGINT) ELSE c.now_ms + CAST(?8 AS BIGINT) END
FROM (SELECT ${NOW(10)} AS now_ms) c
WHERE EXISTS (SELECT 1 FROM toolwright_workflow_runs WHERE run_id = ?1 AND epoch = ?2 {share})
ON CONFLICT (run_id, node_id, path) DO UPDATE SET signal = excluded.signal, schema_json = excluded.schema_json`;

/** If the clock was set back to before the start, the whole duration is left, and never more. */
const REWIND = `UPDATE toolwright_waits SET started_at_ms = ${NOW(4)}, due_at_ms = ${NOW(4)} + total_ms
WHERE run_id = ?1 AND node_id = ?2 AND path = ?3 AND total_ms IS NOT NULL AND started_at_ms > ${NOW(4)}`;

const READ = `SELECT ${WAITS.list()}, ${NOW(4)} AS now_ms FROM toolwright_waits
WHERE run_id = ?1 AND node_id = ?2 AND path = ?3`;

export interface BegunWait {
  readonly wait: WaitRow;
  readonly nowMs: number;
}

/**
 * Begins a wait, or returns the wait that has begun. `undefined` when the run was taken over.
 * @param clockMs replaces the clock of the database
 */
export function* beginWait(
  runId: string,
  epoch: number,
  wait: NewWait,
  clockMs: number | null,
): Transaction<BegunWait | undefined> {
  const { nodeId, path, kind, signal, schemaJson, totalMs, dueAtMs } = wait;
  // The task was something else in an earlier version of the workflow.
  yield* change(
    `DELETE FROM toolwright_waits WHERE run_id = ?1 AND node_id = ?2 AND path = ?3 AND kind <> ?4
       AND EXISTS (SELECT 1 FROM toolwright_workflow_runs r WHERE r.run_id = ?1 AND r.epoch = ?5)`,
    runId,
    nodeId,
    path,
    kind,
    epoch,
  );
  const isOwner = yield* change(
    BEGIN,
    runId,
    epoch,
    nodeId,
    path,
    kind,
    signal,
    schemaJson,
    totalMs,
    dueAtMs,
    clockMs,
  );
  if (isOwner === 0) return undefined;
  yield* change(REWIND, runId, nodeId, path, clockMs);
  const row = yield* first(READ, runId, nodeId, path, clockMs);
  return row && { wait: WAITS.parse(row), nowMs: readInteger(row, "now_ms") };
}

/** In the transaction that stores the end of the task. */
export function endWait(runId: string, nodeId: string, path: string): Transaction<number> {
  return change(
    "DELETE FROM toolwright_waits WHERE run_id = ?1 AND node_id = ?2 AND path = ?3",
    runId,
    nodeId,
    path,
  );
}

/** A task in one pass of its loops. */
export type WaitPlace = Pick<WaitRow, "nodeId" | "path">;

/**
 * A run ends its work and waits. A worker may take it once one of these waits is over, which a signal may have done just now.
 * The caller holds the lock of the run: a later signal sees that the run waits.
 */
export function* wakeAfterWaits(runId: string, places: readonly WaitPlace[]): Transaction<void> {
  yield* keepWaits(runId, places);
  const waits = yield* readWaits(runId);
  const [first] = waits;
  if (waits.some(({ isOver }) => isOver)) yield* markReady(runId);
  else if (first !== undefined && first.dueAtMs !== null) yield* markReady(runId, first.dueAtMs);
}

/** Deletes the waits of tasks that are no longer in the workflow: they must not wake the run. */
function* keepWaits(runId: string, places: readonly WaitPlace[]): Transaction<void> {
  const rows = yield* all("SELECT node_id, path FROM toolwright_waits WHERE run_id = ?1", runId);
  for (const row of rows) {
    const [nodeId, path] = [readText(row, "node_id"), readText(row, "path")];
    if (!places.some((place) => place.nodeId === nodeId && place.path === path))
      yield* endWait(runId, nodeId, path);
  }
}

/** A wait, and whether the run can continue because of it. */
export interface OpenWait extends WaitRow {
  readonly nowMs: number;
  readonly isOver: boolean;
}

const HAS_SIGNAL = `EXISTS (SELECT 1 FROM toolwright_signals s
  WHERE s.run_id = w.run_id AND s.name = w.signal AND s.settled_at_ms IS NULL)`;

const READ_ALL = `SELECT ${WAITS.list("w")}, ${NOW(2)} AS now_ms,
  CASE WHEN w.due_at_ms <= ${NOW(2)} OR ${HAS_SIGNAL} THEN 1 ELSE 0 END AS is_over
FROM toolwright_waits w WHERE w.run_id = ?1
ORDER BY CASE WHEN w.due_at_ms IS NULL THEN 1 ELSE 0 END, w.due_at_ms, w.node_id, w.path`;

/** Those that end first come first; those without a limit come last. */
export function* readWaits(runId: string, clockMs: number | null = null): Transaction<OpenWait[]> {
  const rows = yield* all(READ_ALL, runId, clockMs);
  return rows.map((row) => ({
    ...WAITS.parse(row),
    nowMs: readInteger(row, "now_ms"),
    isOver: readInteger(row, "is_over") === 1,
  }));
}

/** What a list shows about the waits of a run. */
export interface WaitFacts {
  /** The first time at which one of them ends by itself. */
  readonly dueAtMs: number | null;
  /** The name of one of the signals. */
  readonly signal: string | null;
  readonly isOver: boolean;
}

/** @param list the parameters of the ids */
export function* readWaitFacts(ids: readonly string[], list: string): Transaction<Map<string, WaitFacts>> {
  const rows = yield* all(
    `SELECT w.run_id AS run_id, MIN(w.due_at_ms) AS due_at_ms, MIN(w.signal) AS signal,
       MAX(CASE WHEN w.due_at_ms <= {now} OR ${HAS_SIGNAL} THEN 1 ELSE 0 END) AS is_over
     FROM toolwright_waits w WHERE w.run_id IN (${list}) GROUP BY w.run_id`,
    ...ids,
  );
  const facts = rows.map((row) => ({
    runId: readText(row, "run_id"),
    dueAtMs: readIntegerOrNull(row, "due_at_ms"),
    signal: readTextOrNull(row, "signal"),
    isOver: readInteger(row, "is_over") === 1,
  }));
  return new Map(facts.map(({ runId, ...one }) => [runId, one]));
}
