/** How a cell reads in tables and charts. */
import { type Cell, ROWS, type RowId } from "./results.ts";

export const unitOf = (row: RowId): string => ROWS.find(({ id }) => id === row)?.unit ?? "";

export function formatNumber(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: value < 10 ? 1 : 0 });
}

/** Short, for the table of all results. */
export function formatShort(row: RowId, cell: Cell | undefined): string {
  switch (cell?.kind) {
    case undefined:
      return "";
    case "time":
      return `${formatNumber(cell.value)} ${unitOf(row)}${cell.note === undefined ? "" : " *"}`;
    case "turns":
      return cell.isComplete
        ? `${formatNumber(cell.seconds)} s`
        : `${formatNumber(cell.turns)} turns in ${formatNumber(cell.seconds)} s`;
    case "effects":
      return formatEffects(cell).short;
    case "cannot":
      return "–";
    case "failed":
      return "failed";
  }
}

/** A sentence or a value with what belongs to it, for the table of one row. */
export function formatLong(row: RowId, cell: Cell | undefined): string {
  switch (cell?.kind) {
    case undefined:
      return "";
    case "time":
      return `${formatNumber(cell.value)} ${unitOf(row)}${cell.note === undefined ? "" : ` (${cell.note})`}`;
    case "turns": {
      const end = cell.isComplete
        ? `${formatNumber(cell.turns)} turns in ${formatNumber(cell.seconds)} s`
        : `stopped after ${formatNumber(cell.turns)} turns and ${formatNumber(cell.seconds)} s`;
      const growth = `${formatNumber(cell.earlyUs)} µs per turn at first, ${formatNumber(cell.lateUs)} µs at the end`;
      return `${end}; ${growth}${cell.isStored ? "" : "; nothing stored"}`;
    }
    case "effects":
      return formatEffects(cell).long;
    case "cannot":
      return cell.why;
    case "failed":
      return `Failed in this run: ${cell.why}`;
  }
}

type Effects = Extract<Cell, { kind: "effects" }>;

function formatEffects(cell: Effects): { short: string; long: string } {
  const { orders, effects, twice, missing, asked, isStored, failure } = cell;
  const faults = [
    ...(twice === 0 ? [] : [`${twice} repeated`]),
    ...(missing === 0 ? [] : [`${missing} missing`]),
  ];
  const verdict = faults.length === 0 ? "each once" : faults.join(", ");
  const question = asked === 0 ? "" : `; ${asked} ${asked === 1 ? "question" : "questions"} to an operator`;
  const remark = failure === undefined ? "" : `; the resume failed: ${failure}`;
  return {
    short: `${verdict}${asked === 0 ? "" : `, asked ${asked}×`}`,
    long: `${orders} orders, ${effects} effects: ${verdict}${question}${isStored ? "" : "; nothing stored, so it starts over"}${remark}`,
  };
}

/** The length of the bar; `undefined` if there is none. */
export function barOf(cell: Cell | undefined): number | undefined {
  switch (cell?.kind) {
    case "time":
      return cell.value;
    case "turns":
      return cell.lateUs;
    case "effects":
      return cell.twice + cell.missing;
    case "cannot":
    case "failed":
    case undefined:
      return undefined;
  }
}
