/** Puts a file back as it was before a call replaced it, if nothing else has changed it since. */
import { createHash } from "node:crypto";
import { lstatSync, type Stats, unlinkSync } from "node:fs";
import { fileError, toFileError } from "./file-error.ts";
import { inTurn } from "./file-queue.ts";
import { replaceFile } from "./replace-file.ts";
import { refuseProtected, type IsProtected } from "../protection/refuse-protected.ts";
import { walk, type Walked } from "./walk.ts";
import { checkReplaceable, readBefore, refuseChangedLocation, statLeaf } from "./write-text-file.ts";

export interface RestoreFileOptions {
  readonly rootDir: string;
  readonly path: string;
  /** What the file was. `undefined`: there was none. */
  readonly before: Buffer | undefined;
  /** The digest of the content that the call wrote. */
  readonly afterHash: string;
  /** The call can have written no more than this: a larger file has changed since. */
  readonly maxBytes: number;
  readonly isProtected?: IsProtected | undefined;
}

export function hashBytes(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64url");
}

/** Does nothing if the file is already as it was. @throws TOOL_EXECUTION_FAILED if it has changed since */
export async function restoreFile(options: RestoreFileOptions): Promise<void> {
  const { rootDir, path, isProtected } = options;
  const walked = walk({ rootDir, path, leaf: statLeaf });
  try {
    refuseProtected(walked, isProtected);
    await inTurn(walked.directory, walked.name, () => restoreInPlace(walked, options));
  } catch (error) {
    throw toFileError(error, walked.shown);
  } finally {
    walked.close();
  }
}

async function restoreInPlace(
  walked: Walked<Stats | undefined>,
  { before, afterHash, maxBytes, isProtected }: RestoreFileOptions,
): Promise<void> {
  const { directory, name, leaf: existing, shown } = walked;
  const current = readBefore(walked, existing, maxBytes);
  const hash = current instanceof Buffer ? hashBytes(current) : current;
  // It was never written, or it was put back before.
  if (hash === (before === undefined ? undefined : hashBytes(before))) return;
  if (hash !== afterHash || existing === undefined) throw changedSince(shown);
  checkReplaceable(existing, walked);
  const beforeRename = (): void => {
    const now = lstatSync(`${directory.base}/${name}`, { throwIfNoEntry: false });
    if (now?.ino !== existing.ino || now.mtimeMs !== existing.mtimeMs) throw changedSince(shown);
    refuseChangedLocation(walked, isProtected);
  };
  if (before !== undefined) {
    await replaceFile({ location: walked, bytes: before, existing, beforeRename });
    return;
  }
  beforeRename();
  unlinkSync(`${directory.base}/${name}`);
}

function changedSince(shown: string): Error {
  return fileError(
    "TOOL_EXECUTION_FAILED",
    `${shown} has changed since the call, so it was not put back. Nothing was changed.`,
    { hint: "Compare the file, and restore it by hand if needed." },
  );
}
