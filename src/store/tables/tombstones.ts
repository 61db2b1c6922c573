/** Tombstones: the ids of deleted runs, so that none is mistaken for a new run. */
import { ToolwrightError } from "../../errors.ts";
import { readInteger, readText } from "./columns.ts";
import { change, first, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";

export function* buryRun(runId: string, nowMs: number): Transaction<void> {
  yield* change(
    `INSERT INTO toolwright_runs (id, status, created_at_ms, updated_at_ms) VALUES (?1, 'deleted', ?2, ?2)
     ON CONFLICT (id) DO UPDATE SET status = 'deleted', updated_at_ms = excluded.updated_at_ms, name = '',
       owner_id = NULL, error_json = NULL, input_json = NULL, input_hash = NULL, ready_at_ms = NULL, is_due = 0`,
    runId,
    nowMs,
  );
}

export function runReverted(runId: string): ToolwrightError {
  return new ToolwrightError(
    "TOOL_RUN_REVERTED",
    `The effects of run "${runId}" were reverted, so it cannot be resumed.`,
    { details: { runId }, effect: "none" },
  );
}

const SELECT = "SELECT status, updated_at_ms, reverted_at_ms FROM toolwright_runs WHERE id = ?1";
const LOCKED = { share: `${SELECT} {share}`, update: `${SELECT} {update}` };

/**
 * Until the transaction ends, retention does not delete the run: it locks the same row.
 * @param lock `update` if the transaction changes the row later: two that hold `share` would wait for each other
 * @throws TOOL_RUN_DELETED
 */
export function* assertNotDeleted(runId: string, lock: keyof typeof LOCKED = "share"): Transaction<void> {
  refuseDeleted(runId, yield* first(LOCKED[lock], runId));
}

/**
 * The same for a scope that opens. Until the transaction ends, no revert of the run begins.
 * @throws TOOL_RUN_DELETED, TOOL_RUN_REVERTED
 */
export function* assertUsable(
  runId: string,
  lock: keyof typeof LOCKED,
  isRevert: boolean,
): Transaction<void> {
  const row = yield* first(LOCKED[lock], runId);
  refuseDeleted(runId, row);
  if (!isRevert && row !== undefined && row["reverted_at_ms"] !== null) throw runReverted(runId);
}

export function* isDeleted(runId: string): Transaction<boolean> {
  const row = yield* first(SELECT, runId);
  return row !== undefined && readText(row, "status") === "deleted";
}

function refuseDeleted(runId: string, row: Row | undefined): void {
  if (row === undefined || readText(row, "status") !== "deleted") return;
  const deletedAtMs = readInteger(row, "updated_at_ms");
  const day = new Date(deletedAtMs).toISOString().slice(0, 10);
  throw new ToolwrightError("TOOL_RUN_DELETED", `Run "${runId}" was deleted by retention on ${day}.`, {
    details: { runId, deletedAtMs },
    effect: "none",
  });
}
