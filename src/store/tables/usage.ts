/** The usage of budgets, and the reservations of calls in flight. Both survive restarts. */
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { columns, real, type RowOf, text } from "./table.ts";

const USAGE = columns({
  used: real("used"),
  /** The most that one call has used so far. */
  peak: real("peak"),
});

const RESERVATIONS = columns({
  callKey: text("call_key"),
  ownerId: text("owner_id"),
  amount: real("amount"),
});

/** A reservation belongs to one call of one owner. */
const HOLDERS = RESERVATIONS.pick("callKey", "ownerId");

export type Usage = RowOf<(typeof USAGE)["map"]>;
export type Reservation = RowOf<(typeof RESERVATIONS)["map"]>;
export type Holder = RowOf<(typeof HOLDERS)["map"]>;

const SELECT = `SELECT ${USAGE.list()} FROM toolwright_usage WHERE run_id = ?1 AND name = ?2`;
const SELECT_LOCKED = `${SELECT} {update}`;

/** Locks the budget, so that a decision based on it holds until the commit. */
export function* readUsage(runId: string, name: string): Transaction<Usage> {
  yield* change(
    "INSERT INTO toolwright_usage (run_id, name) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
    runId,
    name,
  );
  const row = yield* first(SELECT_LOCKED, runId, name);
  return row === undefined ? { used: 0, peak: 0 } : USAGE.parse(row);
}

/** Without a lock, and without creating a row. */
export function* peekUsage(runId: string, name: string): Transaction<Usage | undefined> {
  const row = yield* first(SELECT, runId, name);
  return row === undefined ? undefined : USAGE.parse(row);
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

const LIST_RESERVATIONS = `SELECT ${RESERVATIONS.list()} FROM toolwright_reservations WHERE run_id = ?1 AND name = ?2`;

export function* readReservations(runId: string, name: string): Transaction<Reservation[]> {
  return (yield* all(LIST_RESERVATIONS, runId, name)).map(RESERVATIONS.parse);
}

const RESERVE = `INSERT INTO toolwright_reservations (run_id, name, ${RESERVATIONS.list()})
VALUES (?1, ?2, ${RESERVATIONS.parameters(3)})
ON CONFLICT (run_id, name, call_key) DO UPDATE SET ${RESERVATIONS.omit("callKey").excluded()}`;

export function reserve(runId: string, name: string, reservation: Reservation): Transaction<number> {
  return change(RESERVE, runId, name, ...RESERVATIONS.values(reservation));
}

/** Moves a part of a reservation to the usage. */
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

/** Releases the reservations of one call: budgets, its slot, its breaker probe. Those of a later owner stay. */
export function releaseReservationsOf(callKey: string, ownerId: string): Transaction<number> {
  return change(
    "DELETE FROM toolwright_reservations WHERE call_key = ?1 AND owner_id = ?2",
    callKey,
    ownerId,
  );
}

const LIST_HOLDERS = `SELECT DISTINCT ${HOLDERS.list()} FROM toolwright_reservations`;

/** Reservations exist only while calls with budgets are in flight, so these are few. */
export function* holdersOfReservations(): Transaction<Holder[]> {
  return (yield* all(LIST_HOLDERS)).map(HOLDERS.parse);
}
