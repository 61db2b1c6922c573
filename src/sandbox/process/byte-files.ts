/**
 * Hands bytes to a child by descriptor: a file that has no name, written once and opened anew for each child. Cheaper
 * than a pipe, and the same bytes (a filter, the options for one root) are handed over again and again.
 */
import { closeSync, openSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface ByteFiles {
  /** A descriptor at the first byte, for the caller to close; undefined where no such file can be had. */
  open(bytes: Uint8Array): number | undefined;
}

export function createByteFiles(): ByteFiles {
  const files = new Map<string, number>();
  return {
    open(bytes) {
      const key = Buffer.from(bytes).toString("latin1");
      try {
        const file = files.get(key) ?? createNameless(bytes);
        // The one used longest ago is the first in the map.
        files.delete(key);
        files.set(key, file);
        for (const [oldKey, old] of files) {
          if (files.size <= MAX_FILES) break;
          files.delete(oldKey);
          closeSync(old);
        }
        // Opened by this path, each reader has a position of its own.
        return openSync(`/proc/self/fd/${file}`, "r");
      } catch {
        return undefined; // No /proc, or no writable folder for temporary files: a pipe does as well.
      }
    },
  };
}

export const byteFiles = createByteFiles();

const MAX_FILES = 16;

function createNameless(bytes: Uint8Array): number {
  const path = join(tmpdir(), `toolwright-${process.pid}-${process.hrtime.bigint()}`);
  const file = openSync(path, "wx+", 0o600);
  unlinkSync(path);
  writeSync(file, bytes);
  return file;
}
