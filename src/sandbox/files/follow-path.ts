/**
 * The steps of a walk: names, links and `..`, from the root to the last name. It must never give the kernel more than
 * one name at a time, and must never go above the root.
 */
import { closeSync } from "node:fs";
import { fileError } from "./file-error.ts";
import { LINK, makeFolder, openFolder, readLink } from "./open-folder.ts";
import { escapes, folderEnding, relativeToRoot, type ParsedPath, type RootPaths } from "./parse-path.ts";
import type { Directory, PathStrategy } from "./path-strategy.ts";

export interface WalkRequest<Leaf> {
  readonly rootDir: string;
  readonly path: string;
  /** Inspects the last name without following it. */
  readonly leaf: (directory: Directory, name: string, strategy: PathStrategy) => Leaf | typeof LINK;
  /**
   * If given, missing folders are created. It receives the file's location before the first is created, and may
   * throw.
   */
  readonly beforeCreate?: ((location: FileLocation) => void) | undefined;
  readonly strategy?: PathStrategy | undefined;
}

/** The location of a file, with all links resolved. */
export interface FileLocation {
  readonly realRoot: string;
  readonly realPath: string;
  /** The parent folder, or undefined while it has yet to be created. */
  readonly directory: Directory | undefined;
  /** The folders of the walk, the root first. */
  readonly folders: readonly Directory[];
}

/** A folder that the walk created, with its parent. */
export interface CreatedFolder {
  readonly parent: Directory;
  readonly name: string;
}

/** The state of a walk. The function that starts the walk always closes `open`. */
export interface Trail {
  readonly root: RootPaths;
  readonly strategy: PathStrategy;
  /** The folders from the root to the current one. */
  readonly open: [Directory, ...Directory[]];
  /** The real names of the folders in `open`, without the root. */
  readonly names: string[];
  readonly created: CreatedFolder[];
}

export interface Found<Leaf> {
  readonly directory: Directory;
  readonly name: string;
  readonly leaf: Leaf;
}

/** The same limit as Linux. */
const MAX_LINKS = 40;

export function followPath<Leaf>(request: WalkRequest<Leaf>, parsed: ParsedPath, trail: Trail): Found<Leaf> {
  // The next name is the last entry.
  let pending = parsed.parts.toReversed();
  let links = 0;

  const followLink = (name: string): void => {
    if (++links > MAX_LINKS) {
      throw fileError("TOOL_PATH_INVALID", `The path goes through too many links: ${parsed.shown}.`);
    }
    // A folder that was just created contains no links, unless another process works in it.
    if (trail.created.length > 0) throw escapes(request.path);
    const target = readLink(currentOf(trail), name);
    if (target === undefined) {
      // The link was replaced in the meantime. Try again, which counts as one more link.
      pending.push(name);
    } else if (target.startsWith("/")) {
      const parts = partsBelowRoot(target, trail.root);
      if (parts === undefined) throw escapes(request.path);
      while (trail.names.length > 0) leaveFolder(trail);
      pending.push(...parts.toReversed());
    } else {
      pending.push(...partsOf(target).toReversed());
    }
  };

  for (;;) {
    const name = pending.pop();
    if (name === undefined || (name === "." && pending.length === 0)) {
      throw fileError("TOOL_NOT_A_FILE", `The path is a folder, not a regular file: ${parsed.shown}.`);
    }
    if (name === ".") continue;
    if (name === "..") {
      if (trail.names.length > 0) leaveFolder(trail);
      else pending = reenter(trail.root, pending, request.path);
      continue;
    }
    const directory = currentOf(trail);
    if (pending.length === 0) {
      const leaf = request.leaf(directory, name, trail.strategy);
      if (leaf !== LINK) return { directory, name, leaf };
      followLink(name);
      continue;
    }
    const next = openFolder(directory, name, trail.strategy);
    if (next === LINK) followLink(name);
    else if (next !== undefined) enterFolder(trail, name, next);
    else {
      createFolders(request, parsed, trail, [name, ...pending.toReversed()]);
      pending.length = 1;
    }
  }
}

function currentOf(trail: Trail): Directory {
  return trail.open.at(-1) ?? trail.open[0];
}

function enterFolder(trail: Trail, name: string, directory: Directory): void {
  trail.open.push(directory);
  trail.names.push(name);
}

function leaveFolder(trail: Trail): void {
  trail.names.pop();
  const left = trail.open.pop();
  if (left !== undefined) closeSync(left.descriptor);
}

/** Creates all folders of `rest` except its last name, which is the file's. */
function createFolders(
  request: WalkRequest<unknown>,
  parsed: ParsedPath,
  trail: Trail,
  rest: readonly string[],
): void {
  // As for the kernel, `..` after a missing folder leads nowhere.
  if (request.beforeCreate === undefined || rest.includes("..")) {
    throw fileError("TOOL_FILE_NOT_FOUND", `File not found: ${parsed.shown}.`);
  }
  if (rest.at(-1) === ".") {
    throw fileError("TOOL_NOT_A_FILE", `The path names a folder, not a regular file: ${parsed.shown}.`);
  }
  const names = rest.filter((name) => name !== ".");
  const { open: folders, root } = trail;
  const realPath = [root.real, ...trail.names, ...names].join("/");
  request.beforeCreate({ realRoot: root.real, realPath, directory: undefined, folders });
  for (const name of names.slice(0, -1)) {
    const parent = currentOf(trail);
    if (makeFolder(parent, name)) trail.created.push({ parent, name });
    // Opened without following links, because it may have been swapped between the two calls.
    enterFolder(trail, name, trail.strategy.openChild(parent, name));
  }
}

/** A relative link may leave the root if it comes straight back through the root's own names. */
function reenter(root: RootPaths, pending: readonly string[], path: string): string[] {
  const rest = [...pending];
  const next = (): string | undefined => {
    while (rest.length > 1 && rest.at(-1) === ".") rest.pop();
    return rest.at(-1);
  };
  let levels = 1;
  for (; next() === ".."; levels += 1) rest.pop();
  for (const name of root.real.split("/").slice(1).slice(-levels)) {
    if (next() !== name) throw escapes(path);
    rest.pop();
  }
  return rest;
}

/** Keeps `..`, which the walk resolves: after a link it does not lead where it is spelled. */
function partsBelowRoot(target: string, root: RootPaths): string[] | undefined {
  const below = relativeToRoot(target.replaceAll(/\/(?:\.?\/)+/g, "/"), root);
  return below === undefined ? undefined : partsOf(below);
}

function partsOf(target: string): string[] {
  const parts = target.split("/").filter((part) => part !== "" && part !== ".");
  if (folderEnding(target)) parts.push(".");
  return parts;
}
