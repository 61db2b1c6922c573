/** Turns of a chat, and invokes of an agent: their inputs and results. */
import { all, change, first, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { columns, integer, integerOrNull, type RowOf, text, textOrNull } from "./table.ts";

const NEW_TURN = columns({
  runId: text("run_id"),
  /** From 1. */
  turn: integer("turn"),
  kind: text("kind"),
  inputHash: text("input_hash"),
  beganJson: text("began_json"),
  /** The id that its budgets are counted under, where it is not the run. */
  budgetId: textOrNull("budget_id"),
});

export const TURNS = columns({
  ...NEW_TURN.map,
  /** `null` until the turn ends. */
  resultJson: textOrNull("result_json"),
  endedAtMs: integerOrNull("ended_at_ms"),
});

export interface TurnRow extends Omit<RowOf<(typeof TURNS)["map"]>, "endedAtMs"> {
  /** Retention has deleted the responses that a resume would need. */
  readonly isGivenUp: boolean;
}

const SELECT = `SELECT ${TURNS.list()} FROM toolwright_turns WHERE run_id = ?1`;
const LAST = `${SELECT} ORDER BY turn DESC LIMIT 1`;
const BY_NUMBER = `${SELECT} AND turn = ?2`;
// In two steps: in one, SQLite would walk all turns of the run with all their columns.
const BY_INPUT = `${SELECT} AND turn =
  (SELECT MIN(turn) FROM toolwright_turns WHERE run_id = ?1 AND input_hash = ?2)`;
const IN_ORDER = `${SELECT} ORDER BY turn`;

/** The turn that started last. */
export function* lastTurn(runId: string): Transaction<TurnRow | undefined> {
  return toTurnRow(yield* first(LAST, runId));
}

export function* turnOf(runId: string, turn: number): Transaction<TurnRow | undefined> {
  return toTurnRow(yield* first(BY_NUMBER, runId, turn));
}

/** The first turn with this input. */
export function* turnByInput(runId: string, inputHash: string): Transaction<TurnRow | undefined> {
  return toTurnRow(yield* first(BY_INPUT, runId, inputHash));
}

/** Whether the run has turns, as runs of agents do. */
export function* hasTurns(runId: string): Transaction<boolean> {
  return (
    (yield* first("SELECT 1 AS one FROM toolwright_turns WHERE run_id = ?1 LIMIT 1", runId)) !== undefined
  );
}

/** All of them, in the order in which they started. */
export function* readTurns(runId: string): Transaction<TurnRow[]> {
  const rows = yield* all(IN_ORDER, runId);
  return rows.flatMap((row) => toTurnRow(row) ?? []);
}

const INSERT = `INSERT INTO toolwright_turns (started_at_ms, ${NEW_TURN.list()})
VALUES (?1, ${NEW_TURN.parameters(2)}) ON CONFLICT DO NOTHING`;

/** 0 when there is a turn of that number. */
export function insertTurn(turn: TurnRow, nowMs: number): Transaction<number> {
  return change(INSERT, nowMs, ...NEW_TURN.values(turn));
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

/** Drops what only a resume needs. */
export function shortenBegan(runId: string, turn: number, beganJson: string): Transaction<number> {
  return change(
    "UPDATE toolwright_turns SET began_json = ?3 WHERE run_id = ?1 AND turn = ?2",
    runId,
    turn,
    beganJson,
  );
}

function toTurnRow(row: Row | undefined): TurnRow | undefined {
  if (row === undefined) return undefined;
  const { endedAtMs, ...turn } = TURNS.parse(row);
  return { ...turn, isGivenUp: endedAtMs !== null && turn.resultJson === null };
}
