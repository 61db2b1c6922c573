/**
 * The limits of tools across processes. A place under `concurrency` is a reservation that belongs to no run, so whatever
 * releases the reservations of a call releases its place too. Processes that wait for a place queue here.
 */
import { readInteger, readText } from "./columns.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { type Holder, readReservations, releaseReservation, type Reservation, reserve } from "./usage.ts";

/** Places belong to no run. */
const NO_RUN = "";

/** A waiting process renews its position at least this often; otherwise the next process gets its turn. */
export const SEEN_MS = 2_000;

/** Locks the limit, so that a decision based on it holds until the commit. */
export function* lockLimit(name: string): Transaction<void> {
  // Retention may delete the row in between.
  for (;;) {
    yield* change("INSERT INTO toolwright_tool_limits (name) VALUES (?1) ON CONFLICT DO NOTHING", name);
    const row = yield* first("SELECT name FROM toolwright_tool_limits WHERE name = ?1 {update}", name);
    if (row !== undefined) return;
  }
}

export interface Places {
  /** The calls that hold a place. */
  readonly holders: readonly Reservation[];
  /** How many other processes have waited for longer. */
  readonly ahead: number;
}

/** A time in the far future means that the clock was set back since. A process that still waits soon says so again. */
const STILL_WAITS = `seen_until_ms > {now} AND seen_until_ms <= {now} + ${SEEN_MS}`;

const AHEAD = `SELECT CAST(COUNT(*) AS BIGINT) AS ahead FROM toolwright_limit_queue
WHERE name = ?1 AND owner_id <> ?2 AND ${STILL_WAITS} AND position < COALESCE(
  (SELECT position FROM toolwright_limit_queue WHERE name = ?1 AND owner_id = ?2), ${Number.MAX_SAFE_INTEGER})`;

export function* readPlaces(name: string, ownerId: string): Transaction<Places> {
  const holders = yield* readReservations(NO_RUN, name);
  const row = yield* first(AHEAD, name, ownerId);
  return { holders, ahead: row === undefined ? 0 : readInteger(row, "ahead") };
}

/** Takes a place, and leaves the queue. */
export function* takePlace(name: string, holder: Omit<Reservation, "amount">): Transaction<void> {
  yield* reserve(NO_RUN, name, { ...holder, amount: 1 });
  yield* change(
    `DELETE FROM toolwright_limit_queue WHERE name = ?1 AND (owner_id = ?2 OR NOT (${STILL_WAITS}))`,
    name,
    holder.ownerId,
  );
}

export function freePlace(name: string, callKey: string): Transaction<number> {
  return releaseReservation(NO_RUN, name, callKey);
}

/** Joins the queue at its end, or renews the position of this process. */
export function joinLimitQueue(name: string, ownerId: string): Transaction<number> {
  return change(
    `INSERT INTO toolwright_limit_queue (name, owner_id, position, seen_until_ms)
     SELECT ?1, ?2, (SELECT COALESCE(MAX(position), 0) + 1 FROM toolwright_limit_queue WHERE name = ?1), {now} + ${SEEN_MS}
     WHERE 1 = 1 ON CONFLICT (name, owner_id) DO UPDATE SET seen_until_ms = excluded.seen_until_ms`,
    name,
    ownerId,
  );
}

export function leaveLimitQueue(name: string, ownerId: string): Transaction<number> {
  return change("DELETE FROM toolwright_limit_queue WHERE name = ?1 AND owner_id = ?2", name, ownerId);
}

/** A call that holds a place waits for another limit, because a call inside it does. */
export interface NestedWait {
  readonly callKey: string;
  /** The limit that it waits for. */
  readonly name: string;
}

/** Such a wait is a reservation too, so that it ends with the call, and with its process. */
const WAITING = "waiting:";
/** The first text after all that begin with `WAITING`. */
const AFTER_WAITING = "waiting;";

export function noteWait(name: string, holder: Holder): Transaction<number> {
  return reserve(NO_RUN, `${WAITING}${name}`, { ...holder, amount: 0 });
}

export function endWaitNote({ callKey, name }: NestedWait): Transaction<number> {
  return releaseReservation(NO_RUN, `${WAITING}${name}`, callKey);
}

const NESTED_WAITS = `SELECT name, call_key FROM toolwright_reservations
WHERE run_id = '' AND name >= '${WAITING}' AND name < '${AFTER_WAITING}' ORDER BY name, call_key`;

/** The waits of all processes. They are few: a wait is stored only when it lasts. */
export function* readNestedWaits(): Transaction<NestedWait[]> {
  return (yield* all(NESTED_WAITS)).map((row) => ({
    callKey: readText(row, "call_key"),
    name: readText(row, "name").slice(WAITING.length),
  }));
}

/** The keys of the calls that hold places under these limits. */
export function* readHolders(names: Iterable<string>): Transaction<Map<string, readonly string[]>> {
  const holders = new Map<string, readonly string[]>();
  for (const name of new Set(names))
    holders.set(
      name,
      (yield* readReservations(NO_RUN, name)).map(({ callKey }) => callKey),
    );
  return holders;
}

/** A start in the far future means that the clock was set back since: it does not count. */
const WAIT = `SELECT at_ms + CAST(?2 AS BIGINT) - {now} AS wait_ms FROM toolwright_rate_starts
WHERE name = ?1 AND at_ms > {now} - CAST(?2 AS BIGINT) AND at_ms <= {now} + 1000
ORDER BY at_ms DESC LIMIT 1 OFFSET CAST(?3 AS BIGINT)`;

/** In how many milliseconds one more call may begin: 0 if it may now. */
export function* readRateWait(name: string, max: number, perMs: number): Transaction<number> {
  const row = yield* first(WAIT, name, perMs, max - 1);
  return row === undefined ? 0 : Math.max(1, readInteger(row, "wait_ms"));
}

/** A call begins now. */
export function* countStart(name: string, callKey: string, perMs: number): Transaction<void> {
  yield* change(
    `DELETE FROM toolwright_rate_starts
     WHERE name = ?1 AND at_ms <= {now} - CAST(?2 AS BIGINT) AND expires_at_ms <= {now}`,
    name,
    perMs,
  );
  yield* change(
    `INSERT INTO toolwright_rate_starts (name, at_ms, call_key, expires_at_ms)
     VALUES (?1, {now}, ?2, {now} + CAST(?3 AS BIGINT)) ON CONFLICT DO NOTHING`,
    name,
    callKey,
    perMs,
  );
}

/** Rows of limits that are not in use: their keys may never be used again. */
export function* deleteUnusedLimits(): Transaction<void> {
  yield* change("DELETE FROM toolwright_rate_starts WHERE expires_at_ms <= {now}");
  yield* change(`DELETE FROM toolwright_limit_queue WHERE NOT (${STILL_WAITS})`);
  yield* change(
    `DELETE FROM toolwright_tool_limits WHERE
       NOT EXISTS (SELECT 1 FROM toolwright_reservations r WHERE r.run_id = '' AND r.name = toolwright_tool_limits.name)
       AND NOT EXISTS (SELECT 1 FROM toolwright_rate_starts s WHERE s.name = toolwright_tool_limits.name)`,
  );
}
