/** Runs of dead owners: how workers find them, and how often one was taken over without any progress. */
import { readInteger } from "./columns.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { type OwnerRow, toOwnerRow, OWNER_COLUMNS } from "./owners.ts";
import { quoted, type Served } from "./queue.ts";
import { IS_FOR_WORKERS, listedName } from "./runs.ts";

/** Statements about the runs that workers take over, built once per worker. */
export interface TakeoverStatements {
  /** Includes runs that a decision or a signal has marked already: nothing else finds out that their owner is dead. */
  readonly listOwners: string;
  readonly readyOf: string;
  readonly readyOrphans: string;
}

/**
 * Workers take over workflows, enqueued runs, and agents and programs that this worker knows by name. A workflow that no
 * worker knows is marked as well, so that operators read why it waits.
 */
export function takeoverStatements(served: readonly Served[]): TakeoverStatements {
  const named = served
    .filter(({ kind }) => kind !== "workflow")
    .map(
      ({ kind, name }) =>
        ` OR (kind = '${kind}' AND name = ${quoted(listedName(name))} AND ${IS_FOR_WORKERS})`,
    );
  const isRunning = `status = 'open' AND state = 'running'
    AND (kind = 'workflow' OR claimed_by IS NOT NULL${named.join("")})`;
  const mayTake = `ready_at_ms IS NULL AND ${isRunning}`;
  const mark =
    "UPDATE toolwright_runs SET ready_at_ms = {now}, is_due = 1, sent_at_ms = NULL, parked = NULL WHERE";
  return {
    listOwners: `SELECT ${OWNER_COLUMNS} FROM toolwright_owners WHERE id IN
      (SELECT owner_id FROM toolwright_runs WHERE owner_id IS NOT NULL AND ${mayTake})
      OR ended_at_ms IS NULL AND id IN
      (SELECT owner_id FROM toolwright_runs WHERE owner_id IS NOT NULL AND is_due = 1 AND ${isRunning})`,
    readyOf: `${mark} owner_id = ?1 AND ${mayTake}`,
    readyOrphans: `${mark} owner_id IS NOT NULL AND ${mayTake}
      AND NOT EXISTS (SELECT 1 FROM toolwright_owners o WHERE o.id = toolwright_runs.owner_id)`,
  };
}

/** The owners of runs in progress. */
export function* listOwnersAtWork({ listOwners }: TakeoverStatements): Transaction<OwnerRow[]> {
  return (yield* all(listOwners)).map(toOwnerRow);
}

/** Its process no longer exists, so it will not renew its lease. 0 when it has ended already. */
export function declareDead(ownerId: string): Transaction<number> {
  return change(
    "UPDATE toolwright_owners SET ended_at_ms = {now} WHERE id = ?1 AND ended_at_ms IS NULL",
    ownerId,
  );
}

/** The runs of an owner that has died wait for a worker. @returns how many */
export function readyRunsOf({ readyOf }: TakeoverStatements, ownerId: string): Transaction<number> {
  return change(readyOf, ownerId);
}

/** The same for owners whose rows retention has deleted. */
export function readyRunsWithoutOwner({ readyOrphans }: TakeoverStatements): Transaction<number> {
  return change(readyOrphans);
}

/** The progress of a run, as a number that changes with every step. */
const DONE = `(SELECT COUNT(*) FROM toolwright_scopes s JOIN toolwright_calls c ON c.scope_id = s.id
    WHERE s.run_id = ?1 AND c.status <> 'started')
  + (SELECT COUNT(*) FROM toolwright_scopes s JOIN toolwright_responses a ON a.scope_id = s.id WHERE s.run_id = ?1)
  + (SELECT COALESCE(SUM(1000 * attempt + CASE WHEN status = 'running' THEN 0 ELSE 1 END), 0)
    FROM toolwright_tasks WHERE run_id = ?1)`;

/** A run is taken over from a dead owner. Returns how often in a row that happened without progress, this time included. */
export function* countTakeover(runId: string): Transaction<number> {
  const row = yield* first(
    `SELECT takeovers, progress, CAST(${DONE} AS BIGINT) AS done FROM toolwright_runs WHERE id = ?1`,
    runId,
  );
  if (row === undefined) return 1;
  const done = readInteger(row, "done");
  const isSame = readInteger(row, "takeovers") > 0 && done === readInteger(row, "progress");
  const takeovers = isSame ? readInteger(row, "takeovers") + 1 : 1;
  yield* change(
    "UPDATE toolwright_runs SET takeovers = ?2, progress = ?3 WHERE id = ?1",
    runId,
    takeovers,
    done,
  );
  return takeovers;
}

/** An operator resumes the run: the cause of its crashes may be fixed, so they are counted from the start. */
export function forgetTakeovers(runId: string): Transaction<number> {
  return change("UPDATE toolwright_runs SET takeovers = 0 WHERE id = ?1", runId);
}
