/** Parses the text of a patch into hunks, or reports what is wrong with it. It must never repair a patch. */
import { parsePatch, type StructuredPatchHunk } from "diff";
import { checkHeaderNames } from "./header-names.ts";
import { checkPatchText } from "./check-patch-text.ts";
import { patchFailed } from "./patch-error.ts";

export interface PatchLine {
  readonly mark: " " | "-" | "+";
  readonly text: string;
}

export interface Hunk {
  /** The index, from 0, of the line in the old text where the hunk begins according to its header. */
  readonly stated: number;
  readonly lines: readonly PatchLine[];
  /** The lines of the old text: unchanged and removed lines. */
  readonly oldLines: readonly string[];
  /** Marked "\ No newline at end of file". */
  readonly oldLacksNewline: boolean;
  readonly newLacksNewline: boolean;
}

export interface Patch {
  readonly hunks: readonly Hunk[];
  readonly exactEndings: boolean;
}

/** `names` holds the spellings of the file to edit. Without it, names in the header are ignored. */
export function parseUnifiedDiff(patch: string, names?: readonly string[]): Patch {
  const { text, exactEndings } = checkPatchText(patch);
  const header = text.slice(0, text.startsWith("@@") ? 0 : text.indexOf("\n@@")).split("\n");
  if (names !== undefined) checkHeaderNames(header, names);
  const hunks = parse(text).map(toHunk);
  checkOrder(hunks);
  checkMarkers(hunks);
  if (!hunks.some((hunk) => hunk.lines.some(({ mark }) => mark !== " "))) {
    throw patchFailed("it changes nothing.", 'Mark removed lines with "-" and added lines with "+".');
  }
  return { hunks, exactEndings };
}

/** The reverse patch. Its stated lines are computed from the hunks, not taken from the second half of the header. */
export function reversePatch({ hunks, exactEndings }: Patch): Patch {
  let shift = 0;
  const reversed = hunks.map((hunk): Hunk => {
    const lines = hunk.lines.map(({ mark, text }): PatchLine => ({ mark: OPPOSITE[mark], text }));
    const stated = hunk.stated + shift;
    const oldLines = oldLinesOf(lines);
    shift += oldLines.length - hunk.oldLines.length;
    return {
      stated,
      lines,
      oldLines,
      oldLacksNewline: hunk.newLacksNewline,
      newLacksNewline: hunk.oldLacksNewline,
    };
  });
  return { hunks: reversed, exactEndings };
}

const OPPOSITE = { " ": " ", "-": "+", "+": "-" } as const;

function parse(text: string): readonly StructuredPatchHunk[] {
  try {
    const [first, second] = parsePatch(text);
    if (first !== undefined && second === undefined) return first.hunks;
  } catch (error) {
    // The parser quotes the line that it cannot read.
    throw patchFailed(
      (show) => `it cannot be read: ${show(error instanceof Error ? error.message : String(error))}.`,
    );
  }
  throw patchFailed("it is for more than one file.", "Send one patch for each file.");
}

function toHunk(parsed: StructuredPatchHunk): Hunk {
  const lines: PatchLine[] = [];
  let oldLacksNewline = false;
  let newLacksNewline = false;
  for (const line of parsed.lines) {
    const mark = line[0];
    if (mark === "\\") {
      const before = lines.at(-1)?.mark;
      if (before !== "+") oldLacksNewline = true;
      if (before !== "-") newLacksNewline = true;
    } else {
      if ((oldLacksNewline && mark !== "+") || (newLacksNewline && mark !== "-")) {
        throw patchFailed("a line follows one that it marks as the last of the file.");
      }
      lines.push({ mark: mark === "-" || mark === "+" ? mark : " ", text: line.slice(1) });
    }
  }
  // For a hunk without old lines, the parser has already moved the start to the following line.
  return {
    stated: parsed.oldStart - 1,
    lines,
    oldLines: oldLinesOf(lines),
    oldLacksNewline,
    newLacksNewline,
  };
}

function oldLinesOf(lines: readonly PatchLine[]): string[] {
  return lines.filter(({ mark }) => mark !== "+").map(({ text }) => text);
}

function checkOrder(hunks: readonly Hunk[]): void {
  let end = -1;
  for (const [index, hunk] of hunks.entries()) {
    if (hunk.stated < end) {
      throw patchFailed(
        `hunk ${index + 1} begins before hunk ${index} ends.`,
        "Send the hunks in the order of the file, without overlaps.",
      );
    }
    end = hunk.stated + hunk.oldLines.length;
  }
}

function checkMarkers(hunks: readonly Hunk[]): void {
  const early = hunks.findIndex((hunk) => hunk.oldLacksNewline || hunk.newLacksNewline);
  if (early !== -1 && early < hunks.length - 1) {
    throw patchFailed(`hunk ${early + 1} marks the end of the file, and more hunks follow.`);
  }
}
