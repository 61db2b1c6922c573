/**
 * Passes bytes to a child through a descriptor. The bytes are in an unnamed file that is written once and reopened
 * for each child. This is cheaper than a pipe, because the same bytes (a filter, the options for one root) are passed
 * many times.
 */
import { closeSync, openSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../temporary-folder.ts";

export interface ByteFiles {
  /** Returns a descriptor at the first byte, which the caller closes, or undefined if the file cannot be created. */
  open(bytes: Uint8Array): number | undefined;
}

export function createByteFiles(): ByteFiles {
  const files = new Map<string, number>();
  return {
    open(bytes) {
      const key = Buffer.from(bytes).toString("latin1");
      try {
        const file = files.get(key) ?? createNameless(bytes);
        if (file === undefined) return undefined;
        // The first map entry is the least recently used.
        files.delete(key);
        files.set(key, file);
        for (const [oldKey, old] of files) {
          if (files.size <= MAX_FILES) break;
          files.delete(oldKey);
          closeSync(old);
        }
        // Opening this path gives each reader its own file position.
        return openSync(`/proc/self/fd/${file}`, "r");
      } catch {
        return undefined; // No /proc or no writable temporary folder: the caller falls back to a pipe.
      }
    },
  };
}

export const byteFiles = createByteFiles();

const MAX_FILES = 16;

function createNameless(bytes: Uint8Array): number | undefined {
  const folder = temporaryFolder();
  if (folder === undefined) return undefined;
  const path = join(folder, `toolwright-${process.pid}-${process.hrtime.bigint()}`);
  const file = openSync(path, "wx+", 0o600);
  unlinkSync(path);
  writeSync(file, bytes);
  return file;
}
