/**
 * Validates a patch line by line before the parser reads it, because the parser skips what it does not recognise:
 * prose, a line without its mark, a second file. It must never accept a line that is neither header nor hunk.
 */
import { patchFailed } from "./patch-error.ts";

export interface CheckedPatch {
  /** With `\n` as line ending, without fences, and with a mark on each line of a hunk. */
  readonly text: string;
  /**
   * True if some lines of the hunks end in CRLF and others do not. The endings are then part of the lines. Otherwise
   * they are ignored, and the file's own are kept.
   */
  readonly exactEndings: boolean;
}

export function checkPatchText(patch: string): CheckedPatch {
  const lines = withoutFence(withoutMark(patch).split("\n"));
  const checked: string[] = [];
  const bodyLines: number[] = [];
  let hunks = 0;
  let index = 0;
  while (index < lines.length) {
    const line = withoutReturn(lines[index] ?? "");
    if (line.startsWith("@@")) {
      hunks += 1;
      const end = readHunk(lines, index, hunks, checked, bodyLines);
      index = end;
      continue;
    }
    if (hunks === 0) checkHeaderLine(line, index + 1);
    else checkLineAfterHunk(line, index + 1, hunks);
    if (line !== "") checked.push(line);
    index += 1;
  }
  if (hunks === 0) throw patchFailed("it contains no hunk.", NO_HUNK_HINT);
  const exactEndings = isMixed(checked, bodyLines);
  if (!exactEndings) for (const at of bodyLines) checked[at] = withoutReturn(checked[at] ?? "");
  return { text: `${checked.join("\n")}\n`, exactEndings };
}

const NO_HUNK_HINT =
  'Send a unified diff: a line "@@ -start,count +start,count @@", then lines that begin with " ", "-" or "+".';
const HUNK_HEADER = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;
const PLAIN_HEADER = /^(?:--- |\+\+\+ |diff |index [0-9a-f]+\.\.[0-9a-f]+|Index: |={10,}$)/;
const REFUSED_HEADER =
  /^(?:rename |copy |similarity index |dissimilarity index |old mode |new mode |new file mode |deleted file mode |Binary files |GIT binary patch)/;
const NO_FILE = /^(?:---|\+\+\+) "?\/dev\/null"?(?:\s|$)/;

function checkHeaderLine(line: string, number: number): void {
  if (line === "") return;
  if (REFUSED_HEADER.test(line) || NO_FILE.test(line)) {
    throw patchFailed(
      (show) => `line ${number} (${show(line)}) would create, delete, rename or change the mode of a file.`,
      "Send only hunks that change the text of the file; use write to create one.",
    );
  }
  if (line.startsWith("*** ")) {
    throw patchFailed((show) => `line ${number} (${show(line)}) uses another patch format.`, NO_HUNK_HINT);
  }
  if (!PLAIN_HEADER.test(line)) {
    throw patchFailed(
      (show) => `line ${number} (${show(line)}) does not belong to a unified diff.`,
      NO_HUNK_HINT,
    );
  }
}

function checkLineAfterHunk(line: string, number: number, hunk: number): void {
  if (line === "") return;
  if (PLAIN_HEADER.test(line) || REFUSED_HEADER.test(line)) {
    throw patchFailed(
      (show) => `line ${number} (${show(line)}) begins a second file.`,
      "Send one patch for each file.",
    );
  }
  throw patchFailed(
    (show) => `line ${number} (${show(line)}) comes after the lines that the header of hunk ${hunk} counts.`,
    `Correct the counts in the header of hunk ${hunk}, and begin each of its lines with " ", "-" or "+".`,
  );
}

/** Copies one hunk to `checked` and returns the index of the line after it. */
function readHunk(
  lines: readonly string[],
  start: number,
  hunk: number,
  checked: string[],
  bodyLines: number[],
): number {
  const header = withoutReturn(lines[start] ?? "");
  const match = HUNK_HEADER.exec(header);
  if (match === null)
    throw patchFailed((show) => `the header of hunk ${hunk} (${show(header)}) is malformed.`, NO_HUNK_HINT);
  checked.push(match[0]);
  let oldLeft = Number(match[2] ?? 1);
  let newLeft = Number(match[4] ?? 1);
  let index = start + 1;
  for (; index < lines.length; index += 1) {
    const line = lines[index] ?? "";
    const mark = line[0];
    const isMarker = mark === "\\";
    if (!isMarker && oldLeft === 0 && newLeft === 0) break;
    if (isMarker) {
      checked.push(withoutReturn(line));
      continue;
    }
    // Editors strip the space of an empty line.
    const whole = line === "" || line === "\r" ? ` ${line}` : line;
    if (mark !== "+") oldLeft -= 1;
    if (mark !== "-") newLeft -= 1;
    if (!/^[ +-]/.test(whole)) {
      throw patchFailed(
        (show) =>
          `line ${index + 1} (${show(withoutReturn(line))}) of hunk ${hunk} begins with none of " ", "-" and "+".`,
        "Begin each line of a hunk with a mark; an unchanged line begins with a space.",
      );
    }
    if (oldLeft < 0 || newLeft < 0) break;
    bodyLines.push(checked.length);
    checked.push(whole);
  }
  if (oldLeft !== 0 || newLeft !== 0) throw wrongCounts(header, hunk, lines.slice(start + 1));
  return index;
}

function wrongCounts(header: string, hunk: number, rest: readonly string[]): Error {
  let end = rest.findIndex((line) => !/^[ +\\-]|^\r?$/.test(line) || /^(?:--- |\+\+\+ )/.test(line));
  if (end === -1) end = rest.length;
  // Blank lines at the end are more likely the end of the message than lines of the file.
  while (end > 0 && withoutReturn(rest[end - 1] ?? "") === "") end -= 1;
  const body = rest.slice(0, end).filter((line) => !line.startsWith("\\"));
  const oldCount = body.filter((line) => !line.startsWith("+")).length;
  const newCount = body.filter((line) => !line.startsWith("-")).length;
  return patchFailed(
    (show) =>
      `the counts in the header of hunk ${hunk} (${show(header)}) are wrong: ${oldCount} old and ${newCount} new lines follow.`,
    `Give the counts of the lines that follow, as in "@@ -start,${oldCount} +start,${newCount} @@".`,
  );
}

function isMixed(checked: readonly string[], bodyLines: readonly number[]): boolean {
  let withReturn = false;
  let without = false;
  for (const at of bodyLines) {
    const line = checked[at] ?? "";
    if (line.endsWith("\r")) withReturn = true;
    // A line whose whitespace was stripped, or the last line of such a text, says nothing about the endings.
    else if (line !== " " && at !== checked.length - 1) without = true;
  }
  return withReturn && without;
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

function withoutMark(patch: string): string {
  return patch.startsWith("\ufeff") ? patch.slice(1) : patch;
}

/** Models often put a patch into a code block. */
function withoutFence(lines: string[]): string[] {
  // The part after the last line ending is not a line.
  if (lines.at(-1) === "") lines.pop();
  const first = lines.findIndex((line) => line.trim() !== "");
  const last = lines.findLastIndex((line) => line.trim() !== "");
  const isFenced =
    first < last && /^```\w*\s*$/.test(lines[first] ?? "") && /^```\s*$/.test(lines[last] ?? "");
  return isFenced ? lines.slice(first + 1, last) : lines;
}
