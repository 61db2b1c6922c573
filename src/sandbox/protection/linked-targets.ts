/** Targets of links that git or Toolwright would follow: changing the target changes what runs. */
import { readdirSync, readlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isInside } from "../is-inside.ts";
import { pathFrom } from "./path-from.ts";
import { foldName, GIT_OBEYED, isOwnName } from "./protected-names.ts";

export interface LinkedTargets {
  readonly folders: readonly string[];
  readonly files: readonly string[];
}

/** Hooks that are links, such as `.git/hooks/pre-commit` to a script of the project, and links to settings. */
export function linkedFromGit(gitDir: string, hookFolders: Iterable<string>): LinkedTargets {
  const obeyed = linksIn(gitDir, (name) => GIT_OBEYED.some((each) => each === name));
  const folders = obeyed.flatMap(({ name, target }) => (name === "hooks" ? [target] : []));
  const hooks = [join(gitDir, "hooks"), ...hookFolders].flatMap((folder) => linksIn(folder, () => true));
  const files = [...obeyed.filter(({ name }) => name !== "hooks"), ...hooks].map(({ target }) => target);
  return { folders, files };
}

/** Targets of `toolwright.config.*` links in the folders from the root to this file. */
export function linkedFromSettings(root: string, file: string): string[] {
  const targets: string[] = [];
  for (let folder = dirname(file); isInside(folder, root); folder = dirname(folder)) {
    const found = linksIn(folder, (name) => isOwnName(foldName(basename(name))));
    targets.push(...found.map(({ target }) => target));
    if (folder === root) break;
  }
  return targets;
}

function linksIn(folder: string, isWanted: (name: string) => boolean): { name: string; target: string }[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isSymbolicLink() && isWanted(entry.name))
      .map(({ name }) => ({ name, target: pathFrom(folder, readlinkSync(join(folder, name))) }));
  } catch {
    return []; // There is no such folder.
  }
}
