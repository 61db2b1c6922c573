/** Schedules, and the times of which a run still has to be started. */
import { readInteger, readText } from "./columns.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { columns, flag, integer, integerOrNull, oneOf, type RowOf, text, textOrNull } from "./table.ts";

const SCHEDULES = columns({
  name: text("name"),
  workflow: text("workflow"),
  cron: textOrNull("cron"),
  everyMs: integerOrNull("every_ms"),
  tz: text("tz"),
  inputJson: text("input_json"),
  overlap: oneOf("overlap", ["skip", "queue"] as const),
  catchUp: oneOf("catch_up", ["none", "last"] as const),
  paused: flag("paused"),
  setAtMs: integer("set_at_ms"),
  nextAtMs: integerOrNull("next_at_ms"),
  lastAtMs: integerOrNull("last_at_ms"),
  lastRunId: textOrNull("last_run_id"),
  skipped: integer("skipped"),
});

export type ScheduleRow = RowOf<(typeof SCHEDULES)["map"]>;

const SAVE = `INSERT INTO toolwright_schedules (${SCHEDULES.list()}) VALUES (${SCHEDULES.parameters()})
ON CONFLICT (name) DO UPDATE SET ${SCHEDULES.omit("name").excluded()}`;

export function saveSchedule(schedule: ScheduleRow): Transaction<number> {
  return change(SAVE, ...SCHEDULES.values(schedule));
}

const QUEUED =
  "(SELECT CAST(COUNT(*) AS BIGINT) FROM toolwright_queued_firings f WHERE f.name = toolwright_schedules.name) AS queued";

export interface ListedSchedule extends ScheduleRow {
  readonly queued: number;
}

export function* listScheduleRows(): Transaction<ListedSchedule[]> {
  const rows = yield* all(`SELECT ${SCHEDULES.list()}, ${QUEUED} FROM toolwright_schedules ORDER BY name`);
  return rows.map((row) => ({ ...SCHEDULES.parse(row), queued: readInteger(row, "queued") }));
}

/** Locked until the transaction ends. */
export function* lockSchedule(name: string): Transaction<ScheduleRow | undefined> {
  const row = yield* first(
    `SELECT ${SCHEDULES.list()} FROM toolwright_schedules WHERE name = ?1 {update}`,
    name,
  );
  return row && SCHEDULES.parse(row);
}

/** A schedule with its queued times. 0 when there is none with this name. */
export function* deleteSchedule(name: string): Transaction<number> {
  yield* change("DELETE FROM toolwright_queued_firings WHERE name = ?1", name);
  return yield* change("DELETE FROM toolwright_schedules WHERE name = ?1", name);
}

export function* readNow(): Transaction<number> {
  const row = yield* first("SELECT {now} AS now_ms");
  return row === undefined ? 0 : readInteger(row, "now_ms");
}

/**
 * Those whose time has come, and periods whose next time is too far away because the clock was set back.
 * Reads no schedule that does nothing now.
 */
export function* listDueSchedules(): Transaction<ScheduleRow[]> {
  const rows = yield* all(
    `SELECT ${SCHEDULES.list()} FROM toolwright_schedules
     WHERE next_at_ms IS NOT NULL AND paused = 0 AND (next_at_ms <= {now} OR next_at_ms > {now} + every_ms)
     ORDER BY next_at_ms, name`,
  );
  return rows.map(SCHEDULES.parse);
}

/** Milliseconds until the next schedule fires; `null` if none does. */
export function* readNextFiring(): Transaction<number | null> {
  const row = yield* first(
    `SELECT next_at_ms - {now} AS left_ms FROM toolwright_schedules
     WHERE next_at_ms IS NOT NULL AND paused = 0 ORDER BY next_at_ms LIMIT 1`,
  );
  return row === undefined ? null : Math.max(0, readInteger(row, "left_ms"));
}

export function queueFiring(name: string, atMs: number): Transaction<number> {
  return change(
    "INSERT INTO toolwright_queued_firings (name, at_ms) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
    name,
    atMs,
  );
}

/** Names of schedules that have something queued. */
export function* listQueues(): Transaction<string[]> {
  const rows = yield* all("SELECT DISTINCT name FROM toolwright_queued_firings ORDER BY name");
  return rows.map((row) => readText(row, "name"));
}

/** The oldest, removed from the queue. */
export function* takeFiring(name: string): Transaction<number | undefined> {
  const row = yield* first(
    "SELECT at_ms FROM toolwright_queued_firings WHERE name = ?1 ORDER BY at_ms LIMIT 1",
    name,
  );
  if (row === undefined) return undefined;
  const atMs = readInteger(row, "at_ms");
  yield* change("DELETE FROM toolwright_queued_firings WHERE name = ?1 AND at_ms = ?2", name, atMs);
  return atMs;
}

export function* hasQueue(name: string): Transaction<boolean> {
  const row = yield* first("SELECT 1 AS one FROM toolwright_queued_firings WHERE name = ?1 LIMIT 1", name);
  return row !== undefined;
}

/** Whether the newest run of a schedule has not ended. */
export function* isRunOpen(runId: string | null): Transaction<boolean> {
  if (runId === null) return false;
  const row = yield* first(
    `SELECT 1 AS one FROM toolwright_runs WHERE id = ?1 AND status = 'open'
       AND state NOT IN ('finished', 'failed', 'cancelled')`,
    runId,
  );
  return row !== undefined;
}
