/** Applies a parsed patch to a text: all of it, exactly, or not at all. It must never guess. */
import { toLineTable, type LineTable } from "./line-table.ts";
import { locateHunks, type Location } from "./locate-hunks.ts";
import { describeNearestPlace } from "./nearest-place.ts";
import { patchFailed } from "./patch-error.ts";
import type { Hunk, Patch } from "./parse-unified-diff.ts";
import { patchedLines } from "./patched-lines.ts";

/** `shown` is the file's name for messages. */
export function applyPatch(text: string, patch: Patch, shown: string): string {
  const table = tableFor(text, patch);
  const location = locateHunks(table, patch.hunks);
  if (location.status !== "found") throw notLocated(table, patch, location, shown);
  const result = text.slice(0, text.length - table.text.length) + build(table, patch, location.starts);
  if (result === text) throw patchFailed(`it leaves ${shown} as it is.`, "The file already has this text.");
  return result;
}

/** Returns the result, or undefined if the patch does not fit. */
export function tryPatch(text: string, patch: Patch): string | undefined {
  const table = tableFor(text, patch);
  const location = locateHunks(table, patch.hunks);
  return location.status === "found" ? build(table, patch, location.starts) : undefined;
}

/** If the patch does not mention a byte order mark, the mark is ignored in the comparison and stays in the file. */
function tableFor(text: string, patch: Patch): LineTable {
  const marked = text.startsWith(MARK) && !patch.hunks.some(mentionsMark);
  return toLineTable(marked ? text.slice(1) : text, patch.exactEndings);
}

const MARK = "\ufeff";

function mentionsMark(hunk: Hunk): boolean {
  return hunk.lines.some(({ text }) => text.startsWith(MARK));
}

function build(table: LineTable, { hunks, exactEndings }: Patch, starts: readonly number[]): string {
  const pieces: string[] = [];
  let position = 0;
  for (const [index, hunk] of hunks.entries()) {
    const start = starts[index] ?? 0;
    pieces.push(table.text.slice(position, table.start(start)));
    pieces.push(patchedLines(table, hunk, start, exactEndings));
    position = table.start(start + hunk.oldLines.length);
  }
  pieces.push(table.text.slice(position));
  return pieces.join("");
}

function notLocated(
  table: LineTable,
  patch: Patch,
  location: Exclude<Location, { status: "found" }>,
  shown: string,
): Error {
  const hunk = patch.hunks[location.hunk];
  const name = `hunk ${location.hunk + 1}`;
  if (hunk === undefined) return patchFailed(`${name} does not match ${shown}.`);
  const line = `line ${hunk.stated + 1}`;
  if (location.status === "ambiguous") {
    const lines = location.places.map((place) => place + 1).join(" and ");
    return patchFailed(
      `${name} does not match ${shown} at ${line}, and fits several other places, including lines ${lines}.`,
      "Correct the line number, or add lines around the change until only one place matches.",
    );
  }
  return patchFailed(
    `${name} does not match ${shown} at ${line} or anywhere after the previous hunk.`,
    (show) =>
      `${describeNearestPlace(table, hunk, show)}\nRead the file again and create the patch from its current text.`,
  );
}
