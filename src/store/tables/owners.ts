/** Processes that own calls and scopes, with their leases. */
import { readInteger } from "./columns.ts";
import { all, change, first, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { columns, flag, integer, integerOrNull, type RowOf, text } from "./table.ts";

export const LEASE_MS = 30_000;

const NEW_OWNER = columns({
  id: text("id"),
  host: text("host"),
  pid: integer("pid"),
  processStart: text("process_start"),
});

const OWNERS = columns({
  ...NEW_OWNER.map,
  endedAtMs: integerOrNull("ended_at_ms"),
  /** Its lease decides even on its own host: a stopped worker is taken over although its process exists. */
  isWorker: flag("is_worker"),
});

type NewOwner = RowOf<(typeof NEW_OWNER)["map"]>;

/** How long an owner may be silent. */
export interface Lease {
  readonly leaseMs: number;
  readonly isWorker: boolean;
}

const DEFAULT_LEASE: Lease = { leaseMs: LEASE_MS, isWorker: false };

interface StoredOwner extends NewOwner {
  /** The process released its lease itself. */
  readonly ended: boolean;
  readonly isWorker: boolean;
}

export interface OwnerRow extends StoredOwner {
  /** Negative once the lease has expired, by the database's clock. */
  readonly leaseLeftMs: number;
}

const REGISTER = `INSERT INTO toolwright_owners (lease_ms, is_worker, ${NEW_OWNER.list()}, lease_until_ms)
VALUES (CAST(?1 AS BIGINT), CAST(?2 AS BIGINT), ${NEW_OWNER.parameters(3)}, {now} + CAST(?1 AS BIGINT)) ON CONFLICT DO NOTHING`;

export function* registerOwner(owner: NewOwner, lease: Lease = DEFAULT_LEASE): Transaction<void> {
  yield* change(REGISTER, ...NEW_OWNER.values(owner, [lease.leaseMs, Number(lease.isWorker)]));
}

/** 0 when the row is gone: retention considered this process dead. */
export function renewLease(ownerId: string): Transaction<number> {
  return change("UPDATE toolwright_owners SET lease_until_ms = {now} + lease_ms WHERE id = ?1", ownerId);
}

/** Changes the length of the lease, and renews it. 0 when the row is gone. */
export function setLease(ownerId: string, { leaseMs, isWorker }: Lease): Transaction<number> {
  return change(
    `UPDATE toolwright_owners SET lease_ms = ?2, is_worker = ?3, lease_until_ms = {now} + CAST(?2 AS BIGINT) WHERE id = ?1`,
    ownerId,
    leaseMs,
    Number(isWorker),
  );
}

/** No process writes such a time, so the clock of the database was set back since. */
const IS_IN_FUTURE = "ended_at_ms IS NULL AND lease_until_ms > {now} + lease_ms";

export function* hasFutureLeases(): Transaction<boolean> {
  return (
    (yield* first(`SELECT 1 AS found FROM toolwright_owners WHERE ${IS_IN_FUTURE} LIMIT 1`)) !== undefined
  );
}

/**
 * Lets leases in the future count from now: a dead owner would seem alive until the clock has caught up. A live owner renews
 * its lease before it ends.
 */
export function shortenFutureLeases(): Transaction<number> {
  return change(
    `UPDATE toolwright_owners SET lease_until_ms = {now} + lease_ms
     WHERE id IN (SELECT id FROM toolwright_owners WHERE ${IS_IN_FUTURE} {skip})`,
  );
}

export function* endOwner(ownerId: string): Transaction<void> {
  yield* change("UPDATE toolwright_owners SET ended_at_ms = {now} WHERE id = ?1", ownerId);
}

/** For queries of several owners. */
export const OWNER_COLUMNS = `${OWNERS.list()}, lease_until_ms - {now} AS lease_left_ms`;

const READ = `SELECT ${OWNER_COLUMNS} FROM toolwright_owners WHERE id = ?1`;

export function* readOwner(ownerId: string): Transaction<OwnerRow | undefined> {
  const row = yield* first(READ, ownerId);
  return row && toOwnerRow(row);
}

export function toOwnerRow(row: Row): OwnerRow {
  return { ...toOwner(row), leaseLeftMs: readInteger(row, "lease_left_ms") };
}

export interface PastOwner extends StoredOwner {
  /** Since it ended, or since its lease expired: a suspended process may still be alive. */
  readonly pastMs: number;
}

const PAST = "COALESCE(ended_at_ms, lease_until_ms)";

const LIST_PAST = `SELECT ${OWNERS.list()}, {now} - ${PAST} AS past_ms
FROM toolwright_owners WHERE ${PAST} <= {now} - CAST(?1 AS BIGINT)`;

export function* listPastOwners(olderThanMs: number): Transaction<PastOwner[]> {
  const rows = yield* all(LIST_PAST, olderThanMs);
  return rows.map((row) => ({ ...toOwner(row), pastMs: readInteger(row, "past_ms") }));
}

/** 0 when it has renewed its lease in the meantime. */
export function* deleteOwner(id: string, olderThanMs: number): Transaction<number> {
  const changes = yield* change(
    `DELETE FROM toolwright_owners WHERE id = ?1 AND ${PAST} <= {now} - CAST(?2 AS BIGINT)`,
    id,
    olderThanMs,
  );
  if (changes > 0) yield* change("DELETE FROM toolwright_workers WHERE owner_id = ?1", id);
  return changes;
}

function toOwner(row: Row): StoredOwner {
  const { endedAtMs, ...owner } = OWNERS.parse(row);
  return { ...owner, ended: endedAtMs !== null };
}
