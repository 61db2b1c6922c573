/** Text in columns. A cell may hold text from elsewhere, so it is one line without controls. */
import { toTerminalLine } from "./terminal-text.ts";

/** Columns as wide as their widest cell; the last one is left as it is. */
export function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
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
