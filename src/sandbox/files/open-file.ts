/**
 * Opens and reads one regular file. It must never block on a FIFO or a device, and must never trust the reported
 * size: files grow, and files in /proc claim to be empty.
 */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { errnoOf, fileError } from "./file-error.ts";
import { LINK } from "./open-folder.ts";
import type { Directory, PathStrategy } from "./path-strategy.ts";

const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Opens the entry with that name, unless it is a link. */
export function openLeaf(directory: Directory, name: string, strategy: PathStrategy): number | typeof LINK {
  try {
    return openSync(`${directory.base}/${name}`, READ_FLAGS | strategy.fileFlags);
  } catch (error) {
    if (errnoOf(error) === "ELOOP") return LINK;
    throw error;
  }
}

/** Runs `use` on a descriptor that is verified to be a regular file, and closes it at the end. */
export async function withRegularFile<T>(
  descriptor: number,
  shown: string,
  use: (stats: Stats) => T | Promise<T>,
): Promise<T> {
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw notAFile(shown, stats);
    return await use(stats);
  } finally {
    closeSync(descriptor);
  }
}

export function notAFile(shown: string, stats: Stats): Error {
  const what = stats.isDirectory() ? "a folder" : "a device, a pipe or a socket";
  return fileError("TOOL_NOT_A_FILE", `The path is ${what}, not a regular file: ${shown}.`);
}

/**
 * Reads the whole file, or throws `TOOL_FILE_TOO_LARGE` with `hint`. Never holds more than one byte over the limit.
 */
export function readWhole(
  descriptor: number,
  stats: Stats,
  maxBytes: number,
  shown: string,
  hint?: string,
): Buffer {
  const tooLarge = (size: string): Error =>
    fileError("TOOL_FILE_TOO_LARGE", `File too large: ${shown} has ${size}, the limit is ${maxBytes}.`, {
      details: { maxBytes },
      hint,
    });
  if (stats.size > maxBytes) throw tooLarge(`${stats.size} bytes`);
  let buffer = Buffer.allocUnsafe(stats.size + 1);
  let length = 0;
  for (;;) {
    const count = readSync(descriptor, buffer, length, buffer.length - length, null);
    if (count === 0) return buffer.subarray(0, length);
    length += count;
    if (length > maxBytes) throw tooLarge(`more than ${maxBytes} bytes`);
    if (length === buffer.length) {
      const larger = Buffer.allocUnsafe(Math.min(Math.max(length * 2, 65_536), maxBytes + 1));
      buffer.copy(larger, 0, 0, length);
      buffer = larger;
    }
  }
}
