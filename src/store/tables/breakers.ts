/** Circuit breakers: consecutive failures of a tool in a run, or in the whole store. */
import { readInteger } from "./columns.ts";
import { change, first, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { columns, integer, integerOrNull, type RowOf } from "./table.ts";
import { SKEW_MS } from "../../util/clock.ts";

const BREAKERS = columns({
  failures: integer("failures"),
  openedAtMs: integerOrNull("opened_at_ms"),
  probeUntilMs: integerOrNull("probe_until_ms"),
});

export type BreakerRow = RowOf<(typeof BREAKERS)["map"]>;

const SELECT = `SELECT ${BREAKERS.list()} FROM toolwright_breakers WHERE run_id = ?1 AND tool_name = ?2`;
const SELECT_LOCKED = `${SELECT} {update}`;

/** @param runId `""` for the breaker that all runs share */
export function* readBreaker(runId: string, toolName: string): Transaction<BreakerRow | undefined> {
  return toBreakerRow(yield* first(SELECT, runId, toolName));
}

/** The same, locked: no other call counts its end until the commit, so later reads show the same moment. */
export function* lockBreaker(runId: string, toolName: string): Transaction<BreakerRow | undefined> {
  return toBreakerRow(yield* first(SELECT_LOCKED, runId, toolName));
}

function toBreakerRow(row: Row | undefined): BreakerRow | undefined {
  return row === undefined ? undefined : BREAKERS.parse(row);
}

/**
 * Lets one caller probe whether the tool works again. 0 when another caller holds the probe. A probe that ends later than
 * this one would was granted before the clock was set back: it counts as expired.
 */
export function takeProbe(
  runId: string,
  toolName: string,
  nowMs: number,
  untilMs: number,
): Transaction<number> {
  return change(
    `UPDATE toolwright_breakers SET probe_until_ms = ?4
     WHERE run_id = ?1 AND tool_name = ?2 AND opened_at_ms IS NOT NULL
       AND (probe_until_ms IS NULL OR probe_until_ms <= ?3 OR probe_until_ms > ?5)`,
    runId,
    toolName,
    nowMs,
    untilMs,
    untilMs + SKEW_MS,
  );
}

export function* countFailure(
  runId: string,
  toolName: string,
  threshold: number,
  nowMs: number,
): Transaction<{ readonly opened: boolean }> {
  const row = yield* first(
    `INSERT INTO toolwright_breakers (run_id, tool_name, failures, opened_at_ms)
     VALUES (?1, ?2, 1, CASE WHEN CAST(?3 AS BIGINT) <= 1 THEN CAST(?4 AS BIGINT) END)
     ON CONFLICT (run_id, tool_name) DO UPDATE SET failures = toolwright_breakers.failures + 1, probe_until_ms = NULL,
       opened_at_ms = CASE WHEN toolwright_breakers.failures + 1 >= ?3 THEN ?4 END
     RETURNING failures`,
    runId,
    toolName,
    threshold,
    nowMs,
  );
  return { opened: row !== undefined && readInteger(row, "failures") >= threshold };
}

/** Only the probing call closes an open breaker, not a call that was already in flight. */
export function countSuccess(runId: string, toolName: string, isProbe: boolean): Transaction<number> {
  return change(
    `UPDATE toolwright_breakers SET failures = 0, opened_at_ms = NULL, probe_until_ms = NULL
     WHERE run_id = ?1 AND tool_name = ?2 AND failures > 0 AND (opened_at_ms IS NULL OR CAST(?3 AS BIGINT) = 1)`,
    runId,
    toolName,
    isProbe ? 1 : 0,
  );
}
