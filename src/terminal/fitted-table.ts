/** A table that fits a terminal: cuts wide columns, and drops the least important ones. Ids are never cut. */
import { toTerminalLine } from "./terminal-text.ts";
import { cutToWidth, padToWidth, textWidth } from "./text-width.ts";

export interface Column {
  readonly title: string;
  /** The smallest width that the column may be cut to. Without it, the column is never cut. */
  readonly least?: number;
  /** If cutting is not enough, columns with the lowest number are dropped first. */
  readonly drop?: number;
}

const GAP = "  ";
/** Indent of a row whose first cell has its own line. */
const INDENT = "    ";

/** The width of the terminal, else `COLUMNS`, else 80. */
export function outputWidth(stream: { readonly columns?: number } = process.stdout): number {
  const given = Number(process.env["COLUMNS"]);
  const { columns = 0 } = stream;
  // A terminal that does not know its width reports 0.
  if (columns > 0) return columns;
  return Number.isInteger(given) && given > 0 ? given : 80;
}

/** @returns the head, and the lines of each row. The first column identifies a row. */
export function fitTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): { readonly head: string; readonly rows: string[] } {
  const cells = rows.map((row) => row.map(toTerminalLine));
  const natural = columns.map(({ title }, index) => {
    const widest = Math.max(0, ...cells.map((row) => textWidth(row[index] ?? "")));
    // Empty columns are dropped.
    return widest === 0 && index > 0 ? 0 : Math.max(textWidth(title), widest);
  });
  const inLine = fit(columns, natural, width);
  if (inLine !== undefined) {
    const show = (row: readonly string[]): string => lineOf(row, inLine);
    return { head: show(columns.map(({ title }) => title)), rows: cells.map(show) };
  }
  const rest = fit(columns.slice(1), natural.slice(1), width - INDENT.length) ?? natural.slice(1);
  const show = ([first = "", ...others]: readonly string[]): string =>
    `${first}\n${INDENT}${lineOf(others, rest)}`;
  return { head: show(columns.map(({ title }) => title)), rows: cells.map(show) };
}

/** The width of each column, 0 for a dropped one. `undefined` if they do not fit. */
function fit(
  columns: readonly Column[],
  natural: readonly number[],
  width: number,
): readonly number[] | undefined {
  const order = columns
    .flatMap(({ drop }, index) => (drop === undefined ? [] : [{ drop, index }]))
    .toSorted((one, other) => one.drop - other.drop);
  for (let dropped = 0; dropped <= order.length; dropped += 1) {
    const out = new Set(order.slice(0, dropped).map(({ index }) => index));
    const widths = shrink(
      columns,
      natural.map((size, index) => (out.has(index) ? 0 : size)),
      width,
    );
    if (total(widths) <= width) return widths;
  }
  return undefined;
}

/** Shrinks the widest column first. */
function shrink(columns: readonly Column[], natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  for (let over = total(widths) - width; over > 0; over -= 1) {
    let widest = -1;
    for (const [index, size] of widths.entries()) {
      const { least = Infinity, title = "" } = columns[index] ?? {};
      const floor = Math.max(least, textWidth(title));
      if (size > floor && (widest === -1 || size > (widths[widest] ?? 0))) widest = index;
    }
    if (widest === -1) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function total(widths: readonly number[]): number {
  const shown = widths.filter((width) => width > 0);
  return shown.reduce((sum, width) => sum + width, 0) + GAP.length * Math.max(0, shown.length - 1);
}

function lineOf(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .flatMap((cell, index) => {
      const width = widths[index] ?? 0;
      return width === 0 ? [] : [padToWidth(cutToWidth(cell, width), width)];
    })
    .join(GAP)
    .trimEnd();
}
