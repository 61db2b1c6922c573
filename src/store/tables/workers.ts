/** The workers of a store, and what each of them runs. A worker lives as long as its owner. */
import { readInteger, readIntegerOrNull } from "./columns.ts";
import { all, change, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { type OwnerRow, OWNER_COLUMNS, toOwnerRow } from "./owners.ts";
import { columns, flag, integer, oneOf, type RowOf, text, textOrNull } from "./table.ts";

const WORKERS = columns({
  ownerId: text("owner_id"),
  name: text("name"),
  build: textOrNull("build"),
  labelsJson: text("labels_json"),
  servesJson: text("serves_json"),
  sharedRoot: flag("shared_root"),
  concurrency: integer("concurrency"),
  state: oneOf("state", ["active", "draining"]),
  startedAtMs: integer("started_at_ms"),
});

export type WorkerRow = RowOf<(typeof WORKERS)["map"]>;

export interface ListedWorker extends WorkerRow {
  readonly owner: OwnerRow;
  readonly runs: number;
  /** When it last renewed its lease. */
  readonly seenAtMs: number | null;
}

const SAVE = `INSERT INTO toolwright_workers (${WORKERS.list()}) VALUES (${WORKERS.parameters()})
ON CONFLICT (owner_id) DO UPDATE SET ${WORKERS.excluded()}`;

export function saveWorker(worker: WorkerRow): Transaction<number> {
  return change(SAVE, ...WORKERS.values(worker));
}

export function deleteWorker(ownerId: string): Transaction<number> {
  return change("DELETE FROM toolwright_workers WHERE owner_id = ?1", ownerId);
}

const LIST = `SELECT ${WORKERS.list("w")}, o.lease_until_ms - o.lease_ms AS seen_at_ms, ${OWNER_COLUMNS},
  (SELECT CAST(COUNT(*) AS BIGINT) FROM toolwright_runs r WHERE r.owner_id = w.owner_id AND r.state = 'running') AS runs
FROM toolwright_workers w JOIN toolwright_owners o ON o.id = w.owner_id ORDER BY w.started_at_ms, w.owner_id`;

/** Includes dead workers, until retention deletes their owners. */
export function* listWorkerRows(): Transaction<ListedWorker[]> {
  return (yield* all(LIST)).map(toListed);
}

function toListed(row: Row): ListedWorker {
  return {
    ...WORKERS.parse(row),
    owner: toOwnerRow(row),
    runs: readInteger(row, "runs"),
    seenAtMs: readIntegerOrNull(row, "seen_at_ms"),
  };
}
