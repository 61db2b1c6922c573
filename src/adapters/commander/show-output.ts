/**
 * Formats an output for people: text unchanged, lists line by line, uniform rows as a table, other objects by field.
 */
import { toTerminalLine } from "../../terminal/terminal-text.ts";

/** @param value plain JSON */
export function showOutput(value: unknown): string {
  if (value === null || value === "") return "";
  const text = typeof value === "string" ? value : linesOf(value).join("\n");
  return text.endsWith("\n") ? text : `${text}\n`;
}

function linesOf(value: unknown): string[] {
  if (Array.isArray(value)) return listLines(value);
  if (typeof value !== "object" || value === null) return inline(value).split("\n");
  const entries = Object.entries(value);
  if (entries.length === 0) return ["{}"];
  const width = Math.max(...entries.filter(([, item]) => isShort(item)).map(([name]) => name.length), 0);
  return entries.flatMap(([name, item]) => {
    if (isShort(item)) return [`${`${name}:`.padEnd(width + 1)} ${inline(item)}`.trimEnd()];
    return [`${name}:`, ...linesOf(item).map((line) => `  ${line}`.trimEnd())];
  });
}

function listLines(items: readonly unknown[]): string[] {
  if (items.length === 0) return ["(none)"];
  const rows = items.map(asRow);
  const names = Object.keys(rows[0] ?? {});
  const isTable =
    names.length > 0 &&
    rows.every((row) => row !== undefined && Object.keys(row).join("\n") === names.join("\n"));
  if (isTable) {
    const cells = rows.map((row) => Object.values(row ?? {}).map(inline));
    return toTable(
      names.map((name) => name.toUpperCase()),
      cells,
    ).split("\n");
  }
  return items.flatMap((item) => {
    const [first = "", ...rest] = linesOf(item);
    return [`- ${first}`, ...rest.map((line) => `  ${line}`)];
  });
}

/** An object whose values each fit into a cell. */
function asRow(item: unknown): Record<string, unknown> | undefined {
  if (typeof item !== "object" || item === null || Array.isArray(item)) return undefined;
  const isRow = Object.values(item).every((value) => isShort(value) && inline(value).length <= 60);
  return isRow ? (item as Record<string, unknown>) : undefined;
}

function isShort(value: unknown): boolean {
  if (typeof value === "string") return !value.includes("\n");
  if (Array.isArray(value)) return value.length === 0;
  return typeof value !== "object" || value === null;
}

function inline(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return "(none)";
  return value === null ? "-" : JSON.stringify(value);
}

/** Each column is as wide as its widest cell. Cells may contain untrusted text, so each is escaped to one line. */
function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((row) => row.map(toTerminalLine));
  const widths = head.map((_title, column) => Math.max(...lines.map((row) => (row[column] ?? "").length)));
  return lines
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
