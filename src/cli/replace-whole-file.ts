/** Writes a file as a whole: a process that is killed at any time leaves the old file, or none, or the new one. */
import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { messageOf } from "../invoke/error-record.ts";
import { errnoOf } from "../sandbox/files/file-error.ts";
import { CliError } from "./cli-error.ts";

export function replaceWholeFile(file: string, text: string): void {
  const target = realFile(file);
  const temporary = join(dirname(target), `.${basename(target)}.${randomUUID()}.tmp`);
  try {
    const descriptor = openSync(temporary, "wx");
    try {
      writeFileSync(descriptor, text);
      // Otherwise the new name may survive a power failure, and the text may not.
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new CliError(
      "CLI_FAILED",
      `${file} cannot be written: ${messageOf(error)}`,
      "Name a file in a folder that exists and that you may write to.",
    );
  }
}

/** A link stays one: the file that it names is replaced. */
function realFile(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return file;
    throw error;
  }
}
