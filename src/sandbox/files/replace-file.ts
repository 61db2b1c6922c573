/**
 * Puts a new file in the place of an old one in a single step. Must never write into an existing inode: whoever reads
 * it meanwhile, or holds a hard link of it outside, would see the change.
 *
 * The data is synced before the rename, so that a power cut leaves the old text or the new one and never an empty
 * file; the folders are synced after it, so that a write which is on record is on the disk as well.
 */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import type { Stats } from "node:fs";
import { promisify } from "node:util";
import { ToolwrightError } from "../../errors.ts";
import { copyAttributes } from "./copy-attributes.ts";
import { errnoOf } from "./file-error.ts";
import type { Directory, PathStrategy } from "./path-strategy.ts";
import type { Walked } from "./walk.ts";

export interface Replacement {
  readonly place: Pick<Walked<unknown>, "directory" | "name" | "created" | "strategy" | "shown">;
  readonly bytes: Buffer;
  /** The file that is replaced, whose mode, owner, access list and extended attributes are kept. */
  readonly existing: Pick<Stats, "mode" | "uid" | "gid"> | undefined;
  /** Runs right before the rename, in the same turn of the event loop; may throw. */
  readonly beforeRename?: (() => void) | undefined;
}

const sync = promisify(fsync);

export async function replaceFile(replacement: Replacement): Promise<void> {
  const { place, beforeRename } = replacement;
  const { base } = place.directory;
  const temporary = `${base}/.toolwright-${randomUUID()}.tmp`;
  let made = false;
  try {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | place.strategy.fileFlags;
    // Closed to others until it has the old file's mode.
    const descriptor = openSync(temporary, flags, replacement.existing === undefined ? 0o666 : 0o600);
    made = true;
    try {
      await fill(descriptor, replacement);
    } finally {
      closeSync(descriptor);
    }
    beforeRename?.();
    renameSync(temporary, `${base}/${place.name}`);
  } catch (error) {
    if (made) unlinkQuietly(temporary);
    throw error;
  }
  await syncFolders(place);
}

async function fill(descriptor: number, { bytes, existing, place }: Replacement): Promise<void> {
  // Before the bytes: writing them takes away what lends out rights, such as capabilities.
  if (existing !== undefined) await copyAttributes(place, descriptor);
  for (let written = 0; written < bytes.length;) {
    written += writeSync(descriptor, bytes, written, bytes.length - written);
  }
  if (existing !== undefined) {
    keepOwner(descriptor, existing);
    // Like any write, this drops the bits that lend out the owner's rights.
    fchmodSync(descriptor, existing.mode & 0o777);
  }
  await syncIfSupported(descriptor);
}

function keepOwner(descriptor: number, { uid, gid }: Pick<Stats, "uid" | "gid">): void {
  const own = fstatSync(descriptor);
  if (own.uid === uid && own.gid === gid) return;
  try {
    fchownSync(descriptor, uid, gid);
  } catch {
    // Only root gives files away. The file then belongs to whoever wrote it, as with any editor that renames.
  }
}

/** A failure here comes after the change, and says so. */
async function syncFolders({ directory, created, strategy, shown }: Replacement["place"]): Promise<void> {
  try {
    await syncFolder(directory, strategy);
    for (const { parent } of created.toReversed()) await syncFolder(parent, strategy);
  } catch (error) {
    throw new ToolwrightError(
      "TOOL_EXECUTION_FAILED",
      `The file was written, but the disk did not confirm it: ${shown}.`,
      { effect: "happened", details: { errno: errnoOf(error) } },
    );
  }
}

async function syncFolder(directory: Directory, strategy: PathStrategy): Promise<void> {
  let descriptor: number;
  try {
    descriptor = openSync(
      `${directory.base}/.`,
      constants.O_RDONLY | constants.O_DIRECTORY | strategy.fileFlags,
    );
  } catch {
    // A folder that may be written but not read cannot be synced by anybody but root.
    return;
  }
  try {
    await syncIfSupported(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

async function syncIfSupported(descriptor: number): Promise<void> {
  try {
    await sync(descriptor);
  } catch (error) {
    // Some network and user-space file systems have no such call; there is nothing better to do there.
    if (errnoOf(error) !== "EINVAL" && errnoOf(error) !== "ENOTSUP") throw error;
  }
}

function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The failure that led here is the one to report.
  }
}
