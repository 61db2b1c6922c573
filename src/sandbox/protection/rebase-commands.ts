/**
 * Handles the commands in the todo list of an unfinished rebase, which `git rebase --continue` runs. A command of an
 * agent may continue a rebase, and so write the list. Lines that it added and that run programs must not be left for
 * the user.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { replacePlain } from "./defuse-repositories.ts";
import { openFolderBelow } from "./protection-plan.ts";

/** Relative to a git folder. */
export const REBASE_LIST = "rebase-merge/git-rebase-todo";

export function commandsOfRebase(gitFolder: string): string[] {
  return linesOf(`${gitFolder}/${REBASE_LIST}`).filter(isCommand);
}

/** Turns commands that are not in `before` into comments, and returns them. */
export function removeCommandsOfRebase(root: string, gitFolder: string, before: readonly string[]): string[] {
  if (commandsOfRebase(gitFolder).every((line) => before.includes(line))) return [];
  const folder = openFolderBelow(root, `${gitFolder}/rebase-merge`);
  if (folder === undefined) return [];
  try {
    const base = `/proc/self/fd/${folder}`;
    const lines = linesOf(`${base}/git-rebase-todo`);
    const isAdded = (line: string): boolean => isCommand(line) && !before.includes(line);
    replacePlain(
      base,
      "git-rebase-todo",
      lines.map((line) => (isAdded(line) ? `# ${line}` : line)).join("\n"),
    );
    return lines.filter(isAdded);
  } finally {
    closeSync(folder);
  }
}

/** `exec` and its short form. */
function isCommand(line: string): boolean {
  return /^\s*(?:x|exec)\s/.test(line);
}

const MAX_BYTES = 4_194_304;

function linesOf(path: string): string[] {
  try {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const stat = fstatSync(descriptor);
      return stat.isFile() && stat.size <= MAX_BYTES ? readFileSync(descriptor, "utf8").split("\n") : [];
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return []; // No rebase is in progress.
  }
}
