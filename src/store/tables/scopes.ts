/**
 * Scopes: where calls count and who may write there. `attempt` only grows; `epoch` grows with every owner, so that
 * one that was taken over cannot write any more.
 */
import { CANONICAL_VERSION, type CanonicalVersion } from "../../util/canonical.ts";
import { readInteger, readText } from "./columns.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { type Column, columns, integer, type RowOf, text, textOrNull } from "./table.ts";
import { assertNotDeleted } from "./tombstones.ts";

const SCOPE_KEY = columns({
  runId: text("run_id"),
  nodeId: text("node_id"),
  iteration: integer("iteration"),
  path: text("path"),
  parentKey: text("parent_key"),
});

const SCOPES = columns({
  id: integer("id"),
  attempt: integer("attempt"),
  epoch: integer("epoch"),
  ownerId: textOrNull("owner_id"),
  /** How the keys of its calls are derived. */
  keyVersion: integer("key_version") as Column<CanonicalVersion>,
});

export type ScopeKey = RowOf<(typeof SCOPE_KEY)["map"]>;
export type ScopeRow = RowOf<(typeof SCOPES)["map"]>;

const INSERT = `INSERT INTO toolwright_scopes (attempt, epoch, key_version, ${SCOPE_KEY.list()})
VALUES (?1, 1, ${CANONICAL_VERSION}, ${SCOPE_KEY.parameters(2)}) ON CONFLICT DO NOTHING`;

const FIND = `SELECT ${SCOPES.list()} FROM toolwright_scopes
WHERE run_id = ?1 AND node_id = ?2 AND path = ?3 AND parent_key = ?4 {update}`;

const READ = `SELECT ${SCOPES.list()} FROM toolwright_scopes WHERE id = ?1`;

/** Finds or makes the scope. A later attempt becomes the current one; an earlier one changes nothing. */
export function* ensureScope(key: ScopeKey, attempt: number, nowMs: number): Transaction<ScopeRow> {
  const known = yield* findScope(key);
  if (known === undefined) {
    yield* touchRun(key.runId, nowMs);
    yield* change(INSERT, attempt, ...SCOPE_KEY.values(key));
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
  const row = yield* first(FIND, key.runId, key.nodeId, key.path, key.parentKey);
  return row === undefined ? undefined : SCOPES.parse(row);
}

export function* readScope(id: number): Transaction<ScopeRow | undefined> {
  const row = yield* first(READ, id);
  return row === undefined ? undefined : SCOPES.parse(row);
}

/** Takes the scope for `ownerId` with a new epoch. The caller has made sure, in this transaction, that it may. */
export function* takeScope(id: number, ownerId: string): Transaction<number> {
  const row = yield* first(
    "UPDATE toolwright_scopes SET owner_id = ?2, epoch = epoch + 1 WHERE id = ?1 RETURNING epoch",
    id,
    ownerId,
  );
  return row === undefined ? 0 : readInteger(row, "epoch");
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
  return new Set(rows.map((row) => readText(row, "key")));
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
