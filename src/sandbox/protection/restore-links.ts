/**
 * Restores links through which git finds hooks, settings and programs. A mount cannot cover a link, so a command can
 * replace one. A link, or nothing, in its place is replaced by the original link. A file or folder there may be the
 * user's, so it stays, but git must not run or obey it.
 */
import { closeSync, symlinkSync, unlinkSync } from "node:fs";
import { basename, dirname } from "node:path";
import { defuseNamed } from "./defuse-repositories.ts";
import { openFolderBelow, readLinkOf, type WatchedLink } from "./protection-plan.ts";

export function restoreLinks(root: string, links: readonly WatchedLink[]): void {
  const changed = links.filter(({ path, target, leadsTo }) => {
    return leadsTo !== undefined && readLinkOf(path) !== target;
  });
  // Outer links first: an inner one may be in a folder that an outer one leads to.
  for (const { path, target } of changed) restoreLink(root, path, target);
  for (const { path, target, leadsTo } of changed) {
    if (leadsTo !== undefined && readLinkOf(path) !== target) defuseNamed(root, leadsTo.path, leadsTo.usedAs);
  }
}

function restoreLink(root: string, path: string, target: string): void {
  const folder = openFolderBelow(root, dirname(path));
  if (folder === undefined) return;
  try {
    const name = `/proc/self/fd/${folder}/${basename(path)}`;
    if (readLinkOf(name) !== undefined) unlinkSync(name);
    symlinkSync(target, name);
  } catch {
    // A file or folder is there.
  } finally {
    closeSync(folder);
  }
}
