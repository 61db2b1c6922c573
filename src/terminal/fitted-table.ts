/** A table that fits a terminal: wide columns are cut, and the least important ones are left out. Ids are never cut. */
import { toTerminalLine } from "./terminal-text.ts";
import { cutToWidth, padToWidth, textWidth } from "./text-width.ts";

export interface Column {
  readonly title: string;
  /** The least width to which it may be cut. Without it, it is never cut. */
  readonly least?: number;
  /** Where cutting is not enough: left out, the lowest number first. */
  readonly drop?: number;
}

const GAP = "  ";
/** Of a row whose first cell takes a line of its own. */
const INDENT = "    ";

/** What a terminal says, else `COLUMNS`, else 80. */
export function outputWidth(stream: { readonly columns?: number } = process.stdout): number {
  const given = Number(process.env["COLUMNS"]);
  const { columns = 0 } = stream;
  // A terminal that does not know its width says 0.
  if (columns > 0) return columns;
  return Number.isInteger(given) && given > 0 ? given : 80;
}

/** @returns the head, and for each row its lines. The first column identifies a row. */
export function fitTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): { readonly head: string; readonly rows: string[] } {
  const cells = rows.map((row) => row.map(toTerminalLine));
  const natural = columns.map(({ title }, index) => {
    const widest = Math.max(0, ...cells.map((row) => textWidth(row[index] ?? "")));
    // A column in which nothing stands is left out.
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

/** The width of each column, 0 for one that is left out. `undefined`: they do not fit. */
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

/** The widest column gives first. */
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
