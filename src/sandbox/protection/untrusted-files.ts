/**
 * Remembers which of Toolwright's own files appeared while an agent's command ran, so that the command line does not
 * obey them before the user has reviewed them. The marks are below the user's home, which no sandboxed command sees.
 * They must never be in the root: the agent could delete them there.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";

/** Must never throw: the call that it belongs to fails with a better error. */
export function distrustFile(path: string): void {
  for (const folder of markFolders()) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(join(folder, markName(path)), `${path}\n`, { mode: 0o600 });
      return;
    } catch {
      // This folder is not writable: try the next one.
    }
  }
}

/** The file to delete in order to trust the path, or undefined if the path is trusted. */
export function findDistrust(path: string): string | undefined {
  return markFolders()
    .map((folder) => join(folder, markName(path)))
    .find((mark) => existsSync(mark));
}

function markFolders(): string[] {
  const state = process.env["XDG_STATE_HOME"];
  const home = state !== undefined && isAbsolute(state) ? state : join(homedir(), ".local", "state");
  return [
    join(home, "toolwright", "untrusted"),
    join(tmpdir(), `toolwright-${process.getuid?.() ?? 0}`, "untrusted"),
  ];
}

function markName(path: string): string {
  return createHash("sha256").update(placeOf(path)).digest("hex");
}

/** Uses the real folder, but does not resolve the file itself, which may be a link. */
function placeOf(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path; // The folder is gone.
  }
}
