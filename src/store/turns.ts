/** Turns of a chat, and runs of an agent's loop: what they began with, and what they came to. */
import { integer, text, textOrNull } from "./columns.ts";
import { all, change, type Row } from "./statement.ts";
import type { Transaction } from "./store.ts";

export interface TurnRow {
  readonly runId: string;
  /** From 1. */
  readonly turn: number;
  readonly kind: string;
  readonly inputHash: string;
  readonly beganJson: string;
  /** `null` while it has not ended. */
  readonly resultJson: string | null;
  /** Left for so long that retention has deleted what it would have gone on with. */
  readonly isGivenUp: boolean;
}

/** In the order in which they began. */
export function* readTurns(runId: string): Transaction<TurnRow[]> {
  const rows = yield* all("SELECT * FROM toolwright_turns WHERE run_id = ?1 ORDER BY turn", runId);
  return rows.map(toTurnRow);
}

/** 0 when there is a turn of that number. */
export function insertTurn(
  turn: Omit<TurnRow, "resultJson" | "isGivenUp">,
  nowMs: number,
): Transaction<number> {
  return change(
    `INSERT INTO toolwright_turns (run_id, turn, kind, input_hash, began_json, started_at_ms)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING`,
    turn.runId,
    turn.turn,
    turn.kind,
    turn.inputHash,
    turn.beganJson,
    nowMs,
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

function toTurnRow(row: Row): TurnRow {
  return {
    runId: text(row, "run_id"),
    turn: integer(row, "turn"),
    kind: text(row, "kind"),
    inputHash: text(row, "input_hash"),
    beganJson: text(row, "began_json"),
    resultJson: textOrNull(row, "result_json"),
    isGivenUp: row["ended_at_ms"] !== null && row["result_json"] === null,
  };
}
