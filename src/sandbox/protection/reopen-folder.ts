/** Gives the owner back the permission to list and enter folders that a command closed. It must never follow a link. */
import { closeSync, fstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { rethrowExhausted } from "../rethrow-exhausted.ts";
import { openToOwner } from "./defuse-repositories.ts";
import { openFolderBelow } from "./protection-plan.ts";

/** Includes the folders in it, except folders that were closed `before`: a command may close one inside the other. */
export function reopenFolder(root: string, path: string, before: ReadonlySet<string>): void {
  const folder = openFolderBelow(root, path);
  if (folder === undefined) return;
  try {
    openClosed(folder, path, before, 0);
  } finally {
    closeSync(folder);
  }
}

/** The kernel takes no longer path, so git cannot go deeper either. */
const MAX_PATH_DEPTH = 2_048;

function openClosed(folder: number, path: string, before: ReadonlySet<string>, depth: number): void {
  const base = `/proc/self/fd/${folder}`;
  if ((fstatSync(folder).mode & 0o500) !== 0o500) openToOwner(base);
  if (depth === MAX_PATH_DEPTH) return;
  for (const name of foldersIn(base)) {
    const inner = join(path, name);
    const child = before.has(inner) ? undefined : openFolderBelow(`${base}/.`, `${base}/./${name}`);
    if (child === undefined) continue;
    try {
      openClosed(child, inner, before, depth + 1);
    } finally {
      closeSync(child);
    }
  }
}

function foldersIn(base: string): string[] {
  try {
    return readdirSync(base, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    );
  } catch (error) {
    rethrowExhausted(error);
    return []; // It belongs to another user, or is gone.
  }
}
