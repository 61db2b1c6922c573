/**
 * The real places of paths that a caller names beside the root, such as the store's files: mounts go by real paths, and
 * a path by way of a link would be guarded nowhere.
 */
import { realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { isInside } from "../isolation/is-inside.ts";

/** `roots` are the root as given and the real root; relative paths are below it. */
export function toRealPaths(paths: readonly string[], [given, real]: readonly [string, string]): string[] {
  return paths.map((path) => {
    const absolute = resolve(real, path);
    return realPathOf(isInside(absolute, given) ? join(real, relative(given, absolute)) : absolute);
  });
}

/** The file itself may be missing, like a store's log; then its folder counts. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    if (dirname(path) === path) return path;
    return join(realPathOf(dirname(path)), basename(path));
  }
}
