/** Turns of a chat, and invokes of an agent: their inputs and results. */
import { all, change, first, type Row } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { readInteger, readText } from "./columns.ts";
import { columns, integer, integerOrNull, type RowOf, text, textOrNull } from "./table.ts";

const NEW_TURN = columns({
  runId: text("run_id"),
  /** From 1. */
  turn: integer("turn"),
  kind: text("kind"),
  inputHash: text("input_hash"),
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

/** The input may be a long conversation, so it is read only where it is needed. */
export interface TurnWithInput extends TurnRow {
  readonly beganJson: string;
}

const SELECT = `SELECT ${TURNS.list()} FROM toolwright_turns WHERE run_id = ?1`;
const LAST = `${SELECT} ORDER BY turn DESC LIMIT 1`;
const BY_NUMBER = `${SELECT} AND turn = ?2`;
// In two steps: in one, SQLite would walk all turns of the run with all their columns.
const BY_INPUT = `${SELECT} AND turn =
  (SELECT MIN(turn) FROM toolwright_turns WHERE run_id = ?1 AND input_hash = ?2)`;

/** In characters. A longer input has a row of its own: the end of a turn would write it again, and each look would read it. */
const LONGEST_IN_ROW = 4_000;
/** In the row of the turn instead of a long input. No value is encoded like this, so older versions refuse to decode it. */
const IS_LONG = '{"$type":"long input of a turn"}';
/** Of the turns `t`. */
const BEGAN = `CASE WHEN t.began_json = '${IS_LONG}' THEN
    (SELECT i.began_json FROM toolwright_turn_inputs i WHERE i.run_id = t.run_id AND i.turn = t.turn)
  ELSE t.began_json END AS began_json`;
const BEGAN_BY_NUMBER = `SELECT ${BEGAN} FROM toolwright_turns t WHERE t.run_id = ?1 AND t.turn = ?2`;
const IN_ORDER = `SELECT ${TURNS.list("t")}, ${BEGAN} FROM toolwright_turns t WHERE t.run_id = ?1 ORDER BY t.turn`;

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
export function* readTurns(runId: string): Transaction<TurnWithInput[]> {
  const rows = yield* all(IN_ORDER, runId);
  return rows.flatMap((row) => {
    const turn = toTurnRow(row);
    return turn === undefined ? [] : { ...turn, beganJson: readText(row, "began_json") };
  });
}

/** Its input, as stored. */
export function* beganJsonOf({ runId, turn }: Pick<TurnRow, "runId" | "turn">): Transaction<string> {
  const row = yield* first(BEGAN_BY_NUMBER, runId, turn);
  if (row === undefined) throw new Error(`turn ${turn} of run "${runId}" has no input`);
  return readText(row, "began_json");
}

export function* withInput(turn: TurnRow | undefined): Transaction<TurnWithInput | undefined> {
  return turn === undefined ? undefined : { ...turn, beganJson: yield* beganJsonOf(turn) };
}

const INSERT = `INSERT INTO toolwright_turns (started_at_ms, began_json, ${NEW_TURN.list()})
VALUES (?1, ?2, ${NEW_TURN.parameters(3)}) ON CONFLICT DO NOTHING`;
// Processes of older versions delete runs without these rows.
const INSERT_LONG = `INSERT INTO toolwright_turn_inputs (run_id, turn, began_json) VALUES (?1, ?2, ?3)
ON CONFLICT (run_id, turn) DO UPDATE SET began_json = excluded.began_json`;

/** Whether there was no turn of that number. */
export function* insertTurn(turn: TurnRow, beganJson: string, nowMs: number): Transaction<boolean> {
  const isLong = beganJson.length > LONGEST_IN_ROW;
  const inRow = isLong ? IS_LONG : beganJson;
  if ((yield* change(INSERT, nowMs, inRow, ...NEW_TURN.values(turn))) === 0) return false;
  if (isLong) yield* change(INSERT_LONG, turn.runId, turn.turn, beganJson);
  return true;
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
export function* shortenBegan(runId: string, turn: number, beganJson: string): Transaction<void> {
  yield* change(
    `UPDATE toolwright_turns SET began_json = ?3 WHERE run_id = ?1 AND turn = ?2`,
    runId,
    turn,
    beganJson,
  );
  yield* change("DELETE FROM toolwright_turn_inputs WHERE run_id = ?1 AND turn = ?2", runId, turn);
}

/** The long inputs of runs that processes of older versions have deleted: retention must not leave a conversation behind. */
export function deleteLostInputs(): Transaction<number> {
  return change(
    `DELETE FROM toolwright_turn_inputs WHERE NOT EXISTS (SELECT 1 FROM toolwright_turns t
       WHERE t.run_id = toolwright_turn_inputs.run_id AND t.turn = toolwright_turn_inputs.turn)`,
  );
}

/**
 * For a turn that can no longer resume: deletes the messages of its client, which repeat arguments that a tool hides. An agent's
 * own input has no field of that name: its messages are as stored, and later turns need them.
 */
export function* forgetMessages(turn: Pick<TurnRow, "runId" | "turn">): Transaction<void> {
  const began = JSON.parse(yield* beganJsonOf(turn)) as object;
  if ("messages" in began)
    yield* shortenBegan(turn.runId, turn.turn, JSON.stringify({ ...began, messages: [] }));
}

const OPEN = "SELECT turn FROM toolwright_turns WHERE run_id = ?1 AND ended_at_ms IS NULL";

/** The same for all turns that have not ended. Without its responses, a turn might repeat effects. */
export function* giveUpTurns(runId: string, nowMs: number): Transaction<number> {
  const open = (yield* all(OPEN, runId)).map((row) => readInteger(row, "turn"));
  for (const turn of open) yield* forgetMessages({ runId, turn });
  return yield* change(
    "UPDATE toolwright_turns SET ended_at_ms = ?2 WHERE run_id = ?1 AND ended_at_ms IS NULL",
    runId,
    nowMs,
  );
}

function toTurnRow(row: Row | undefined): TurnRow | undefined {
  if (row === undefined) return undefined;
  const { endedAtMs, ...turn } = TURNS.parse(row);
  return { ...turn, isGivenUp: endedAtMs !== null && turn.resultJson === null };
}
