/**
 * Reads a small file that an agent may have created. Opening a pipe would block this process, and a device may never
 * end, so the type is checked by descriptor, after an open that does not wait.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { rethrowExhausted } from "./rethrow-exhausted.ts";

/**
 * Undefined if there is no such plain file, or if it is larger than `maxBytes`. Files of the kernel report no size, and
 * some of them never end, so they count as empty.
 *
 * @param flags such as `O_NOFOLLOW`; by default, links are followed
 */
export function readPlainFile(path: string, maxBytes: number, flags = 0): string | undefined {
  try {
    return usePlainFile(path, constants.O_RDONLY | flags, (descriptor, { size }) =>
      size === 0 ? "" : size <= maxBytes ? readText(descriptor) : undefined,
    );
  } catch (error) {
    rethrowExhausted(error);
    return undefined; // Missing, or not readable.
  }
}

/**
 * Reads files of the kernel too, such as a list of mounts, and files that grow. Reads bytes first: where reads end in the
 * middle of a block, Node 24 corrupts its memory when it reads more than 64 KB as text. Throws if it cannot be read.
 */
export function readText(file: string | number): string {
  return readFileSync(file).toString("utf8");
}

/** Undefined if it is not a plain file. Throws if it cannot be opened. */
export function usePlainFile<T>(
  path: string,
  flags: number,
  use: (descriptor: number, stats: Stats) => T,
): T | undefined {
  const descriptor = openSync(path, flags | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const stats = fstatSync(descriptor);
    return stats.isFile() ? use(descriptor, stats) : undefined;
  } finally {
    closeSync(descriptor);
  }
}
