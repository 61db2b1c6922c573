/**
 * Resolves paths that a caller names besides the root, such as the store's files. Mounts use real paths, so a path
 * through a link would not be protected.
 */
import { realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { isInside } from "../is-inside.ts";

/** `roots` holds the root as given and the real root. Relative paths are resolved against the real root. */
export function toRealPaths(paths: readonly string[], [given, real]: readonly [string, string]): string[] {
  return paths.map((path) => {
    const absolute = resolve(real, path);
    return realPathOf(isInside(absolute, given) ? join(real, relative(given, absolute)) : absolute);
  });
}

/** The file itself may be missing, like a store's log. In that case its folder is resolved. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    if (dirname(path) === path) return path;
    return join(realPathOf(dirname(path)), basename(path));
  }
}
