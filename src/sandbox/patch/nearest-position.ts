/**
 * Shows the model the part of the file that a failed hunk most likely meant. It must never take longer than one pass
 * over the file, and must never decide where a patch is applied.
 */
import type { LineTable } from "./line-table.ts";
import type { ShowLine } from "./patch-error.ts";
import type { Hunk } from "./parse-unified-diff.ts";

const MAX_VOTERS = 64;
const MAX_POSITIONS = 16;
const SHOWN_LINES = 7;

export function describeNearestPosition(table: LineTable, hunk: Hunk, show: ShowLine): string {
  if (table.count === 0) return "The file is empty.";
  const start = nearestStart(table, hunk);
  const differs = firstDifference(table, hunk, start);
  const middle = start + (differs ?? 0);
  const from = Math.max(0, Math.min(middle - 3, table.count - SHOWN_LINES));
  const to = Math.min(table.count, from + SHOWN_LINES);
  const shown: string[] = [];
  for (let index = from; index < to; index += 1) shown.push(`${index + 1}: ${show(table.line(index))}`);
  const expected = differs === undefined ? undefined : hunk.oldLines[differs];
  const line = Math.min(middle, table.count) + 1;
  const difference = expected === undefined ? "" : ` The patch has ${show(expected)} for line ${line}.`;
  return `The nearest place in the file is:\n${shown.join("\n")}\n${difference.trim()}`.trimEnd();
}

/** Lines that are rare in the file vote for the position that they imply for the hunk. */
function nearestStart(table: LineTable, hunk: Hunk): number {
  const stated = Math.max(0, Math.min(hunk.stated, table.count - 1));
  const voters = new Map<string, { offset: number; positions: number[] }>();
  for (const [offset, line] of hunk.oldLines.entries()) {
    const key = line.trim();
    if (key.length > 2 && voters.size < MAX_VOTERS && !voters.has(key))
      voters.set(key, { offset, positions: [] });
  }
  if (voters.size === 0) return stated;
  for (let index = 0; index < table.count; index += 1) {
    const voter = voters.get(table.line(index).trim());
    if (voter !== undefined && voter.positions.length <= MAX_POSITIONS) voter.positions.push(index);
  }
  const votes = new Map<number, number>();
  for (const { offset, positions } of voters.values()) {
    if (positions.length > MAX_POSITIONS) continue;
    for (const position of positions) votes.set(position - offset, (votes.get(position - offset) ?? 0) + 1);
  }
  let best = stated;
  for (const [start, count] of votes) {
    const most = votes.get(best) ?? 0;
    const isNearer = Math.abs(start - stated) < Math.abs(best - stated);
    if (count > most || (count === most && isNearer)) best = start;
  }
  return best;
}

function firstDifference(table: LineTable, hunk: Hunk, start: number): number | undefined {
  const index = hunk.oldLines.findIndex((line, offset) => !table.isLine(start + offset, line));
  return index === -1 ? undefined : index;
}
