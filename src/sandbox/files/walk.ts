/**
 * Goes from the root to a file one folder at a time, each held open, so that what was checked is what is used.
 * Must never leave a descriptor open or a folder behind when it fails.
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

/** Its folders are open until `close`. */
export interface Walked<Leaf> extends FileLocation {
  readonly directory: Directory;
  readonly name: string;
  readonly leaf: Leaf;
  /** The path as it was asked for, below the root. */
  readonly relativePath: string;
  /** The same for messages, quoted. */
  readonly shown: string;
  readonly created: readonly CreatedFolder[];
  readonly strategy: PathStrategy;
  /** Closes every folder that was passed; a second call does nothing. */
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

/** Undoes the making of folders after a failure; to be called before `close`. */
export function removeCreated(created: readonly CreatedFolder[]): void {
  for (const { parent, name } of created.toReversed()) {
    try {
      rmdirSync(`${parent.base}/${name}`);
    } catch {
      // Somebody uses the folder by now, so it stays, and so do those above it.
      return;
    }
  }
}

function openRoot(given: string, strategy: PathStrategy): ReturnType<PathStrategy["openRoot"]> {
  try {
    return strategy.openRoot(given);
  } catch (error) {
    // Whatever the system says, there is no folder to work in, and it is the caller's option that named it.
    throw ToolwrightError.is(error) ? error : unusableRoot(given);
  }
}
