/**
 * Implements the `edit` tool on the disk: read, patch, replace. It must never overwrite a change that another process
 * made in the meantime, and must never create, rename or delete a file.
 */
import { lstatSync, fstatSync, type BigIntStats } from "node:fs";
import { applyPatch } from "../patch/apply-patch.ts";
import { parseUnifiedDiff } from "../patch/parse-unified-diff.ts";
import { decodeText, encodeText } from "./decode-text.ts";
import { fileError, toFileError } from "./file-error.ts";
import { inTurn } from "./file-queue.ts";
import { openLeaf, readWhole, withRegularFile } from "./open-file.ts";
import { LINK } from "./open-folder.ts";
import type { PathStrategy } from "./path-strategy.ts";
import { refuseProtected, type IsProtected } from "../protection/refuse-protected.ts";
import { replaceFile } from "./replace-file.ts";
import { walk, type Walked } from "./walk.ts";
import {
  type BeforeReplace,
  checkReplaceable,
  contentTooLarge,
  refuseChangedLocation,
  statLeaf,
} from "./write-text-file.ts";

export interface EditTextFileOptions {
  readonly rootDir: string;
  /** Relative to the root, or absolute inside it. The file has to exist. */
  readonly path: string;
  /** A unified diff of this one file. */
  readonly patch: string;
  /** The limit for the patch, for the file and for the result, each. */
  readonly maxBytes: number;
  readonly isProtected?: IsProtected | undefined;
  readonly strategy?: PathStrategy | undefined;
  /** Runs before the file is replaced. If it throws, nothing is changed. */
  readonly beforeReplace?: BeforeReplace | undefined;
}

const TOO_LARGE_HINT = "Change a file of this size with a command.";

export async function editTextFile(options: EditTextFileOptions): Promise<void> {
  const { rootDir, path, patch, maxBytes, isProtected, strategy } = options;
  const size = encodeText(patch, "patch").length;
  if (size > maxBytes) throw patchTooLarge(size, maxBytes);
  const walked = walk({ rootDir, path, leaf: statLeaf, strategy });
  const { directory, name, shown } = walked;
  try {
    refuseProtected(walked, isProtected);
    await inTurn(directory, name, () => editInPlace(walked, options));
  } catch (error) {
    throw toFileError(error, shown);
  } finally {
    walked.close();
  }
}

async function editInPlace(
  walked: Walked<unknown>,
  { patch, maxBytes, isProtected, beforeReplace }: EditTextFileOptions,
): Promise<void> {
  const { directory, name, strategy, shown } = walked;
  const descriptor = openLeaf(directory, name, strategy);
  // The walk has resolved all links, so this one is new.
  if (descriptor === LINK) throw changedMeanwhile(shown);
  await withRegularFile(descriptor, shown, async (stats) => {
    const before = fstatSync(descriptor, { bigint: true });
    const old = readWhole(descriptor, stats, maxBytes, shown, TOO_LARGE_HINT);
    const text = decodeText(old, shown);
    const patched = applyPatch(text, parseUnifiedDiff(patch, namesOf(walked)), shown);
    const bytes = encodeText(patched, "patched file");
    if (bytes.length > maxBytes) throw contentTooLarge(bytes.length, maxBytes);
    checkReplaceable(stats, walked);
    await beforeReplace?.({
      readBefore: (mostBytes) => (old.length > mostBytes ? "too large" : old),
      after: bytes,
    });
    const beforeRename = (): void => {
      const now = lstatSync(`${directory.base}/${name}`, { bigint: true, throwIfNoEntry: false });
      if (!isUnchanged(before, now)) throw changedMeanwhile(shown);
      refuseChangedLocation(walked, isProtected);
    };
    await replaceFile({ location: walked, bytes, existing: stats, beforeRename });
  });
}

/** The names that a header may use for the file: the requested path or the resolved one. */
function namesOf({ relativePath, realPath, realRoot }: Walked<unknown>): string[] {
  return [relativePath, realPath.slice(realRoot.length + 1), realPath];
}

function isUnchanged(before: BigIntStats, now: BigIntStats | undefined): boolean {
  return (
    now !== undefined &&
    now.dev === before.dev &&
    now.ino === before.ino &&
    now.size === before.size &&
    now.mtimeNs === before.mtimeNs &&
    now.ctimeNs === before.ctimeNs
  );
}

function changedMeanwhile(shown: string): Error {
  return fileError(
    "TOOL_PATCH_FAILED",
    `Failed to apply patch: ${shown} was changed by another process in the meantime.`,
    {
      retryable: true,
    },
  );
}

function patchTooLarge(size: number, maxBytes: number): Error {
  return fileError(
    "TOOL_PATCH_TOO_LARGE",
    `Patch too large: it has ${size} bytes, the limit is ${maxBytes}. Nothing was changed.`,
    { details: { size, maxBytes } },
  );
}
