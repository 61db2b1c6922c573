/** Turns of a chat, and runs of an agent's loop: what they began with, and what they came to. */
import { integer, text, textOrNull } from "./columns.ts";
import { all, change, first, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";

export interface TurnRow {
  readonly runId: string;
  /** From 1. */
  readonly turn: number;
  readonly kind: string;
  readonly inputHash: string;
  readonly beganJson: string;
  /** `null` while it has not ended. */
  readonly resultJson: string | null;
  /** What its budgets are kept under, where it is not the run. */
  readonly budgetId: string | null;
  /** Left for so long that retention has deleted what it would have gone on with. */
  readonly isGivenUp: boolean;
}

/** The one that began last. */
export function* lastTurn(runId: string): Transaction<TurnRow | undefined> {
  return toTurnRow(
    yield* first("SELECT * FROM toolwright_turns WHERE run_id = ?1 ORDER BY turn DESC LIMIT 1", runId),
  );
}

export function* turnOf(runId: string, turn: number): Transaction<TurnRow | undefined> {
  return toTurnRow(
    yield* first("SELECT * FROM toolwright_turns WHERE run_id = ?1 AND turn = ?2", runId, turn),
  );
}

/** The first that began with this input. */
export function* turnByInput(runId: string, inputHash: string): Transaction<TurnRow | undefined> {
  return toTurnRow(
    yield* first(
      // In two steps: SQLite would else walk all turns of the run, with all that they hold.
      `SELECT * FROM toolwright_turns WHERE run_id = ?1 AND turn =
         (SELECT MIN(turn) FROM toolwright_turns WHERE run_id = ?1 AND input_hash = ?2)`,
      runId,
      inputHash,
    ),
  );
}

/** Whether the run consists of turns: those of agents do. */
export function* hasTurns(runId: string): Transaction<boolean> {
  return (
    (yield* first("SELECT 1 AS one FROM toolwright_turns WHERE run_id = ?1 LIMIT 1", runId)) !== undefined
  );
}

/** All of them, in the order in which they began. */
export function* readTurns(runId: string): Transaction<TurnRow[]> {
  const rows = yield* all("SELECT * FROM toolwright_turns WHERE run_id = ?1 ORDER BY turn", runId);
  return rows.flatMap((row) => toTurnRow(row) ?? []);
}

/** 0 when there is a turn of that number. */
export function insertTurn(turn: TurnRow, nowMs: number): Transaction<number> {
  return change(
    `INSERT INTO toolwright_turns (run_id, turn, kind, input_hash, began_json, started_at_ms, budget_id)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING`,
    turn.runId,
    turn.turn,
    turn.kind,
    turn.inputHash,
    turn.beganJson,
    nowMs,
    turn.budgetId,
  );
}

export function endTurn(runId: string, turn: number, resultJson: string, nowMs: number): Transaction<number> {
  return change(
    "UPDATE toolwright_turns SET result_json = ?3, ended_at_ms = ?4 WHERE run_id = ?1 AND turn = ?2",
    runId,
    turn,
    resultJson,
    nowMs,
  );
}

function toTurnRow(row: Row | undefined): TurnRow | undefined {
  if (row === undefined) return undefined;
  return {
    runId: text(row, "run_id"),
    turn: integer(row, "turn"),
    kind: text(row, "kind"),
    inputHash: text(row, "input_hash"),
    beganJson: text(row, "began_json"),
    resultJson: textOrNull(row, "result_json"),
    budgetId: textOrNull(row, "budget_id"),
    isGivenUp: row["ended_at_ms"] !== null && row["result_json"] === null,
  };
}
