/** What a run has used of its budgets, and what its calls in flight hold of them. Kept over restarts. */
import { integer, text } from "./columns.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";

export interface Usage {
  readonly used: number;
  /** The most that one call has used so far. */
  readonly peak: number;
}

export interface Reservation {
  readonly callKey: string;
  readonly ownerId: string;
  readonly amount: number;
}

/** Locks the budget, so that what is decided on it holds until the commit. */
export function* readUsage(runId: string, name: string): Transaction<Usage> {
  yield* change(
    "INSERT INTO toolwright_usage (run_id, name) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
    runId,
    name,
  );
  const row = yield* first(
    "SELECT used, peak FROM toolwright_usage WHERE run_id = ?1 AND name = ?2 {update}",
    runId,
    name,
  );
  return row === undefined
    ? { used: 0, peak: 0 }
    : { used: integer(row, "used"), peak: integer(row, "peak") };
}

/** Without a lock, and without making a row. */
export function* peekUsage(runId: string, name: string): Transaction<Usage | undefined> {
  const row = yield* first(
    "SELECT used, peak FROM toolwright_usage WHERE run_id = ?1 AND name = ?2",
    runId,
    name,
  );
  return row === undefined ? undefined : { used: integer(row, "used"), peak: integer(row, "peak") };
}

export function addUsage(runId: string, name: string, amount: number): Transaction<number> {
  return change(
    `INSERT INTO toolwright_usage (run_id, name, used, peak)
     VALUES (?1, ?2, CAST(?3 AS DOUBLE PRECISION), CAST(?3 AS DOUBLE PRECISION))
     ON CONFLICT (run_id, name) DO UPDATE SET used = toolwright_usage.used + excluded.used,
       peak = CASE WHEN toolwright_usage.peak > excluded.peak THEN toolwright_usage.peak ELSE excluded.peak END`,
    runId,
    name,
    amount,
  );
}

export function* readReservations(runId: string, name: string): Transaction<Reservation[]> {
  const rows = yield* all(
    "SELECT call_key, owner_id, amount FROM toolwright_reservations WHERE run_id = ?1 AND name = ?2",
    runId,
    name,
  );
  return rows.map((row) => ({
    callKey: text(row, "call_key"),
    ownerId: text(row, "owner_id"),
    amount: integer(row, "amount"),
  }));
}

export function reserve(runId: string, name: string, reservation: Reservation): Transaction<number> {
  return change(
    `INSERT INTO toolwright_reservations (run_id, name, call_key, owner_id, amount)
     VALUES (?1, ?2, ?3, ?4, CAST(?5 AS DOUBLE PRECISION))
     ON CONFLICT (run_id, name, call_key) DO UPDATE SET owner_id = excluded.owner_id, amount = excluded.amount`,
    runId,
    name,
    reservation.callKey,
    reservation.ownerId,
    reservation.amount,
  );
}

/** A part of it was spent, and is counted as used from now on. */
export function spendReservation(
  runId: string,
  name: string,
  callKey: string,
  amount: number,
): Transaction<number> {
  return change(
    `UPDATE toolwright_reservations
     SET amount = CASE WHEN amount > CAST(?4 AS DOUBLE PRECISION) THEN amount - CAST(?4 AS DOUBLE PRECISION) ELSE 0 END
     WHERE run_id = ?1 AND name = ?2 AND call_key = ?3`,
    runId,
    name,
    callKey,
    amount,
  );
}

export function releaseReservation(runId: string, name: string, callKey: string): Transaction<number> {
  return change(
    "DELETE FROM toolwright_reservations WHERE run_id = ?1 AND name = ?2 AND call_key = ?3",
    runId,
    name,
    callKey,
  );
}

/** Releases all that one call holds: budgets, its place, its part in a breaker. Not what a later owner of that call holds. */
export function releaseReservationsOf(callKey: string, ownerId: string): Transaction<number> {
  return change(
    "DELETE FROM toolwright_reservations WHERE call_key = ?1 AND owner_id = ?2",
    callKey,
    ownerId,
  );
}

/** Who holds a reservation: one call of one owner. */
export interface Holder {
  readonly ownerId: string;
  readonly callKey: string;
}

/** Reservations exist only while calls with budgets are in flight, so these are few. */
export function* holdersOfReservations(): Transaction<Holder[]> {
  const rows = yield* all("SELECT DISTINCT owner_id, call_key FROM toolwright_reservations");
  return rows.map((row) => ({ ownerId: text(row, "owner_id"), callKey: text(row, "call_key") }));
}
