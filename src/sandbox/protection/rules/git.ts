/** What git would run or obey on the host: in each repository, and where a configuration points. */
import { basename, dirname, join } from "node:path";
import type { FileLocation } from "../../files/follow-path.ts";
import { isInside } from "../../is-inside.ts";
import { completesRepository, settingsFoldersOf } from "../git-folder.ts";
import { readGitGuards, userSettings, type GitPlace } from "../git-guards.ts";
import { foldName, GIT_OBEYED, isGitObeyedName, isGitPath } from "../protected-names.ts";
import { followInside, makeMissing, type GitUse, type ProtectedPath } from "../protection-plan.ts";
import { recentPaths } from "../recent-finds.ts";
import {
  foldPath,
  isBelow,
  isDirectory,
  isSameInode,
  lstatOf,
  namesOf,
  realPathOf,
  realPlace,
  type RootSearch,
  type Rule,
  statOf,
  wentThrough,
} from "./rule.ts";

/** Hooks, settings and pointers of every repository, even under a name other than `.git`. */
export const gitSettings: Rule = {
  access: "readOnly",
  covers: (location) =>
    isGitPath(namesOf(location)) ||
    wentThrough(location, `${location.realRoot}/.git/hooks`) ||
    isInGitFolder(location) ||
    isPartOfRepository(location),
  find: (search) =>
    [
      ...search.finds.gitFiles,
      ...repositoriesIn(search).flatMap(({ gitDir }) => obeyedIn(gitDir, search.root)),
    ].map((path) =>
      isLink(path)
        ? { kind: "readOnly", path, usedAs: basename(path) === "hooks" ? "hooks" : "settings" }
        : { kind: "readOnly", path },
    ),
};

/**
 * Hooks folders, included files and programs that the configuration of a repository, the user or the machine names, and
 * the user's own configuration if it is in the root (a folder of dotfiles).
 */
export const namedByGit: Rule = {
  access: "readOnly",
  covers({ realPath, realRoot: root }) {
    const place = foldPath(realPath);
    const isNamed = (paths: readonly string[]): boolean => paths.some((path) => isInside(place, path));
    if (isNamed(spellings(userSettingsIn(root), root))) return true;
    for (let folder = dirname(realPath); ; folder = dirname(folder)) {
      if (folder === root || lstatOf(join(folder, ".git")) !== undefined) {
        if (isNamed(namedBySettings(placesOfWorkTree(folder), root))) return true;
      }
      if (dirname(folder) === folder) break;
    }
    // Repositories elsewhere in the root may name the file too, for example by a hook that is a link.
    return isNamed(
      recentPaths(root, "named by git", (finds) => namedBySettings(placesIn({ root, finds }), root)),
    );
  },
  find(search) {
    // Settings of the user and the machine name the same paths for every repository.
    const known = new Map<string, ReturnType<typeof followInside>>();
    const follow = (path: string): ReturnType<typeof followInside> => {
      const followed = known.get(path) ?? followInside(path, search.root);
      known.set(path, followed);
      return followed;
    };
    return [
      ...userSettingsIn(search.root).flatMap((file) =>
        namedPaths(search.root, follow(file), { path: file, usedAs: "settings", mayMake: true }),
      ),
      ...[...placesIn(search), ...repositoriesAbove(search.root)].flatMap((place) =>
        namedIn(place, search.root, follow),
      ),
    ];
  },
};

function isInGitFolder({ realPath, realRoot, directory }: FileLocation): boolean {
  if (directory === undefined || !isGitObeyedName(foldName(basename(realPath)))) return false;
  return isSameInode(directory, statOf(`${realRoot}/.git`));
}

function isPartOfRepository({ realPath, realRoot }: FileLocation): boolean {
  for (let folder = dirname(realPath); isInside(folder, realRoot); folder = dirname(folder)) {
    if (completesRepository(folder, realPath.slice(folder.length + 1))) return true;
    if (folder === realRoot) break;
  }
  return false;
}

function namedBySettings(places: readonly GitPlace[], root: string): string[] {
  const paths = places.flatMap((place) => {
    const { folders, settings, programs, missingPrograms } = readGitGuards(place);
    return [...folders, ...settings, ...programs, ...missingPrograms];
  });
  return spellings(paths, root);
}

/** Folded, as spelled, as the real path, and where links lead that lead to nothing yet. */
function spellings(paths: readonly string[], root: string): string[] {
  return paths
    .flatMap((path) => [path, realPathOf(path), followInside(path, root).end])
    .filter((path) => path !== root)
    .map(foldPath);
}

/** All in the root, and linked work trees and submodules: their settings may be outside and name files inside. */
function placesIn(search: RootSearch): GitPlace[] {
  const linked = search.finds.gitFiles.flatMap((file) => placesOfWorkTree(dirname(file)));
  return [...repositoriesIn(search), ...linked];
}

function repositoriesIn({ root, finds }: RootSearch): GitPlace[] {
  const places = finds.gitFolders.map((gitDir) => ({ gitDir, workTree: workTreeOf(gitDir) }));
  for (const link of finds.gitLinks) {
    const gitDir = realPlace(link, root);
    if (gitDir !== undefined) places.push({ gitDir, workTree: dirname(link) });
  }
  return places;
}

function namedIn(
  place: GitPlace,
  root: string,
  follow: (path: string) => ReturnType<typeof followInside>,
): ProtectedPath[] {
  const paths: ProtectedPath[] = [];
  const { folders, settings, programs, missingPrograms, hasWorktreeConfig } = readGitGuards(place);
  if (hasWorktreeConfig && isInside(place.gitDir, root)) {
    makeMissing(root, join(place.gitDir, "config.worktree"), "file");
    paths.push({ kind: "readOnly", path: join(place.gitDir, "config.worktree") });
  }
  const mayMake = isDirectory(place.gitDir);
  const add = (path: string, usedAs: GitUse): void =>
    void paths.push(...namedPaths(root, follow(path), { path, usedAs, mayMake }));
  for (const folder of folders) add(folder, "hooks");
  for (const file of settings) add(file, "settings");
  // A program may be a link that leads to nothing.
  for (const file of [...programs, ...missingPrograms]) add(file, "program");
  return paths;
}

function namedPaths(
  root: string,
  { links, end }: ReturnType<typeof followInside>,
  { path, usedAs, mayMake }: { path: string; usedAs: GitUse; mayMake: boolean },
): ProtectedPath[] {
  if (mayMake && isBelow(end, root) && lstatOf(end) === undefined)
    makeMissing(root, end, usedAs === "hooks" ? "folder" : "file");
  // Also the path as git has it, even outside the root: links on the way have to stay.
  const found = new Set(links.length === 0 ? [end] : [path, end]);
  return [...found].flatMap((each) =>
    isBelow(each, root) || links.length > 0 ? [{ kind: "readOnly", path: each, usedAs }] : [],
  );
}

/** Files that may be in the root, or be reached through it. */
function userSettingsIn(root: string): string[] {
  return userSettings().filter((file) => {
    for (let path = file; ; path = dirname(path)) {
      if (isInside(path, root)) return true;
      const stat = lstatOf(path);
      if (stat !== undefined) return stat.isSymbolicLink() || realPathOf(path) !== path;
    }
  });
}

const isLink = (path: string): boolean => lstatOf(path)?.isSymbolicLink() === true;

/** Creates missing hooks and settings, so that a command cannot create them. */
function obeyedIn(gitDir: string, root: string): string[] {
  const isRepository = lstatOf(join(gitDir, "HEAD")) !== undefined;
  const isShared = lstatOf(join(gitDir, "commondir")) === undefined;
  if (isRepository && isShared && isInside(gitDir, root)) {
    makeMissing(root, join(gitDir, "hooks"), "folder");
    makeMissing(root, join(gitDir, "config"), "file");
  }
  const obeyed = GIT_OBEYED.map((name) => join(gitDir, name));
  // A mount follows a link, and the link itself could then be replaced, so close the whole folder. The root cannot be
  // closed: there, links are compared and restored.
  if (gitDir !== root && obeyed.some(isLink)) return [gitDir];
  return obeyed.filter((path) => lstatOf(path) !== undefined);
}

/** Repositories whose work tree contains the root. Their settings may name files in it. */
function repositoriesAbove(root: string): GitPlace[] {
  const found: GitPlace[] = [];
  for (let folder = dirname(root); ; folder = dirname(folder)) {
    if (lstatOf(join(folder, ".git")) !== undefined) found.push(...placesOfWorkTree(folder));
    if (dirname(folder) === folder) break;
  }
  // The user's own settings apply even where there is no repository.
  return [...found, { gitDir: join(root, ".git"), workTree: root }];
}

function placesOfWorkTree(workTree: string): GitPlace[] {
  return settingsFoldersOf(workTree).map((gitDir) => ({ gitDir, workTree }));
}

function workTreeOf(gitDir: string): string {
  return foldName(basename(gitDir)) === ".git" ? dirname(gitDir) : gitDir;
}
