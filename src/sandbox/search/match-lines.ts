/**
 * Reads what `rg --null` prints and orders it. Pure. A name may hold any character but NUL, so it is read up to the NUL
 * and never taken apart by colons.
 */

export interface MatchLine {
  readonly path: string;
  readonly line: number;
  /** As it is shown: `file:line:text`. */
  readonly shown: string;
}

/** `output` may end in the middle of a record, when the search was stopped; the torn one is left out. */
export function parseMatches(output: Buffer, isWhole: boolean): MatchLine[] {
  const matches: MatchLine[] = [];
  for (let start = 0; start < output.length;) {
    const nameEnd = output.indexOf(0, start);
    if (nameEnd === -1) break;
    const end = output.indexOf(10, nameEnd);
    if (end === -1 && !isWhole) break;
    const path = output.toString("utf8", start, nameEnd).replace(/^\.\//, "");
    const rest = output.toString("utf8", nameEnd + 1, end === -1 ? output.length : end);
    const line = Number(/^\d+/.exec(rest)?.[0] ?? 0);
    matches.push({ path, line, shown: `${path}:${rest}` });
    start = end === -1 ? output.length : end + 1;
  }
  return matches;
}

/** By path, then by line; the same on every machine, whatever its locale. */
export function sortMatches(matches: readonly MatchLine[]): MatchLine[] {
  return matches.toSorted((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
}
