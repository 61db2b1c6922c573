/**
 * Programs on PATH that lie where the sandbox shows nothing (a home, a temporary folder) come back read-only. It must
 * never bring back more than the toolchain: a home, `~/.local` or `~/.cargo` hold keys beside their programs.
 */
import { realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { findExecutable } from "./find-executable.ts";
import { isInside } from "./is-inside.ts";

export interface ToolchainRequest {
  readonly path: string;
  /** The command: its real file may lie elsewhere than its entry on PATH. */
  readonly command: string;
  readonly home: string;
  readonly root: string;
  /** What is visible already. */
  readonly visible: readonly string[];
}

export function findToolchains(request: ToolchainRequest): string[] {
  const places = request.path.split(":");
  const command = findExecutable(request.command, request.path);
  if (command !== undefined && !request.command.includes("/")) places.push(dirname(command));
  const folders = new Set<string>();
  for (const place of places) {
    for (const spelling of spellings(place, place === dirname(command ?? "/") ? command : undefined)) {
      if (isShown(spelling, request)) continue;
      for (const folder of toolchainOf(spelling, request)) folders.add(folder);
    }
  }
  const sorted = [...folders].toSorted();
  return sorted.filter((folder) => !sorted.some((other) => other !== folder && isInside(folder, other)));
}

const PROGRAM_FOLDERS = new Set(["bin", "sbin", ".bin", "shims"]);
/** Beside the programs in these lie keys, tokens or other people's data: only the folder of programs comes back. */
const SHARED_PARENTS = new Set([
  ".local",
  ".cargo",
  "local",
  "tmp",
  "home",
  "root",
  "run",
  "var",
  "Users",
  "",
]);

function* spellings(place: string, command: string | undefined): Generator<string> {
  if (!isFolder(place)) return;
  yield place;
  yield realpathSync(place);
  if (command !== undefined) yield dirname(realpathSync(command));
}

function toolchainOf(folder: string, { home, root }: ToolchainRequest): string[] {
  const parent = dirname(folder);
  const isOwnFolder =
    PROGRAM_FOLDERS.has(basename(folder)) &&
    !SHARED_PARENTS.has(basename(parent)) &&
    !isInside(home, parent) &&
    !isInside(root, parent);
  if (isOwnFolder) return [parent];
  if (isInside(home, folder) || isInside(root, folder)) return [];
  // Cargo's programs are links into the toolchains that rustup keeps beside it.
  const rustup = basename(parent) === ".cargo" ? join(dirname(parent), ".rustup") : undefined;
  return rustup !== undefined && isFolder(rustup) ? [folder, rustup] : [folder];
}

function isShown(folder: string, { visible, root }: ToolchainRequest): boolean {
  return isInside(folder, root) || visible.some((shown) => isInside(folder, shown));
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false; // PATH names folders that cannot be read; that is no fault.
  }
}
