/**
 * Whether one absolute path lies in another, by whole components. Lexical only: links are the caller's business.
 */

/** True also when both are the same. */
export function isInside(path: string, folder: string): boolean {
  if (folder === "/") return true;
  return path === folder || path.startsWith(`${folder}/`);
}
