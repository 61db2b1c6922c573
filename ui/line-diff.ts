/** The difference between two texts, line by line. */

export interface DiffLine {
  readonly change: "same" | "added" | "removed";
  readonly text: string;
}

/** Longer texts are shown as replaced: the table below grows with the product of both. */
const MOST_LINES = 1_000;

export function diffLines(before: string, after: string): DiffLine[] {
  const one = before.split("\n");
  const other = after.split("\n");
  if (one.length > MOST_LINES || other.length > MOST_LINES) {
    return [...one.map((text) => line("removed", text)), ...other.map((text) => line("added", text))];
  }
  const lengths = commonLengths(one, other);
  const at = (row: number, column: number): number => lengths[row]?.[column] ?? 0;
  const lines: DiffLine[] = [];
  let row = 0;
  let column = 0;
  while (row < one.length && column < other.length) {
    if (one[row] === other[column]) {
      lines.push(line("same", one[row] ?? ""));
      row += 1;
      column += 1;
    } else if (at(row + 1, column) >= at(row, column + 1)) lines.push(line("removed", one[row++] ?? ""));
    else lines.push(line("added", other[column++] ?? ""));
  }
  return [
    ...lines,
    ...one.slice(row).map((text) => line("removed", text)),
    ...other.slice(column).map((text) => line("added", text)),
  ];
}

/** The length of the longest common subsequence of the rest of both texts. */
function commonLengths(one: readonly string[], other: readonly string[]): number[][] {
  const lengths = Array.from({ length: one.length + 1 }, () =>
    Array.from({ length: other.length + 1 }, () => 0),
  );
  for (let row = one.length - 1; row >= 0; row -= 1) {
    const current = lengths[row] ?? [];
    const below = lengths[row + 1] ?? [];
    for (let column = other.length - 1; column >= 0; column -= 1) {
      current[column] =
        one[row] === other[column]
          ? (below[column + 1] ?? 0) + 1
          : Math.max(below[column] ?? 0, current[column + 1] ?? 0);
    }
  }
  return lengths;
}

function line(change: DiffLine["change"], text: string): DiffLine {
  return { change, text };
}
