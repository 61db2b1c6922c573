/**
 * Which paths inside a root a command may not touch: the store, Toolwright's own folder and settings (an agent must
 * not approve its own calls or write its own instructions), what git would run or obey on the host, and the code of
 * the running process. The rules are those of the file tools, applied here to the existing files.
 */
import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { codePathsIn } from "../../load/code-paths.ts";
import { settingsFoldersOf } from "./git-folder.ts";
import { readGitGuards } from "./git-guards.ts";
import { foldName, GIT_OBEYED, OWN_FOLDER, STORE_SUFFIXES } from "./protected-names.ts";
import { isInside } from "../is-inside.ts";
import { holdProtections, makeMissing, type ProtectionKind, type ProtectionPlan } from "./protection-plan.ts";
import { scanRoot, type RootFinds } from "./scan-root.ts";

export interface ProtectedPath {
  readonly kind: ProtectionKind;
  readonly path: string;
  /** Defaults to everything but a pin. */
  readonly watched?: boolean;
}

export interface ProtectionRequest {
  /** The real root. */
  readonly root: string;
  readonly hidden: readonly string[];
  readonly readOnly: readonly string[];
  /** If the root is read-only, only hidden paths matter, and nothing is created. */
  readonly rootReadOnly: boolean;
}

/** Scans the root and holds the paths that it finds. The caller closes the plan. */
export function planProtections(request: ProtectionRequest): ProtectionPlan & { readonly finds: RootFinds } {
  const { root, rootReadOnly } = request;
  const finds = scanRoot(root);
  const own = ownPaths(finds, root);
  // A folder that cannot be listed cannot be searched for paths to protect.
  const closed = finds.closed.map((path): ProtectedPath => ({ kind: "hideFolder", path, watched: false }));
  const found: ProtectedPath[] = [...own, ...closed, ...hiddenPaths(request, own)];
  for (const store of finds.stores) {
    // The store's side files appear and disappear as it is opened and closed, which is no reason to stop a command.
    for (const suffix of STORE_SUFFIXES)
      found.push({ kind: "hideFile", path: store + suffix, watched: suffix === "" });
  }
  if (!rootReadOnly) {
    for (const path of gitPaths(finds, root)) found.push({ kind: "readOnly", path });
    for (const path of [...codePathsIn(root), ...request.readOnly.map((each) => resolve(root, each))]) {
      if (isInside(path, root)) found.push({ kind: "readOnly", path });
    }
  }
  return { ...holdProtections(root, found, rootReadOnly ? [] : linksOf(finds)), finds };
}

/** What no tool may see in a root, regardless of the paths that the caller names. */
export function hiddenInRoot(root: string): string[] {
  const finds = scanRoot(root);
  const own = ownPaths(finds, root).filter(({ kind }) => kind !== "readOnly");
  const stores = finds.stores.flatMap((store) => STORE_SUFFIXES.map((suffix) => store + suffix));
  return [...own.map(({ path }) => path), ...stores];
}

function ownPaths(finds: RootFinds, root: string): ProtectedPath[] {
  return finds.own.flatMap((path): ProtectedPath[] => {
    const place = realPlace(path, root);
    if (place === undefined) return [];
    const isFolder = foldName(basename(path)) === OWN_FOLDER;
    return [{ path: place, kind: isFolder ? (isDirectory(place) ? "hideFolder" : "hideFile") : "readOnly" }];
  });
}

function hiddenPaths(
  { root, hidden, rootReadOnly }: ProtectionRequest,
  own: readonly ProtectedPath[],
): ProtectedPath[] {
  return hidden.flatMap((given): ProtectedPath[] => {
    const path = resolve(root, given);
    if (!isInside(path, root) || own.some((folder) => isInside(path, folder.path))) return [];
    // Prevents a command from forging a store's missing log. For SQLite an empty log is the same as none.
    if (!rootReadOnly && lstatOf(path) === undefined) makeMissing(root, path, "file");
    return [{ path, kind: isDirectory(path) ? "hideFolder" : "hideFile" }];
  });
}

/** What git would run or obey: in each repository, and where its configuration points. */
function gitPaths(finds: RootFinds, root: string): string[] {
  const paths: string[] = [...finds.gitFiles];
  const repositories = finds.gitFolders.map((gitDir) => ({ gitDir, workTree: workTreeOf(gitDir) }));
  for (const link of finds.gitLinks) {
    const gitDir = realPlace(link, root);
    if (gitDir !== undefined) repositories.push({ gitDir, workTree: dirname(link) });
  }
  for (const { gitDir } of repositories) paths.push(...obeyedIn(gitDir, root));
  // A linked work tree or a submodule: its settings may lie outside and name files inside.
  for (const file of finds.gitFiles) {
    const workTree = dirname(file);
    for (const gitDir of settingsFoldersOf(workTree)) repositories.push({ gitDir, workTree });
  }
  for (const place of [...repositories, ...repositoriesAbove(root)]) {
    const { folders, settings, programs, missingPrograms, hasWorktreeConfig } = readGitGuards(place);
    if (hasWorktreeConfig && isInside(place.gitDir, root)) {
      makeMissing(root, join(place.gitDir, "config.worktree"), "file");
      paths.push(join(place.gitDir, "config.worktree"));
    }
    if (isDirectory(place.gitDir)) {
      for (const folder of folders) if (isBelow(folder, root)) makeMissing(root, folder, "folder");
      for (const file of [...settings, ...missingPrograms])
        if (isBelow(file, root)) makeMissing(root, file, "file");
    }
    for (const path of [...folders, ...settings, ...programs, ...missingPrograms])
      paths.push(...placesOf(path, root));
  }
  return paths;
}

/** Creates missing hooks and settings, so that a command cannot create them. */
function obeyedIn(gitDir: string, root: string): string[] {
  const isRepository = lstatOf(join(gitDir, "HEAD")) !== undefined;
  const isShared = lstatOf(join(gitDir, "commondir")) === undefined;
  if (isRepository && isShared && isInside(gitDir, root)) {
    makeMissing(root, join(gitDir, "hooks"), "folder");
    makeMissing(root, join(gitDir, "config"), "file");
  }
  const obeyed = GIT_OBEYED.map((name) => join(gitDir, name));
  // A mount follows a link, and the link itself could then be replaced, so close the whole folder.
  if (obeyed.some((path) => lstatOf(path)?.isSymbolicLink() === true)) return [gitDir];
  return obeyed.filter((path) => lstatOf(path) !== undefined);
}

/** Repositories whose work tree contains the root. Their settings may name files in it. */
function repositoriesAbove(root: string): { gitDir: string; workTree: string }[] {
  const found: { gitDir: string; workTree: string }[] = [];
  for (let folder = dirname(root); ; folder = dirname(folder)) {
    if (lstatOf(join(folder, ".git")) !== undefined)
      for (const gitDir of settingsFoldersOf(folder)) found.push({ gitDir, workTree: folder });
    if (dirname(folder) === folder) break;
  }
  // The user's own settings apply even where there is no repository.
  return [...found, { gitDir: join(root, ".git"), workTree: root }];
}

function workTreeOf(gitDir: string): string {
  return foldName(basename(gitDir)) === ".git" ? dirname(gitDir) : gitDir;
}

/** The path itself, and its target. */
function placesOf(path: string, root: string): string[] {
  if (!isBelow(path, root)) return [];
  const real = realPlace(path, root);
  return real === undefined || real === path ? [path] : [path, real];
}

function linksOf(finds: RootFinds): string[] {
  return [...finds.gitLinks, ...finds.own].filter((path) => lstatOf(path)?.isSymbolicLink() === true);
}

/** The real path, if it is below the root. */
function realPlace(path: string, root: string): string | undefined {
  try {
    const real = realpathSync(path);
    return isBelow(real, root) ? real : undefined;
  } catch {
    return undefined; // A dangling link.
  }
}

const isBelow = (path: string, root: string): boolean => path !== root && isInside(path, root);

function isDirectory(path: string): boolean {
  return lstatOf(path)?.isDirectory() === true;
}

function lstatOf(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // A parent is not a folder.
  }
}
