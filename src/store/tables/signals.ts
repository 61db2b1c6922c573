/** Signals that were sent to runs. One that no task waits for yet is kept until one does. Each is used once. */
import { all, change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { columns, integer, type RowOf, text, textOrNull } from "./table.ts";

const NEW_SIGNAL = columns({
  runId: text("run_id"),
  name: text("name"),
  key: textOrNull("signal_key"),
  payloadJson: text("payload_json"),
});

export type NewSignal = RowOf<(typeof NEW_SIGNAL)["map"]>;

const INSERT = `INSERT INTO toolwright_signals (sent_at_ms, ${NEW_SIGNAL.list()})
VALUES ({now}, ${NEW_SIGNAL.parameters(1)}) ON CONFLICT DO NOTHING`;

/** 0 when a signal with this key was sent before. */
export function insertSignal(signal: NewSignal): Transaction<number> {
  return change(INSERT, ...NEW_SIGNAL.values(signal));
}

const OPEN = columns({ position: integer("position"), payloadJson: text("payload_json") });

export type OpenSignal = RowOf<(typeof OPEN)["map"]>;

/** The oldest signal with this name that no task has used or refused. */
export function* readNextSignal(runId: string, name: string): Transaction<OpenSignal | undefined> {
  const row = yield* first(
    `SELECT ${OPEN.list()} FROM toolwright_signals WHERE run_id = ?1 AND name = ?2 AND settled_at_ms IS NULL
     ORDER BY position LIMIT 1`,
    runId,
    name,
  );
  return row && OPEN.parse(row);
}

/** The task that used or refused a signal. */
export interface SignalReader {
  readonly nodeId: string;
  readonly path: string;
  /** Why it did not use the signal. */
  readonly refusedBecause: string | null;
}

/** 0 when another task has used the signal first. */
export function settleSignal(
  position: number,
  { nodeId, path, refusedBecause }: SignalReader,
): Transaction<number> {
  return change(
    `UPDATE toolwright_signals SET settled_at_ms = {now}, node_id = ?2, path = ?3, refused_because = ?4
     WHERE position = ?1 AND settled_at_ms IS NULL`,
    position,
    nodeId,
    path,
    refusedBecause,
  );
}

const REFUSALS = columns({
  name: text("name"),
  because: text("refused_because"),
  sentAtMs: integer("sent_at_ms"),
});

export type Refusal = RowOf<(typeof REFUSALS)["map"]>;

/** The newest signals that tasks did not use, oldest first. */
export function* readRefusals(runId: string, limit: number): Transaction<Refusal[]> {
  const rows = yield* all(
    `SELECT ${REFUSALS.list()} FROM toolwright_signals WHERE run_id = ?1 AND refused_because IS NOT NULL
     ORDER BY position DESC LIMIT ?2`,
    runId,
    limit,
  );
  return rows.map(REFUSALS.parse).toReversed();
}
