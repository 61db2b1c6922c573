/**
 * Implements the `write` tool on the disk. It must never leave half a file, a temporary file or an empty folder
 * behind when it fails.
 */
import { closeSync, constants, lstatSync, openSync, readlinkSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { encodeText } from "./decode-text.ts";
import { errnoOf, fileError, toFileError } from "./file-error.ts";
import { inTurn } from "./file-queue.ts";
import { notAFile, openLeaf, readWhole } from "./open-file.ts";
import { LINK } from "./open-folder.ts";
import type { Directory, PathStrategy } from "./path-strategy.ts";
import { refuseProtected, type IsProtected } from "../protection/refuse-protected.ts";
import { replaceFile } from "./replace-file.ts";
import { removeCreated, walk, type Walked } from "./walk.ts";

export interface WriteTextFileOptions {
  readonly rootDir: string;
  /** Relative to the root, or absolute inside it. Missing folders are created. */
  readonly path: string;
  readonly content: string;
  readonly maxBytes: number;
  /** Protects more files, for example from `protectPaths`. */
  readonly isProtected?: IsProtected | undefined;
  readonly strategy?: PathStrategy | undefined;
  /** Runs before the file is replaced. If it throws, nothing is written. */
  readonly beforeReplace?: BeforeReplace | undefined;
}

/** What is replaced, and by what. `undefined`: there is no file. */
export type BeforeReplace = (replaced: {
  readonly readBefore: (mostBytes: number) => Buffer | undefined | "too large";
  readonly after: Buffer;
}) => Promise<void>;

export async function writeTextFile(options: WriteTextFileOptions): Promise<void> {
  const { rootDir, path, maxBytes, isProtected, strategy } = options;
  const bytes = encodeText(options.content, "content");
  if (bytes.length > maxBytes) throw contentTooLarge(bytes.length, maxBytes);
  const walked = walk({
    rootDir,
    path,
    leaf: statLeaf,
    beforeCreate: (location) => refuseProtected(location, isProtected),
    strategy,
  });
  const { directory, name, shown, leaf: existing } = walked;
  try {
    refuseProtected(walked, isProtected);
    if (existing !== undefined) checkReplaceable(existing, walked);
    const beforeRename = (): void => refuseChangedPlace(walked, isProtected);
    await inTurn(directory, name, async () => {
      await options.beforeReplace?.({
        readBefore: (mostBytes) => readBefore(walked, existing, mostBytes),
        after: bytes,
      });
      await replaceFile({ place: walked, bytes, existing, beforeRename });
    });
  } catch (error) {
    removeCreated(walked.created);
    throw toFileError(error, shown);
  } finally {
    walked.close();
  }
}

/** What is in the file now. */
export function readBefore(
  { directory, name, strategy, shown }: Walked<unknown>,
  existing: Stats | undefined,
  mostBytes: number,
): Buffer | undefined | "too large" {
  if (existing === undefined) return undefined;
  if (existing.size > mostBytes) return "too large";
  const descriptor = openLeaf(directory, name, strategy);
  if (descriptor === LINK) return "too large";
  try {
    return readWhole(descriptor, existing, mostBytes, shown);
  } catch {
    // It has grown since, or cannot be read: it is replaced without a copy.
    return "too large";
  } finally {
    closeSync(descriptor);
  }
}

/** Stats the current entry. Undefined if there is none. */
export function statLeaf(directory: Directory, name: string): Stats | undefined | typeof LINK {
  const stats = lstatSync(`${directory.base}/${name}`, { throwIfNoEntry: false });
  return stats?.isSymbolicLink() === true ? LINK : stats;
}

/**
 * A rename does not check whether the old file is writable, so this opens it for writing. `access` would follow a link,
 * and check the real user, not the effective one that writes.
 */
export function checkReplaceable(stats: Stats, place: Walked<unknown>): void {
  if (!stats.isFile()) throw notAFile(place.shown, stats);
  const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY | place.strategy.fileFlags;
  try {
    closeSync(openSync(`${place.directory.base}/${place.name}`, flags));
  } catch (error) {
    // A running program cannot be written to, but it can be replaced.
    if (errnoOf(error) !== "ETXTBSY") throw error;
  }
}

/**
 * Call it right before the rename, in the same turn of the event loop. Since the first check, a command may have moved
 * the folder to a protected place, or made a repository of it, and its own check at the end may be over.
 */
export function refuseChangedPlace(place: Walked<unknown>, isProtected: IsProtected | undefined): void {
  const { directory, realPath, shown } = place;
  const isHeld = directory.base.startsWith("/proc/");
  if (isHeld && readlinkSync(directory.base) !== dirname(realPath)) {
    throw fileError(
      "TOOL_EXECUTION_FAILED",
      `The folder of ${shown} was moved by another process in the meantime. Nothing was written.`,
      { retryable: true },
    );
  }
  refuseProtected(place, isProtected);
}

export function contentTooLarge(size: number, maxBytes: number): Error {
  return fileError(
    "TOOL_CONTENT_TOO_LARGE",
    `Content too large: it has ${size} bytes, the limit is ${maxBytes}. Nothing was written.`,
    { details: { size, maxBytes } },
  );
}
