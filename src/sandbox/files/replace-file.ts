/**
 * Replaces a file atomically. It must never write into an existing inode: a process that reads it, or a hard link to
 * it outside, would see the change.
 *
 * The data is synced before the rename, so a power cut leaves the old or the new text and never an empty file. The
 * folders are synced after the rename, so a write that is logged is also on the disk.
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
  readonly location: Pick<Walked<unknown>, "directory" | "name" | "created" | "strategy" | "shown">;
  readonly bytes: Buffer;
  /** The file to replace. Its mode, owner, access list and extended attributes are preserved. */
  readonly existing: Pick<Stats, "mode" | "uid" | "gid"> | undefined;
  /** Runs right before the rename, in the same turn of the event loop. May throw. */
  readonly beforeRename?: (() => void) | undefined;
}

const sync = promisify(fsync);

export async function replaceFile(replacement: Replacement): Promise<void> {
  const { location, beforeRename } = replacement;
  const { base } = location.directory;
  const temporary = `${base}/.toolwright-${randomUUID()}.tmp`;
  let made = false;
  try {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | location.strategy.fileFlags;
    // Not accessible to others until it has the old file's mode.
    const descriptor = openSync(temporary, flags, replacement.existing === undefined ? 0o666 : 0o600);
    made = true;
    try {
      await fill(descriptor, replacement);
    } finally {
      closeSync(descriptor);
    }
    beforeRename?.();
    renameSync(temporary, `${base}/${location.name}`);
  } catch (error) {
    if (made) unlinkQuietly(temporary);
    throw error;
  }
  await syncFolders(location);
}

async function fill(descriptor: number, { bytes, existing, location }: Replacement): Promise<void> {
  // Before the bytes: writing them drops attributes that grant privileges, such as capabilities.
  if (existing !== undefined) await copyAttributes(location, descriptor);
  for (let written = 0; written < bytes.length;) {
    written += writeSync(descriptor, bytes, written, bytes.length - written);
  }
  if (existing !== undefined) {
    keepOwner(descriptor, existing);
    // Like any write, this drops the set-user-id and set-group-id bits.
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
    // Only root can change the owner. Otherwise the writing user owns the file, as with any editor that renames.
  }
}

/** A failure here comes after the change, and the error says so. */
async function syncFolders({ directory, created, strategy, shown }: Replacement["location"]): Promise<void> {
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
    // Only root can sync a folder that is writable but not readable.
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
    // Some network and user-space file systems do not support fsync, and there is no alternative.
    if (errnoOf(error) !== "EINVAL" && errnoOf(error) !== "ENOTSUP") throw error;
  }
}

function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Report the original failure instead.
  }
}
