/** Processes that own calls and scopes, with their leases. */
import { readInteger } from "./columns.ts";
import { all, change, first, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { columns, integer, integerOrNull, type RowOf, text } from "./table.ts";

export const LEASE_MS = 30_000;

const NEW_OWNER = columns({
  id: text("id"),
  host: text("host"),
  pid: integer("pid"),
  processStart: text("process_start"),
});

const OWNERS = columns({ ...NEW_OWNER.map, endedAtMs: integerOrNull("ended_at_ms") });

type NewOwner = RowOf<(typeof NEW_OWNER)["map"]>;

interface StoredOwner extends NewOwner {
  /** The process released its lease itself. */
  readonly ended: boolean;
}

export interface OwnerRow extends StoredOwner {
  /** Negative once the lease has expired, by the database's clock. */
  readonly leaseLeftMs: number;
}

const REGISTER = `INSERT INTO toolwright_owners (${NEW_OWNER.list()}, lease_until_ms)
VALUES (${NEW_OWNER.parameters()}, {now} + ${LEASE_MS}) ON CONFLICT DO NOTHING`;

export function* registerOwner(owner: NewOwner): Transaction<void> {
  yield* change(REGISTER, ...NEW_OWNER.values(owner));
}

/** 0 when the row is gone: retention considered this process dead. */
export function renewLease(ownerId: string): Transaction<number> {
  return change(`UPDATE toolwright_owners SET lease_until_ms = {now} + ${LEASE_MS} WHERE id = ?1`, ownerId);
}

export function* endOwner(ownerId: string): Transaction<void> {
  yield* change("UPDATE toolwright_owners SET ended_at_ms = {now} WHERE id = ?1", ownerId);
}

const READ = `SELECT ${OWNERS.list()}, lease_until_ms - {now} AS lease_left_ms FROM toolwright_owners WHERE id = ?1`;

export function* readOwner(ownerId: string): Transaction<OwnerRow | undefined> {
  const row = yield* first(READ, ownerId);
  return row && { ...toOwner(row), leaseLeftMs: readInteger(row, "lease_left_ms") };
}

export interface PastOwner extends StoredOwner {
  /** Since it ended, or since its lease expired: a suspended process may still be alive. */
  readonly pastMs: number;
}

const PAST = "COALESCE(ended_at_ms, lease_until_ms)";

const LIST_PAST = `SELECT ${OWNERS.list()}, {now} - ${PAST} AS past_ms
FROM toolwright_owners WHERE ${PAST} < {now} - CAST(?1 AS BIGINT)`;

export function* listPastOwners(olderThanMs: number): Transaction<PastOwner[]> {
  const rows = yield* all(LIST_PAST, olderThanMs);
  return rows.map((row) => ({ ...toOwner(row), pastMs: readInteger(row, "past_ms") }));
}

/** 0 when it has renewed its lease in the meantime. */
export function deleteOwner(id: string, olderThanMs: number): Transaction<number> {
  return change(
    `DELETE FROM toolwright_owners WHERE id = ?1 AND ${PAST} < {now} - CAST(?2 AS BIGINT)`,
    id,
    olderThanMs,
  );
}

function toOwner(row: Row): StoredOwner {
  const { endedAtMs, ...owner } = OWNERS.parse(row);
  return { ...owner, ended: endedAtMs !== null };
}
