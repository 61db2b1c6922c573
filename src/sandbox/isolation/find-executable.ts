/**
 * Where a program lies on a PATH, as an absolute path. Callers pass a cleaned PATH: a program that was planted in the
 * sandbox root must never be found here.
 */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { isInside } from "./is-inside.ts";

export function findExecutable(name: string, path: string): string | undefined {
  for (const folder of path.split(":")) {
    const candidate = join(folder, name);
    if (isExecutable(candidate)) return candidate;
  }
  return undefined;
}

/** As above for the programs that build the sandbox: also their real file must lie outside the root. */
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
    // Most places on a PATH do not have the file, and an exception for each would cost more than the search.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // Not ours to run, or a name that no file can have.
  }
}
