/**
 * Walks from the root to a file one folder at a time and holds each open, so that the checked file is the one that is
 * used. It must never leave a descriptor open or a folder behind when it fails.
 */
import { closeSync, rmdirSync } from "node:fs";
import { resolve } from "node:path";
import { ToolwrightError } from "../../errors.ts";
import { refuseBroadRoot, unusableRoot } from "./check-root.ts";
import { toFileError } from "./file-error.ts";
import {
  followPath,
  type CreatedFolder,
  type FileLocation,
  type Trail,
  type WalkRequest,
} from "./follow-path.ts";
import { parsePath } from "./parse-path.ts";
import { strategyFor, type Directory, type PathStrategy } from "./path-strategy.ts";

/** The folders stay open until `close`. */
export interface Walked<Leaf> extends FileLocation {
  readonly directory: Directory;
  readonly name: string;
  readonly leaf: Leaf;
  /** The requested path, below the root. */
  readonly relativePath: string;
  /** The same for messages, quoted. */
  readonly shown: string;
  readonly created: readonly CreatedFolder[];
  readonly strategy: PathStrategy;
  /** Closes every folder of the walk. A second call does nothing. */
  close(): void;
}

export function walk<Leaf>(request: WalkRequest<Leaf>): Walked<Leaf> {
  const strategy = request.strategy ?? strategyFor(process.platform);
  const given = resolve(request.rootDir);
  const { directory, realPath: real } = openRoot(given, strategy);
  const trail: Trail = { root: { given, real }, strategy, open: [directory], names: [], created: [] };
  const close = (): void => {
    for (const { descriptor } of trail.open.splice(0)) closeSync(descriptor);
  };
  let shown = "";
  try {
    refuseBroadRoot(real);
    const parsed = parsePath(request.path, trail.root);
    shown = parsed.shown;
    const found = followPath(request, parsed, trail);
    const realPath = [real, ...trail.names, found.name].join("/");
    const { open: folders, created } = trail;
    const { relativePath } = parsed;
    return { ...found, realRoot: real, realPath, relativePath, folders, shown, created, strategy, close };
  } catch (error) {
    removeCreated(trail.created);
    close();
    throw toFileError(error, shown);
  }
}

/** Removes the created folders after a failure. Call it before `close`. */
export function removeCreated(created: readonly CreatedFolder[]): void {
  for (const { parent, name } of created.toReversed()) {
    try {
      rmdirSync(`${parent.base}/${name}`);
    } catch {
      // The folder is in use by now, so it stays, and so do its parents.
      return;
    }
  }
}

function openRoot(given: string, strategy: PathStrategy): ReturnType<PathStrategy["openRoot"]> {
  try {
    return strategy.openRoot(given);
  } catch (error) {
    // Whatever the system error is, there is no folder to work in, and the caller's option named it.
    throw ToolwrightError.is(error) ? error : unusableRoot(given);
  }
}
