/**
 * Real pipes for a command's output. What Node gives a child as a pipe is a socket, which cannot be opened again, so that
 * `echo x > /dev/stderr` fails; and both streams have to be one pipe to keep their order. Node cannot make a pipe, so
 * `mkfifo` makes some at once; they lose their names before they are used, and nothing is left behind.
 */
import { execFile } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { DEFAULT_PATH } from "../isolation/clean-environment.ts";

export interface OutputPipe {
  /** To be closed once the child has it: the pipe ends when nobody can write to it any more. */
  readonly writer: number;
  /** To be called once. A chunk is valid during the call only: all come in one buffer, so that a flood costs no memory. */
  readonly read: (onChunk: (chunk: Buffer) => void) => Readable;
  /** In place of reading it. */
  readonly discard: () => void;
}

export interface PipePool {
  /** Undefined where no pipe can be made, as with a read-only folder for temporary files. */
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
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), "toolwright-pipes-"));
    const paths = Array.from({ length: PIPES_AT_ONCE }, (_, index) => join(folder ?? "", String(index)));
    await promisify(execFile)("mkfifo", ["-m", "600", ...paths], { env: { PATH: DEFAULT_PATH } });
    for (const path of paths) {
      // The reader first: a writer waits for one.
      const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      made.push({ reader, writer: openWriter(path, reader) });
    }
  } catch {
    // Whatever was made is used; without any, the caller goes on with what Node has.
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
