/** Processes that own calls and scopes: who they are, and until when they may be believed to be alive. */
import { integer, integerOrNull, text } from "./columns.ts";
import { change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";

export const LEASE_MS = 30_000;

export interface OwnerRow {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly processStart: string;
  /** Negative once the lease has run out, by the database's clock. */
  readonly leaseLeftMs: number;
  readonly ended: boolean;
}

export function* registerOwner(owner: {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly processStart: string;
}): Transaction<void> {
  yield* change(
    `INSERT INTO toolwright_owners (id, host, pid, process_start, lease_until_ms)
     VALUES (?1, ?2, ?3, ?4, {now} + ${LEASE_MS}) ON CONFLICT DO NOTHING`,
    owner.id,
    owner.host,
    owner.pid,
    owner.processStart,
  );
}

/** 0 when the row is gone: retention took this process for dead. */
export function renewLease(ownerId: string): Transaction<number> {
  return change(`UPDATE toolwright_owners SET lease_until_ms = {now} + ${LEASE_MS} WHERE id = ?1`, ownerId);
}

export function* endOwner(ownerId: string): Transaction<void> {
  yield* change("UPDATE toolwright_owners SET ended_at_ms = {now} WHERE id = ?1", ownerId);
}

export function* readOwner(ownerId: string): Transaction<OwnerRow | undefined> {
  const row = yield* first(
    "SELECT id, host, pid, process_start, lease_until_ms - {now} AS lease_left_ms, ended_at_ms FROM toolwright_owners WHERE id = ?1",
    ownerId,
  );
  if (row === undefined) return undefined;
  return {
    id: text(row, "id"),
    host: text(row, "host"),
    pid: integer(row, "pid"),
    processStart: text(row, "process_start"),
    leaseLeftMs: integer(row, "lease_left_ms"),
    ended: integerOrNull(row, "ended_at_ms") !== null,
  };
}
