/** Runs of dead owners: how workers find them, and how often one was taken over without any progress. */
import { readInteger } from "./columns.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { type OwnerRow, toOwnerRow, OWNER_COLUMNS } from "./owners.ts";

const LIST = `SELECT ${OWNER_COLUMNS} FROM toolwright_owners WHERE id IN
  (SELECT owner_id FROM toolwright_runs WHERE owner_id IS NOT NULL AND ready_at_ms IS NULL)`;

/** The owners of runs at work. */
export function* listOwnersAtWork(): Transaction<OwnerRow[]> {
  return (yield* all(LIST)).map(toOwnerRow);
}

/** Its process does not exist any more, so it will not renew its lease. 0 when it has ended already. */
export function declareDead(ownerId: string): Transaction<number> {
  return change(
    "UPDATE toolwright_owners SET ended_at_ms = {now} WHERE id = ?1 AND ended_at_ms IS NULL",
    ownerId,
  );
}

/**
 * The runs of an owner that has died wait for a worker: workflows, and what was enqueued. Other runs are resumed by their own
 * program. @returns how many
 */
export function readyRunsOf(ownerId: string): Transaction<number> {
  return change(
    `UPDATE toolwright_runs SET ready_at_ms = {now}, is_due = 1, sent_at_ms = NULL, parked = NULL
     WHERE owner_id = ?1 AND ready_at_ms IS NULL AND status = 'open' AND state = 'running'
       AND (kind = 'workflow' OR claimed_by IS NOT NULL)`,
    ownerId,
  );
}

/** What a run has done, as a number that differs after any progress. */
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

/** The same for owners whose rows retention has deleted. */
export function readyRunsWithoutOwner(): Transaction<number> {
  return change(
    `UPDATE toolwright_runs SET ready_at_ms = {now}, is_due = 1, sent_at_ms = NULL, parked = NULL
     WHERE owner_id IS NOT NULL AND ready_at_ms IS NULL AND status = 'open' AND state = 'running'
       AND (kind = 'workflow' OR claimed_by IS NOT NULL)
       AND NOT EXISTS (SELECT 1 FROM toolwright_owners o WHERE o.id = toolwright_runs.owner_id)`,
  );
}
