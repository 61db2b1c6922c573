/**
 * One SQL statement and its result. Parameters are written `?1`, `?2`, …; the PostgreSQL store rewrites them to `$1`.
 * `{now}` is the clock of the database in milliseconds, and `{position}` the next place in the queue of runs. `{share}` and
 * `{update}` are row locks, which SQLite, with its single writer, does not need; `{skip}` is `{update}` of rows that are free.
 * `{bytes}` after a column compares its text byte by byte, as SQLite always does.
 */
import type { Transaction } from "./store.ts";

export type SqlValue = string | number | null;
export type Row = Readonly<Record<string, SqlValue>>;

export interface Statement {
  readonly kind: "query" | "change";
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
  /**
   * The transaction ends with this statement if it changes a row. If it changes none, it has written nothing. A store may
   * then send the statements of several transactions at once, or commit one without `BEGIN` and `COMMIT`.
   */
  readonly isLast?: boolean | undefined;
}

export interface StatementResult {
  readonly rows: readonly Row[];
  readonly changes: number;
}

/** All rows of a query. */
export function* all(sql: string, ...parameters: SqlValue[]): Transaction<readonly Row[]> {
  return (yield { kind: "query", sql, parameters }).rows;
}

/** The first row of a query, or of a change with RETURNING. */
export function* first(sql: string, ...parameters: SqlValue[]): Transaction<Row | undefined> {
  return (yield { kind: "query", sql, parameters }).rows[0];
}

/** The number of rows that a statement changed. */
export function change(sql: string, ...parameters: SqlValue[]): Transaction<number> {
  return changeBy({ kind: "change", sql, parameters });
}

/** The number of rows that this statement changed. */
export function* changeBy(statement: Statement): Transaction<number> {
  return (yield statement).changes;
}
