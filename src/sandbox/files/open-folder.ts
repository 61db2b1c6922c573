/** The three operations of a walk on one name inside an open folder. They must never follow a link. */
import { mkdirSync, readlinkSync } from "node:fs";
import { errnoOf } from "./file-error.ts";
import type { Directory, PathStrategy } from "./path-strategy.ts";

/** Returned when a name turns out to be a symbolic link. */
export const LINK: unique symbol = Symbol("link");

/** Undefined if the name does not exist. */
export function openFolder(
  parent: Directory,
  name: string,
  strategy: PathStrategy,
): Directory | typeof LINK | undefined {
  try {
    return strategy.openChild(parent, name);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ENOENT") return undefined;
    // With O_DIRECTORY a link is "not a folder", with O_NOFOLLOW_ANY it is a loop.
    if (errno !== "ENOTDIR" && errno !== "ELOOP") throw error;
    if (readLink(parent, name) === undefined) throw error;
    return LINK;
  }
}

/** Undefined if the name is not a link. */
export function readLink(directory: Directory, name: string): string | undefined {
  try {
    return readlinkSync(`${directory.base}/${name}`);
  } catch (error) {
    if (errnoOf(error) === "EINVAL") return undefined;
    throw error;
  }
}

/** False if it already exists. */
export function makeFolder(parent: Directory, name: string): boolean {
  try {
    mkdirSync(`${parent.base}/${name}`);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  }
}
