/** Toolwright's own folder and settings: an agent must not approve its own calls or write its own instructions. */
import { basename, dirname } from "node:path";
import { isInside } from "../../is-inside.ts";
import { linkedFromSettings } from "../linked-targets.ts";
import { pathFrom } from "../path-from.ts";
import { foldName, isOwnName, maybeProtected, OWN_FOLDER } from "../protected-names.ts";
import { readLinkOf, type ProtectedPath } from "../protection-plan.ts";
import { recentPaths } from "../recent-finds.ts";
import { isDirectory, namesOf, realPathOf, realPlace, type Rule, wentThrough } from "./rule.ts";

/** `.toolwright/`, which contains stores and instructions. */
export const ownFolder: Rule = {
  access: "hide",
  covers: (location) => isNamedOwn(location) || wentThrough(location, `${location.realRoot}/${OWN_FOLDER}`),
  hides: (location) =>
    maybeProtected(location.realPath.slice(location.realRoot.length)) && isNamedOwn(location),
  find: ({ root, finds }) =>
    finds.own.filter(isFolderName).flatMap((path): ProtectedPath[] => {
      const place = realPlace(path, root);
      return place === undefined
        ? []
        : [{ path: place, kind: isDirectory(place) ? "hideFolder" : "hideFile" }];
    }),
};

/** `toolwright.config.*` */
export const ownSettings: Rule = {
  access: "readOnly",
  covers: (location) =>
    namesOf(location).map(foldName).some(isOwnName) ||
    linkedFromSettings(location.realRoot, location.realPath).some(
      (path) => realPathOf(path) === location.realPath,
    ) ||
    // Links elsewhere in the root, including those to a `.toolwright` folder.
    recentPaths(location.realRoot, "own", ({ own }) => targetsOf(own)).some((path) =>
      isInside(location.realPath, path),
    ),
  find: ({ root, finds }) =>
    finds.own.flatMap((path): ProtectedPath[] => {
      const place = isFolderName(path) ? undefined : realPlace(path, root);
      return place === undefined ? [] : [{ path: place, kind: "readOnly" }];
    }),
};

const isFolderName = (path: string): boolean => foldName(basename(path)) === OWN_FOLDER;
const isNamedOwn: Rule["covers"] = (location) =>
  namesOf(location).some((name) => foldName(name) === OWN_FOLDER);

/** Where the links lead, even if nothing is there yet. */
function targetsOf(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    const target = readLinkOf(path);
    return target === undefined ? [] : [realPathOf(pathFrom(dirname(path), target))];
  });
}
