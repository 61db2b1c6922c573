/** Implements the `read` tool on the disk. It must never return part of a file as if it were the whole. */
import { closeSync } from "node:fs";
import { decodeText } from "./decode-text.ts";
import { toFileError } from "./file-error.ts";
import { openLeaf, readWhole, withRegularFile } from "./open-file.ts";
import type { PathStrategy } from "./path-strategy.ts";
import { hiddenPath, refuseHidden, type IsProtected } from "../protection/refuse-protected.ts";
import { readLines, toLineRange } from "./read-lines.ts";
import { isStoreContent } from "../protection/store-file.ts";
import { walk } from "./walk.ts";

export interface ReadTextFileOptions {
  readonly rootDir: string;
  /** Relative to the root, or absolute inside it. */
  readonly path: string;
  readonly maxBytes: number;
  /** First line to return, from 1. With `offset` or `limit` the file may have any size. */
  readonly offset?: number | undefined;
  /** Number of lines to return. */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Hides more files, for example from `protectPaths`. */
  readonly isProtected?: IsProtected | undefined;
  /** For Toolwright itself, which reads its own folder. */
  readonly showOwn?: boolean | undefined;
  readonly strategy?: PathStrategy | undefined;
}

export async function readTextFile(options: ReadTextFileOptions): Promise<string> {
  const { rootDir, path, maxBytes, signal, strategy } = options;
  const range = toLineRange(options.offset, options.limit);
  const walked = walk({ rootDir, path, leaf: openLeaf, strategy });
  const { leaf: descriptor, shown } = walked;
  try {
    if (options.showOwn !== true) refuseHidden(walked, options.isProtected);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  } finally {
    // The file is open now, so changes to its folders no longer matter.
    walked.close();
  }
  try {
    const bytes = await withRegularFile(descriptor, shown, (stats) =>
      range === undefined
        ? readWhole(descriptor, stats, maxBytes, shown)
        : readLines({ ...range, descriptor, maxBytes, shown, signal }),
    );
    if (options.showOwn !== true && isStoreContent(bytes)) throw hiddenPath(walked);
    return decodeText(bytes, shown);
  } catch (error) {
    throw toFileError(error, shown);
  }
}
