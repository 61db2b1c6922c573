/**
 * Scopes: the tasks and calls that group calls, and their owners. `attempt` only grows; `epoch` grows with every owner, which
 * fences an owner that was taken over.
 */
import { CANONICAL_VERSION, type CanonicalVersion } from "../../util/canonical.ts";
import { readInteger, readText } from "./columns.ts";
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { type Column, columns, flag, integer, type RowOf, text, textOrNull } from "./table.ts";
import { startRecordingWithFirstScope } from "./recordings.ts";
import { insertRunRow, type RunStart } from "./runs.ts";
import { assertUsable } from "./tombstones.ts";

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
  /** The run was reverted: no call can begin in it. */
  isSealed: flag("sealed"),
  /** In a fork: the first run of the line. */
  originId: textOrNull("origin_id"),
});

export type ScopeKey = RowOf<(typeof SCOPE_KEY)["map"]>;
export type ScopeRow = RowOf<(typeof SCOPES)["map"]> & {
  /** It is the first scope of a run that this transaction has listed. */
  readonly isOfNewRun?: boolean | undefined;
};

/** The path of the scope that the reverts of a run are calls of. Paths of tasks are numbers. */
export const REVERT_PATH = "revert";

const UNNAMED: RunStart = { kind: "program", name: "", ownerId: null };

const FIRST_EPOCH = 1;

const INSERT = `INSERT INTO toolwright_scopes (attempt, epoch, key_version, origin_id, ${SCOPE_KEY.list()})
VALUES (?1, ${FIRST_EPOCH}, ${CANONICAL_VERSION}, (SELECT f.origin_id FROM toolwright_forks f WHERE f.run_id = ?2), ${SCOPE_KEY.parameters(2)})
ON CONFLICT DO NOTHING`;

const PEEK = `SELECT ${SCOPES.list()} FROM toolwright_scopes
WHERE run_id = ?1 AND node_id = ?2 AND path = ?3 AND parent_key = ?4`;
const FIND = `${PEEK} {update}`;

const READ = `SELECT ${SCOPES.list()} FROM toolwright_scopes WHERE id = ?1`;

/**
 * Finds or creates the scope. A later attempt becomes the current one; an earlier one changes nothing.
 * @param run how its run is listed, if this is the first scope of it
 */
export function* ensureScope(
  key: ScopeKey,
  attempt: number,
  nowMs: number,
  run: RunStart = UNNAMED,
): Transaction<ScopeRow> {
  const stored = yield* findScope(key);
  if (stored === undefined) {
    const isOfNewRun = yield* insertRunRow(key.runId, run, nowMs);
    const lock = isListedAgain(key, run) ? "update" : "share";
    yield* assertUsable(key.runId, lock, key.path === REVERT_PATH);
    yield* change(INSERT, attempt, ...SCOPE_KEY.values(key));
    // The rows of workflow runs say when they start.
    if (run.isRecorded === true && run.kind !== "workflow") yield* startRecordingWithFirstScope(key.runId);
    // Another process may have inserted it first: read it again.
    const inserted = yield* ensureScope(key, attempt, nowMs, run);
    return isOfNewRun ? { ...inserted, isOfNewRun } : inserted;
  }
  if (attempt <= stored.attempt) return stored;
  yield* change(
    "UPDATE toolwright_scopes SET attempt = ?2 WHERE id = ?1 AND attempt < ?2",
    stored.id,
    attempt,
  );
  return { ...stored, attempt };
}

/**
 * Whether the transaction that opens the scope also lists its run as running. With a shared lock on the run, transactions that
 * open one scope at the same moment would deadlock, and their retries too: shared locks overtake one that waits for the row.
 */
function isListedAgain(key: ScopeKey, run: RunStart): boolean {
  return run.kind !== "workflow" && key.parentKey === "";
}

export function* findScope(key: ScopeKey): Transaction<ScopeRow | undefined> {
  const row = yield* first(FIND, key.runId, key.nodeId, key.path, key.parentKey);
  return row === undefined ? undefined : SCOPES.parse(row);
}

/** The same without a lock: for a scope of another run. */
export function* peekScope(key: ScopeKey): Transaction<ScopeRow | undefined> {
  const row = yield* first(PEEK, key.runId, key.nodeId, key.path, key.parentKey);
  return row === undefined ? undefined : SCOPES.parse(row);
}

export function* readScope(id: number): Transaction<ScopeRow | undefined> {
  const row = yield* first(READ, id);
  return row === undefined ? undefined : SCOPES.parse(row);
}

/** Takes the scope for `ownerId` with a new epoch. The caller has checked the old owner in this transaction. */
export function* takeScope(id: number, ownerId: string): Transaction<number> {
  const row = yield* first(
    "UPDATE toolwright_scopes SET owner_id = ?2, epoch = epoch + 1 WHERE id = ?1 RETURNING epoch",
    id,
    ownerId,
  );
  return row === undefined ? 0 : readInteger(row, "epoch");
}

/** `false` when another owner has taken it. */
export function* releaseScope(id: number, epoch: number): Transaction<boolean> {
  const sql = "UPDATE toolwright_scopes SET owner_id = NULL WHERE id = ?1 AND epoch = ?2";
  return (yield* change(sql, id, epoch)) > 0;
}

/** The epoch that `takeScope` gives. @param before as it was read before, if it existed */
export function epochAfter(before: ScopeRow | undefined): number {
  return (before?.epoch ?? FIRST_EPOCH) + 1;
}

/** Undoes `takeScope`, if it was committed. @param before as it was read before, if it existed */
export function* untakeScope(
  key: ScopeKey,
  before: ScopeRow | undefined,
  ownerId: string,
): Transaction<boolean> {
  const row = yield* findScope(key);
  if (row?.ownerId !== ownerId || row.epoch !== epochAfter(before)) return false;
  return yield* releaseScope(row.id, row.epoch);
}

/**
 * Fences the scopes of a task that has ended: its running calls cannot start others. On PostgreSQL this waits for
 * transactions that are about to write, so that later statements see their rows.
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

/**
 * The condition for the scopes `s` of a task, by run, node and path. Includes the turns of a chat in the task: their path is
 * the path of the task, `#` and a number. A loop may have thousands of passes, so an index finds them: `$` follows `#`. SQLite
 * uses the first line, and PostgreSQL the second.
 */
export const IS_IN_TASK = `s.run_id = ?1 AND s.node_id = ?2 AND s.path {bytes} >= ?3 AND s.path {bytes} < ?3 || '$'
  AND (s.path = ?3 OR (s.path LIKE '%#%' AND s.path {bytes} > ?3 || '#' AND s.path {bytes} < ?3 || '$'))`;

/** Whether a task has made calls, in any process. */
export function* hasScopes(task: Pick<ScopeKey, "runId" | "nodeId" | "path">): Transaction<boolean> {
  const row = yield* first(
    `SELECT 1 AS found FROM toolwright_scopes s WHERE ${IS_IN_TASK} LIMIT 1`,
    task.runId,
    task.nodeId,
    task.path,
  );
  return row !== undefined;
}

/**
 * Fences every open scope of a run that another owner takes over, or that is cancelled: a suspended process must not continue
 * it.
 */
export function sealRun(runId: string): Transaction<number> {
  return change(
    "UPDATE toolwright_scopes SET owner_id = NULL, epoch = epoch + 1 WHERE run_id = ?1 AND owner_id IS NOT NULL",
    runId,
  );
}

/** The owners of the open scopes of a run. */
export function* readOwnersOfScopes(runId: string): Transaction<string[]> {
  const rows = yield* all(
    "SELECT DISTINCT owner_id FROM toolwright_scopes WHERE run_id = ?1 AND owner_id IS NOT NULL",
    runId,
  );
  return rows.map((row) => readText(row, "owner_id"));
}

/** Fences the open scopes of a run that a dead owner holds, except one. */
export function sealOtherScopes(runId: string, ownerId: string, exceptId: number): Transaction<number> {
  return change(
    "UPDATE toolwright_scopes SET owner_id = NULL, epoch = epoch + 1 WHERE run_id = ?1 AND owner_id = ?2 AND id <> ?3",
    runId,
    ownerId,
    exceptId,
  );
}

/** The keys of all logged calls of a scope: a call with another key is new and needs no lookup. */
export function* keysOfScope(id: number): Transaction<Set<string>> {
  const rows = yield* all("SELECT key FROM toolwright_calls WHERE scope_id = ?1", id);
  return new Set(rows.map((row) => readText(row, "key")));
}
