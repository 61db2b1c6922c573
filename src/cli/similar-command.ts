/** Which command a misspelt word was meant to be: one slip of the finger away, or two in a longer word. */

export function similarCommand(word: string, names: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  const near = names
    .map((name) => ({ name, slips: countSlips(lower, name) }))
    .filter(({ name, slips }) => slips <= allowedSlips(lower, name))
    .toSorted((a, b) => a.slips - b.slips);
  return near[0]?.name;
}

/** Of two letters, half a word would have to be right: only their order may be wrong. */
function allowedSlips(word: string, name: string): number {
  const shorter = Math.min(word.length, name.length);
  if (shorter <= 2) return isSwapped(word, name) ? 1 : 0;
  return shorter <= 4 ? 1 : 2;
}

function isSwapped(word: string, name: string): boolean {
  return word.length === name.length && [...word].toReversed().join("") === name;
}

/** Letters left out, added, replaced, or exchanged with their neighbour. */
function countSlips(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= from.length; row += 1) {
    rows.push([row]);
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isExchanged = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      rows[row]?.push(
        Math.min(
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          at(row - 1, column - 1) + (isSame ? 0 : 1),
          isExchanged ? at(row - 2, column - 2) + 1 : Infinity,
        ),
      );
    }
  }
  return at(from.length, to.length);
}
