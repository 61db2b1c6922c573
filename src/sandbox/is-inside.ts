/**
 * Whether one absolute path is inside another, by whole components. Lexical only: resolving links is up to the caller.
 */

/** Also true if both are the same. */
export function isInside(path: string, folder: string): boolean {
  if (folder === "/") return true;
  return path === folder || path.startsWith(`${folder}/`);
}
