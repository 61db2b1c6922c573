/**
 * One SQL statement and what came of it. Parameters are written `?1`, `?2`, …; the PostgreSQL store spells them
 * `$1`. `{now}` stands for the database's own clock in milliseconds, `{share}` and `{update}` for the row locks that
 * PostgreSQL needs and SQLite, which has one writer, does not.
 */
import type { Transaction } from "./store.ts";

export type SqlValue = string | number | null;
export type Row = Readonly<Record<string, SqlValue>>;

export interface Statement {
  readonly kind: "query" | "change";
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
}

export interface StatementResult {
  readonly rows: readonly Row[];
  readonly changes: number;
}

/** All rows of a query. */
export function* all(sql: string, ...parameters: SqlValue[]): Transaction<readonly Row[]> {
  return (yield { kind: "query", sql, parameters }).rows;
}

/** The first row of a query, or of a change that says RETURNING. */
export function* first(sql: string, ...parameters: SqlValue[]): Transaction<Row | undefined> {
  return (yield { kind: "query", sql, parameters }).rows[0];
}

/** The number of rows that a change touched. */
export function* change(sql: string, ...parameters: SqlValue[]): Transaction<number> {
  return (yield { kind: "change", sql, parameters }).changes;
}
