/**
 * Reads some lines of a file of any size. It must never hold more than one block plus the requested lines, and must
 * never block the event loop while it searches for them.
 */
import { read } from "node:fs";
import { promisify } from "node:util";
import { fileError } from "./file-error.ts";

export interface LineRange {
  /** Number of the first line, from 1. */
  readonly offset: number;
  /** Number of lines. Undefined: all following lines. */
  readonly limit: number | undefined;
}

export interface ReadLinesOptions extends LineRange {
  readonly descriptor: number;
  readonly maxBytes: number;
  readonly shown: string;
  readonly signal?: AbortSignal | undefined;
}

const BLOCK_BYTES = 262_144;
const NEWLINE = 10;
const readBlock = promisify(read);

/** Validates the model's arguments. Undefined means the whole file. */
export function toLineRange(offset: unknown, limit: unknown): LineRange | undefined {
  if (offset === undefined && limit === undefined) return undefined;
  const range = { offset: offset ?? 1, limit };
  return {
    offset: positive("offset", range.offset),
    limit: limit === undefined ? limit : positive("limit", limit),
  };
}

/** The lines with their line endings. Empty if the file ends before them. */
export async function readLines(options: ReadLinesOptions): Promise<Buffer> {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  const pieces: Buffer[] = [];
  let toSkip = options.offset - 1;
  let toTake = options.limit ?? Number.POSITIVE_INFINITY;
  let position = 0;
  let taken = 0;
  while (toTake > 0) {
    if (options.signal?.aborted === true) throw aborted(options.shown);
    const { bytesRead } = await readBlock(options.descriptor, block, 0, BLOCK_BYTES, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    const skipped = passLines(block, 0, bytesRead, toSkip);
    toSkip -= skipped.lines;
    if (toSkip > 0) continue;
    const part = passLines(block, skipped.end, bytesRead, toTake);
    toTake -= part.lines;
    taken += part.end - skipped.end;
    if (taken > options.maxBytes) throw partTooLarge(options);
    // Copied, because the block is reused.
    pieces.push(Buffer.from(block.subarray(skipped.end, part.end)));
  }
  return Buffer.concat(pieces);
}

/** Where `count` lines from `start` end, or the block does, and how many line endings precede that. */
function passLines(block: Buffer, start: number, end: number, count: number): { end: number; lines: number } {
  let position = start;
  let lines = 0;
  while (lines < count && position < end) {
    const found = block.indexOf(NEWLINE, position);
    if (found === -1 || found >= end) return { end, lines };
    position = found + 1;
    lines += 1;
  }
  return { end: position, lines };
}

function positive(name: string, value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1) return value;
  throw fileError(
    "TOOL_INPUT_INVALID",
    `${name} must be a whole number of at least 1; it is ${String(value)}.`,
  );
}

function partTooLarge({ shown, offset, limit, maxBytes }: ReadLinesOptions): Error {
  const lines = limit === undefined ? `from line ${offset} on` : `${limit} lines from line ${offset}`;
  return fileError(
    "TOOL_FILE_TOO_LARGE",
    `File too large: the requested part of ${shown} (${lines}) has more than ${maxBytes} bytes, which is the limit.`,
    { details: { maxBytes }, hint: "Ask for fewer lines with limit." },
  );
}

function aborted(shown: string): Error {
  return fileError("TOOL_ABORTED", `Reading was aborted: ${shown}.`);
}
