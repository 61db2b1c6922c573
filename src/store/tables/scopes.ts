/**
 * Scopes: where calls count and who may write there. `attempt` only grows; `epoch` grows with every owner, so that
 * one that was taken over cannot write any more.
 */
import { CANONICAL_VERSION, type CanonicalVersion } from "../../util/canonical.ts";
import { integer, text, textOrNull } from "./columns.ts";
import { all, change, first, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { assertNotDeleted } from "./tombstones.ts";

export interface ScopeKey {
  readonly runId: string;
  readonly nodeId: string;
  readonly iteration: number;
  readonly path: string;
  readonly parentKey: string;
}

export interface ScopeRow {
  readonly id: number;
  readonly attempt: number;
  readonly epoch: number;
  readonly ownerId: string | null;
  /** How the keys of its calls are derived. */
  readonly keyVersion: CanonicalVersion;
}

const COLUMNS = "id, attempt, epoch, owner_id, key_version";

/** Finds or makes the scope. A later attempt becomes the current one; an earlier one changes nothing. */
export function* ensureScope(key: ScopeKey, attempt: number, nowMs: number): Transaction<ScopeRow> {
  const known = yield* findScope(key);
  if (known === undefined) {
    yield* touchRun(key.runId, nowMs);
    yield* change(
      `INSERT INTO toolwright_scopes (run_id, node_id, iteration, path, parent_key, attempt, epoch, key_version)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ${CANONICAL_VERSION}) ON CONFLICT DO NOTHING`,
      key.runId,
      key.nodeId,
      key.iteration,
      key.path,
      key.parentKey,
      attempt,
    );
    // Another process may have been faster; what is there counts.
    return yield* ensureScope(key, attempt, nowMs);
  }
  if (attempt <= known.attempt) return known;
  yield* change(
    "UPDATE toolwright_scopes SET attempt = ?2 WHERE id = ?1 AND attempt < ?2",
    known.id,
    attempt,
  );
  return { ...known, attempt };
}

export function* findScope(key: ScopeKey): Transaction<ScopeRow | undefined> {
  const row = yield* first(
    `SELECT ${COLUMNS} FROM toolwright_scopes WHERE run_id = ?1 AND node_id = ?2 AND path = ?3 AND parent_key = ?4 {update}`,
    key.runId,
    key.nodeId,
    key.path,
    key.parentKey,
  );
  return row === undefined ? undefined : toScopeRow(row);
}

export function* readScope(id: number): Transaction<ScopeRow | undefined> {
  const row = yield* first(`SELECT ${COLUMNS} FROM toolwright_scopes WHERE id = ?1`, id);
  return row === undefined ? undefined : toScopeRow(row);
}

/** Takes the scope for `ownerId` with a new epoch. The caller has made sure, in this transaction, that it may. */
export function* takeScope(id: number, ownerId: string): Transaction<number> {
  const row = yield* first(
    "UPDATE toolwright_scopes SET owner_id = ?2, epoch = epoch + 1 WHERE id = ?1 RETURNING epoch",
    id,
    ownerId,
  );
  return row === undefined ? 0 : integer(row, "epoch");
}

export function* releaseScope(id: number, epoch: number): Transaction<void> {
  yield* change("UPDATE toolwright_scopes SET owner_id = NULL WHERE id = ?1 AND epoch = ?2", id, epoch);
}

/**
 * The task has ended: what of it is still under way cannot begin anything any more. On PostgreSQL this waits for those
 * who are about to write, so that what they write is seen after it.
 */
export function sealScopes(task: Pick<ScopeKey, "runId" | "nodeId" | "path">): Transaction<number> {
  return change(
    `UPDATE toolwright_scopes SET owner_id = NULL, epoch = epoch + 1
     WHERE run_id = ?1 AND node_id = ?2 AND path = ?3 AND parent_key = ''`,
    task.runId,
    task.nodeId,
    task.path,
  );
}

/** The keys of all calls on record in a scope: what is not among them is new, and needs no look-up. */
export function* keysOfScope(id: number): Transaction<Set<string>> {
  const rows = yield* all("SELECT key FROM toolwright_calls WHERE scope_id = ?1", id);
  return new Set(rows.map((row) => text(row, "key")));
}

function* touchRun(runId: string, nowMs: number): Transaction<void> {
  yield* change(
    `INSERT INTO toolwright_runs (id, status, created_at_ms, updated_at_ms) VALUES (?1, 'open', ?2, ?2)
     ON CONFLICT DO NOTHING`,
    runId,
    nowMs,
  );
  yield* assertNotDeleted(runId);
}

function toScopeRow(row: Row): ScopeRow {
  return {
    id: integer(row, "id"),
    attempt: integer(row, "attempt"),
    epoch: integer(row, "epoch"),
    ownerId: textOrNull(row, "owner_id"),
    keyVersion: integer(row, "key_version") as CanonicalVersion,
  };
}
