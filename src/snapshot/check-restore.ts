/**
 * Refuses a restore that would have to delete something it must leave alone. Either the snapshot has a file where
 * there is now a folder with ignored files or another repository, or it has a folder where there is now an ignored
 * file.
 */
import { lstatSync, readdirSync, type Stats } from "node:fs";
import { ToolwrightError, type ErrorCode } from "../errors.ts";
import { showPath } from "../sandbox/files/file-error.ts";
import type { RestorePlan } from "./plan-restore.ts";
import { toPathBytes } from "./path-bytes.ts";

export function checkRestore(top: string, { writes, deletions }: RestorePlan): void {
  const going = new Set(deletions);
  const seen = new Set<string>();
  for (const path of writes) {
    for (const folder of foldersAbove(path)) {
      if (seen.has(folder)) continue;
      seen.add(folder);
      const stats = statsOf(top, folder);
      if (stats !== undefined && !stats.isDirectory() && !going.has(folder)) {
        throw refused("TOOL_NOT_A_DIRECTORY", folder, "has a folder", "an ignored file");
      }
    }
    if (statsOf(top, path)?.isDirectory() === true && !isGoing(top, path, going)) {
      throw refused(
        "TOOL_NOT_A_FILE",
        path,
        "has a file",
        "a folder with ignored files or another repository",
      );
    }
  }
}

/** Whether everything below a folder will be deleted anyway. */
function isGoing(top: string, folder: string, going: ReadonlySet<string>): boolean {
  return readdirSync(toPathBytes(top, folder), { withFileTypes: true, encoding: "buffer" }).every((entry) => {
    const path = `${folder}/${entry.name.toString("latin1")}`;
    return entry.isDirectory() ? isGoing(top, path, going) : going.has(path);
  });
}

function* foldersAbove(path: string): Generator<string> {
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) yield path.slice(0, at);
}

function statsOf(top: string, path: string): Stats | undefined {
  try {
    return lstatSync(toPathBytes(top, path), { throwIfNoEntry: false });
  } catch {
    return undefined; // Below a file that will be deleted or was already refused.
  }
}

function refused(code: ErrorCode, path: string, has: string, holds: string): ToolwrightError {
  const shown = showPath(Buffer.from(path, "latin1").toString("utf8"));
  return new ToolwrightError(
    code,
    `The snapshot ${has} at ${shown}, where there is now ${holds}. Nothing was changed.`,
    { hint: `Move ${shown} away, then restore again.`, effect: "none" },
  );
}
