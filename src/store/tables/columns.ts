/** Readers for single columns. Rows come from outside the program: a value of another type means a damaged store. */
import { ToolwrightError } from "../../errors.ts";
import type { Row } from "../statement.ts";

export function readText(row: Row, column: string): string {
  const value = row[column];
  return typeof value === "string" ? value : fail(column, "text", value);
}

export function readTextOrNull(row: Row, column: string): string | null {
  return row[column] === null || row[column] === undefined ? null : readText(row, column);
}

export function readInteger(row: Row, column: string): number {
  const value = row[column];
  return typeof value === "number" ? value : fail(column, "a number", value);
}

export function readIntegerOrNull(row: Row, column: string): number | null {
  return row[column] === null || row[column] === undefined ? null : readInteger(row, column);
}

export function readOneOf<const T extends string>(row: Row, column: string, values: readonly T[]): T {
  const value = readText(row, column);
  return values.find((candidate) => candidate === value) ?? fail(column, values.join(" | "), value);
}

function fail(column: string, expected: string, value: unknown): never {
  throw new ToolwrightError(
    "TOOL_STORE_DAMAGED",
    `The store holds ${JSON.stringify(value)} in column "${column}"; expected ${expected}.`,
  );
}
