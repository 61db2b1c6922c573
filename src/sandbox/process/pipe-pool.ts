/**
 * Provides real pipes for a command's output. Node gives a child a socket, which cannot be reopened, so `echo x >
 * /dev/stderr` fails. Both streams also have to share one pipe to keep their order. Node cannot create a pipe, so
 * `mkfifo` creates several at once. They are unlinked before use, and nothing is left behind.
 */
import { execFile } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "../temporary-folder.ts";
import { DEFAULT_PATH } from "../tiers/clean-environment.ts";

export interface OutputPipe {
  /** Close it once the child has it: the pipe ends when no writer is left. */
  readonly writer: number;
  /**
   * Call it once. A chunk is valid only during the callback: all chunks share one buffer, so a flood costs no memory.
   */
  readonly read: (onChunk: (chunk: Buffer) => void) => Readable;
  /** Use it instead of `read`. */
  readonly discard: () => void;
}

export interface PipePool {
  /** Undefined if no pipe can be created, for example when the temporary folder is read-only. */
  take(): Promise<OutputPipe | undefined>;
}

export function createPipePool(): PipePool {
  const ready: Ends[] = [];
  let filling: Promise<void> | undefined;
  const fill = async (): Promise<void> => {
    ready.push(...(await makePipes()));
    filling = undefined;
  };
  return {
    async take() {
      if (ready.length === 0) await (filling ??= fill());
      const ends = ready.pop();
      if (ends === undefined) return undefined;
      return {
        writer: ends.writer,
        read: (onChunk) => readPipe(ends.reader, onChunk),
        discard: () => closeSync(ends.reader),
      };
    },
  };
}

export const pipePool = createPipePool();

interface Ends {
  readonly reader: number;
  readonly writer: number;
}

const PIPES_AT_ONCE = 16;
const CHUNK_BYTES = 65_536;

function readPipe(fd: number, onChunk: (chunk: Buffer) => void): Readable {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  const callback = (size: number): boolean => {
    onChunk(buffer.subarray(0, size));
    return true;
  };
  return new Socket({ fd, readable: true, writable: false, onread: { buffer, callback } }).resume();
}

async function makePipes(): Promise<Ends[]> {
  const made: Ends[] = [];
  const place = temporaryFolder();
  if (place === undefined) return made;
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(place, "toolwright-pipes-"));
    const paths = Array.from({ length: PIPES_AT_ONCE }, (_, index) => join(folder ?? "", String(index)));
    await promisify(execFile)("mkfifo", ["-m", "600", ...paths], { env: { PATH: DEFAULT_PATH } });
    for (const path of paths) {
      // Open the reader first: opening a writer blocks until there is one.
      const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      made.push({ reader, writer: openWriter(path, reader) });
    }
  } catch {
    // Use the pipes that were created. If there are none, the caller falls back to Node's own.
  }
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  return made;
}

function openWriter(path: string, reader: number): number {
  try {
    return openSync(path, constants.O_WRONLY);
  } catch (error) {
    closeSync(reader);
    throw error;
  }
}
