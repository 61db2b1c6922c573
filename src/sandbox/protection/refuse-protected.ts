/**
 * Refuses what a file tool must not change or read inside the root, by the list that commands share (`protected.ts`). It
 * must never judge by the spelling of the request, only by the resolved path.
 */
import { fileError, showPath } from "../files/file-error.ts";
import type { FileLocation } from "../files/follow-path.ts";
import { PROTECTED } from "./protected.ts";
import type { IsProtected } from "./rules/stores.ts";

export { protectPaths, type IsProtected } from "./rules/stores.ts";

/** Call it before a change. */
export function refuseProtected(location: FileLocation, isProtected?: IsProtected): void {
  if (!PROTECTED.some((rule) => rule.covers(location)) && isProtected?.(location) !== true) return;
  const place = location.realPath.slice(location.realRoot.length + 1);
  throw fileError("TOOL_PATH_PROTECTED", `The path is protected and was not changed: ${showPath(place)}.`);
}

/** Call it before a read. Hides stores and Toolwright's own folder, which may contain them. */
export function refuseHidden(location: FileLocation, isProtected?: IsProtected): void {
  if (PROTECTED.some((rule) => rule.hides?.(location) === true) || isProtected?.(location) === true)
    throw hiddenPath(location);
}

export function hiddenPath({ realPath, realRoot }: Pick<FileLocation, "realPath" | "realRoot">): Error {
  const place = realPath.slice(realRoot.length + 1);
  return fileError(
    "TOOL_PATH_PROTECTED",
    `The path belongs to Toolwright and is not shown: ${showPath(place)}.`,
  );
}
