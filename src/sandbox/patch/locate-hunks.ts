/**
 * Finds where each hunk belongs: at its stated line, or else at the only other position that has its old lines. It
 * must never accept a position where even one line differs.
 */
import { lastOccurrences, type Occurrences } from "./last-occurrences.ts";
import type { LineTable } from "./line-table.ts";
import type { Hunk } from "./parse-unified-diff.ts";

export type Location =
  | { readonly status: "found"; readonly starts: readonly number[] }
  | {
      readonly status: "missing" | "ambiguous";
      readonly hunk: number;
      readonly positions: readonly number[];
    };

export function locateHunks(table: LineTable, hunks: readonly Hunk[]): Location {
  const stated = hunks.map((hunk) => fitsAt(table, hunk, hunk.stated));
  const search = searchFor(table, hunks, stated);
  const starts: number[] = [];
  // Hunks are in file order, so each is searched for after the previous one.
  let end = 0;
  let moved = false;
  for (const [index, hunk] of hunks.entries()) {
    const position = positionOf(hunk, stated[index] === true, search.get(index), end, moved);
    if (typeof position !== "number") return { ...position, hunk: index };
    if (position !== hunk.stated) moved = true;
    starts.push(position);
    end = position + hunk.oldLines.length;
  }
  return { status: "found", starts };
}

type Failure = Pick<Extract<Location, { hunk: number }>, "status" | "positions">;
const MISSING: Failure = { status: "missing", positions: [] };

function positionOf(
  hunk: Hunk,
  fitsAsStated: boolean,
  found: Occurrences | undefined,
  end: number,
  moved: boolean,
): number | Failure {
  // An insertion without context fits everywhere, so the stated line has to be right.
  if (hunk.oldLines.length === 0 && moved) return MISSING;
  if (fitsAsStated && hunk.stated >= end) return hunk.stated;
  if (found === undefined || found.last < end) return MISSING;
  if (found.previous >= end) return { status: "ambiguous", positions: [found.previous, found.last] };
  return found.last;
}

export function fitsAt(table: LineTable, hunk: Hunk, start: number): boolean {
  const end = start + hunk.oldLines.length;
  if (start < 0 || end > table.count) return false;
  if ((hunk.oldLacksNewline || hunk.newLacksNewline) && end !== table.count) return false;
  if (hunk.oldLacksNewline && table.text.endsWith("\n")) return false;
  return hunk.oldLines.every((line, index) => table.isLine(start + index, line));
}

/** Searches for all hunks that do not fit as stated, in one pass over the file. */
function searchFor(
  table: LineTable,
  hunks: readonly Hunk[],
  stated: readonly boolean[],
): Map<number, Occurrences> {
  const found = new Map<number, Occurrences>();
  const wanted: number[] = [];
  for (const [index, hunk] of hunks.entries()) {
    if (stated[index] === true || hunk.oldLines.length === 0) continue;
    if (!hunk.oldLacksNewline && !hunk.newLacksNewline) wanted.push(index);
    else {
      // A hunk that marks the end of the file fits only there.
      const atEnd = table.count - hunk.oldLines.length;
      found.set(index, { last: fitsAt(table, hunk, atEnd) ? atEnd : -1, previous: -1 });
    }
  }
  if (wanted.length === 0) return found;

  const numbers = new Map<string, number>();
  const patterns = wanted.map((index) =>
    (hunks[index]?.oldLines ?? []).map((line) => {
      const number = numbers.get(line) ?? numbers.size + 1;
      numbers.set(line, number);
      return number;
    }),
  );
  const occurrences = lastOccurrences(numberLines(table, numbers), patterns);
  for (const [at, index] of wanted.entries()) {
    const occurrence = occurrences[at];
    if (occurrence !== undefined) found.set(index, occurrence);
  }
  return found;
}

/** Zero represents any line that no hunk contains. */
function* numberLines(table: LineTable, numbers: ReadonlyMap<string, number>): Generator<number> {
  for (let index = 0; index < table.count; index += 1) yield numbers.get(table.line(index)) ?? 0;
}
