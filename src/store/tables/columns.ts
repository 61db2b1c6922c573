/** Rows come from outside the program, so they are parsed: a column of another type is a damaged store. */
import { ToolwrightError } from "../../errors.ts";
import type { Row } from "../statement.ts";

export function text(row: Row, column: string): string {
  const value = row[column];
  return typeof value === "string" ? value : fail(column, "text", value);
}

export function textOrNull(row: Row, column: string): string | null {
  return row[column] === null || row[column] === undefined ? null : text(row, column);
}

export function integer(row: Row, column: string): number {
  const value = row[column];
  return typeof value === "number" ? value : fail(column, "a number", value);
}

export function integerOrNull(row: Row, column: string): number | null {
  return row[column] === null || row[column] === undefined ? null : integer(row, column);
}

export function oneOf<const T extends string>(row: Row, column: string, values: readonly T[]): T {
  const value = text(row, column);
  return values.find((candidate) => candidate === value) ?? fail(column, values.join(" | "), value);
}

function fail(column: string, expected: string, value: unknown): never {
  throw new ToolwrightError(
    "TOOL_STORE_DAMAGED",
    `The store holds ${JSON.stringify(value)} in column "${column}", where ${expected} is expected.`,
  );
}
