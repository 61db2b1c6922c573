/** The outbox of jobs: ready runs for which the queue engine has no job, or had one that led to nothing. */
import { readInteger, readText } from "./columns.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";

export interface UnsentRun {
  readonly runId: string;
  readonly priority: number;
  readonly dueAtMs: number;
}

const LIST = `SELECT id, priority, ready_at_ms FROM toolwright_runs
WHERE ready_at_ms IS NOT NULL AND parked IS NULL AND status = 'open'
  AND (sent_at_ms IS NULL OR (is_due = 1 AND sent_at_ms < {now} - CAST(?1 AS BIGINT)))
ORDER BY ready_at_ms LIMIT ?2`;

/** @param resendMs a run that is due and was not claimed this long after its job was sent is sent again */
export function* listUnsent(resendMs: number, limit: number): Transaction<UnsentRun[]> {
  const rows = yield* all(LIST, resendMs, limit);
  return rows.map((row) => ({
    runId: readText(row, "id"),
    priority: readInteger(row, "priority"),
    dueAtMs: readInteger(row, "ready_at_ms"),
  }));
}

/** After the jobs were sent: a crash before this sends them twice, which changes nothing. Only on PostgreSQL. */
export function markSent(runIds: readonly string[]): Transaction<number> {
  return change(
    `UPDATE toolwright_runs SET sent_at_ms = {now}
     WHERE id IN (SELECT json_array_elements_text(CAST(?1 AS JSON))) AND ready_at_ms IS NOT NULL`,
    JSON.stringify(runIds),
  );
}

/** Notifications carry it: one database may hold several stores. Only on PostgreSQL. */
export function* readSchemaName(): Transaction<string> {
  const row = yield* first("SELECT CAST(current_schema() AS TEXT) AS name");
  return row === undefined ? "" : readText(row, "name");
}
