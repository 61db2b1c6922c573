/**
 * Finds the absolute path of a program on a PATH. Callers pass a cleaned PATH: it must never find a program that was
 * planted in the sandbox root.
 */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { isInside } from "../is-inside.ts";

export function findExecutable(name: string, path: string): string | undefined {
  for (const folder of path.split(":")) {
    const candidate = join(folder, name);
    if (isExecutable(candidate)) return candidate;
  }
  return undefined;
}

/** The same for programs that build the sandbox: their real file must be outside the root too. */
export function findTrustedExecutable(
  name: string,
  path: string,
  roots: readonly string[] = [],
): string | undefined {
  const found = findExecutable(name, path);
  if (found === undefined) return undefined;
  const real = realpathSync(found);
  return roots.some((root) => isInside(real, root)) ? undefined : found;
}

export function isExecutable(path: string): boolean {
  try {
    // Most PATH entries do not have the file, and an exception for each would cost more than the search.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // Not executable for us, or not a valid file name.
  }
}
