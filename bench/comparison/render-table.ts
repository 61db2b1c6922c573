/** The results as one table for a terminal, and a sentence for each cell without a value or with a failure. */
import { formatLong, formatShort } from "./format-cell.ts";
import { type Cell, type Comparison, ROWS, systemsOf } from "./results.ts";

export function renderTable(results: Comparison): string {
  const { cells } = results;
  const systems = systemsOf(results);
  // A line per system: titles of rows are too long for a column.
  const all = [
    ["", ...ROWS.map((row) => HEADS[row.id])],
    ...systems.map(({ id, name }) => [name, ...ROWS.map((row) => formatShort(row.id, cells[row.id][id]))]),
  ];
  const widths = Array.from({ length: ROWS.length + 1 }, (_, column) =>
    Math.max(...all.map((line) => line[column]?.length ?? 0)),
  );
  const table = all.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  const sentences = ROWS.flatMap((row) =>
    systems
      .filter(({ id }) => needsSentence(cells[row.id][id]))
      .map(({ id, name }) => `  ${HEADS[row.id]}, ${name}: ${formatLong(row.id, cells[row.id][id])}`),
  );
  return [...table, ...(sentences.length === 0 ? [] : ["", ...sentences])].join("\n");
}

function needsSentence(cell: Cell | undefined): boolean {
  return (
    cell?.kind === "cannot" ||
    cell?.kind === "failed" ||
    (cell?.kind === "effects" && cell.failure !== undefined)
  );
}

const HEADS: Readonly<Record<(typeof ROWS)[number]["id"], string>> = {
  loop: "loop",
  logged: "logged call",
  wide: "64 at once",
  step: "durable step",
  resume: "resume of steps",
  agent: "long agent",
  kill: "killed",
  "kill-keyed": "killed, keys",
};
