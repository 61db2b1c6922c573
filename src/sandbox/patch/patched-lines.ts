/**
 * Builds the new text of one hunk, with the line endings that the file has there. It must never change the ending of
 * an unchanged line, nor the end of the file unless the patch marks it.
 */
import type { LineTable } from "./line-table.ts";
import type { Hunk } from "./parse-unified-diff.ts";

export function patchedLines(table: LineTable, hunk: Hunk, start: number, exactEndings: boolean): string {
  const lines: { text: string; ending: string }[] = [];
  // The endings of removed lines, which the next added lines reuse.
  let replaced: string[] = [];
  let index = start;
  for (const { mark, text } of hunk.lines) {
    if (mark === "-") {
      replaced.push(table.ending(index));
      index += 1;
    } else if (mark === " ") {
      lines.push({ text: table.line(index), ending: table.ending(index) });
      replaced = [];
      index += 1;
    } else {
      const near = replaced.shift() ?? lines.at(-1)?.ending ?? endingBefore(table, index);
      lines.push({ text, ending: exactEndings ? "\n" : near });
    }
  }
  const atEnd = index === table.count;
  const isLast = (at: number): boolean => atEnd && at === lines.length - 1;
  const fill = usualEnding(table);
  const body = lines.map(({ text, ending }, at) => text + (isLast(at) ? "" : ending || fill)).join("");
  // Lines added after a last line without an ending have to end that line first.
  const join = start > 0 && start === table.count && lines.length > 0 && !endsWithNewline(table) ? fill : "";
  const last = lines.at(-1);
  return join + body + (atEnd && last !== undefined ? lastEnding(table, hunk, last.ending || fill) : "");
}

function lastEnding(table: LineTable, hunk: Hunk, ending: string): string {
  if (hunk.newLacksNewline) return "";
  // The patch says that the old text had no final newline, so the new one has it on purpose.
  if (hunk.oldLacksNewline) return ending;
  return table.count === 0 || endsWithNewline(table) ? ending : "";
}

function endsWithNewline(table: LineTable): boolean {
  return table.text.endsWith("\n");
}

function endingBefore(table: LineTable, index: number): string {
  return index > 0 ? table.ending(index - 1) : usualEnding(table);
}

function usualEnding(table: LineTable): string {
  return (table.count > 0 ? table.ending(0) : "") || "\n";
}
