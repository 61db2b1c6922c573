/**
 * The three things a walk does to one name inside a folder that it holds open. Must never follow a link.
 */
import { mkdirSync, readlinkSync } from "node:fs";
import { errnoOf } from "./file-error.ts";
import type { Directory, PathStrategy } from "./path-strategy.ts";

/** The answer of whoever looked at a name and met a symbolic link. */
export const LINK: unique symbol = Symbol("link");

/** Undefined when there is nothing of that name. */
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

/** Undefined when the name is no link. */
export function readLink(directory: Directory, name: string): string | undefined {
  try {
    return readlinkSync(`${directory.base}/${name}`);
  } catch (error) {
    if (errnoOf(error) === "EINVAL") return undefined;
    throw error;
  }
}

/** False when somebody else made it first. */
export function makeFolder(parent: Directory, name: string): boolean {
  try {
    mkdirSync(`${parent.base}/${name}`);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  }
}
