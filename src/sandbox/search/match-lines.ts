/**
 * Parses and sorts the output of `rg --null`. Pure. A name may contain any character but NUL, so it is read up to the
 * NUL and never split at colons.
 */

export interface MatchLine {
  readonly path: string;
  readonly line: number;
  /** The displayed form: `file:line:text`. */
  readonly shown: string;
}

/** `output` may end in the middle of a record if the search was stopped. The incomplete record is dropped. */
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

/** Sorts by path, then by line. The order is the same on every machine, regardless of its locale. */
export function sortMatches(matches: readonly MatchLine[]): MatchLine[] {
  return matches.toSorted((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
}
