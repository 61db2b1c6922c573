/** Text in columns. Cells may contain untrusted text, so each is escaped to one line. */
import { toTerminalLine } from "./terminal-text.ts";

/** Each column is as wide as its widest cell. The last column is not padded. */
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
