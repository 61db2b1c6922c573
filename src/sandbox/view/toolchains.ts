/**
 * Makes programs on PATH visible, read-only, if they are where the sandbox shows nothing (a home, a temporary folder,
 * `/opt`). It must never show more than programs and what they load: keys, settings and other projects are next to
 * them.
 */
import {
  lstatSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statSync,
  type Dirent,
  type Stats,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { findExecutable } from "../tiers/find-executable.ts";
import { isInside } from "../is-inside.ts";
import { createPrivateFiles, TICK_MS, type FoundPrivate, SECRET_NAMES } from "./private-files.ts";
import {
  BESIDE_ITS_PROGRAMS,
  DOCUMENTATION,
  LIBRARIES,
  PROGRAM_FOLDERS,
  SHARED_PARENTS,
  TOOLCHAIN_KINDS,
} from "./toolchain-parts.ts";

export interface ToolchainRequest {
  readonly path: string;
  /** The command. Its real file may be outside its PATH entry. */
  readonly command: string;
  readonly home: string;
  readonly root: string;
  /** Folders that are already visible. */
  readonly visible: readonly string[];
}

export interface Toolchains {
  /** Files and folders, none of them inside another. */
  readonly shown: readonly string[];
  /** Private files below these, and folders of them. */
  readonly maskedFiles: readonly string[];
  readonly maskedFolders: readonly string[];
}

export function findToolchains(request: ToolchainRequest): Toolchains {
  const found = findPrograms(request).map((part) => ({ part, ...privateIn(part) }));
  // A part that is private as a whole shows nothing.
  const shown = found.filter(({ part, folders }) => !folders.includes(part));
  return {
    shown: shown.map(({ part }) => part),
    maskedFiles: shown.flatMap(({ files }) => files),
    maskedFolders: shown.flatMap(({ folders }) => folders),
  };
}

/** Resolves when `findToolchains` knows the private files of these toolchains, however large they are. */
export async function searchToolchains(request: ToolchainRequest): Promise<void> {
  const key = JSON.stringify(request);
  // A program folder that the host adds meanwhile gets only one limited search.
  if (performance.now() - (searched.get(key) ?? -TRUST_MS) < TRUST_MS) return;
  for (const part of findPrograms(request)) {
    const real = realPathOf(part);
    if (real !== undefined) await privateFiles.complete(real);
  }
  if (searched.size >= MOST_KNOWN) searched.clear();
  searched.set(key, performance.now());
}

const TRUST_MS = 2_000;
const searched = new Map<string, number>();

function findPrograms(request: ToolchainRequest): readonly string[] {
  const key = JSON.stringify(request);
  const stamp = request.path.split(":").map(stampOf).join(" ");
  const old = known.get(key);
  const shown = old?.stamp === stamp ? old.shown : findShown(request);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(key, { stamp, shown });
  return shown;
}

/** The result is reused as long as no folder of PATH and no parent of one has changed. */
const known = new Map<string, { readonly stamp: string; readonly shown: readonly string[] }>();
const MOST_KNOWN = 100;

function stampOf(place: string): string {
  const [own, parent] = [place, dirname(place)].map((path) => statOf(path)?.ctimeMs ?? 0);
  // A change within the same clock tick leaves no trace.
  const isSettled = Date.now() - Math.max(own ?? 0, parent ?? 0) > TICK_MS;
  return isSettled ? `${own}-${parent}` : `${performance.now()}`;
}

function findShown(request: ToolchainRequest): string[] {
  const found = new Set<string>();
  for (const folder of programFolders(request)) {
    if (isShown(folder, request) || !mayShow(folder, request)) continue;
    for (const part of partsOf(folder, request.home)) if (mayShow(part, request)) found.add(part);
  }
  const sorted = [...found].toSorted();
  return sorted.filter((path) => !sorted.some((other) => other !== path && isInside(path, other)));
}

const MOST_PROGRAMS = 100;
/** A command with more mounts than this starts slowly. */
const MOST_MASKS = 128;

const privateFiles = createPrivateFiles({
  now: () => performance.now(),
  secretNames: SECRET_NAMES,
  unneeded: DOCUMENTATION,
  libraries: LIBRARIES,
  programFolders: new Set([...PROGRAM_FOLDERS, ...BESIDE_ITS_PROGRAMS]),
  trustMs: TRUST_MS,
});

/** A link is shown as the folder that it leads to, so the private files are the files of that folder. */
function privateIn(shown: string): FoundPrivate {
  const real = realPathOf(shown);
  if (real === undefined) return { files: [], folders: [] };
  const { files, folders } = widened(real, privateFiles.find(real));
  const asShown = (path: string): string => shown + path.slice(real.length);
  return { files: files.map(asShown), folders: folders.map(asShown) };
}

/** Whole folders instead of too many files, the deepest first. The last of them is the part itself. */
function widened(part: string, found: FoundPrivate): FoundPrivate {
  let { files, folders } = found;
  while (files.length + folders.length > MOST_MASKS) {
    const deepest = [...files, ...folders].map(depthOf).reduce((most, each) => Math.max(most, each), 0);
    const isDeepest = (path: string): boolean => depthOf(path) === deepest;
    const wider = new Set([...files, ...folders].filter(isDeepest).map((path) => dirname(path)));
    const isOutside = (path: string): boolean => !isDeepest(path) && !wider.has(dirname(path));
    files = files.filter(isOutside);
    folders = [...folders.filter(isOutside), ...wider];
    if (wider.has(part)) return { files: [], folders: [part] };
  }
  return { files, folders };
}

const depthOf = (path: string): number => path.split("/").length;

/** Each folder of PATH and of the command, as spelled and as its real path. */
function programFolders({ path, command }: ToolchainRequest): Set<string> {
  const folders = new Set<string>();
  const places = path.split(":").filter(isFolder);
  const file = command.includes("/") ? undefined : findExecutable(command, path);
  for (const place of places) {
    folders.add(place).add(realpathSync.native(place));
    if (place.startsWith("/usr/")) for (const folder of linkedFolders(place)) folders.add(folder);
  }
  if (file !== undefined) folders.add(dirname(realpathSync.native(file)));
  return folders;
}

/** Programs in system folders may be links into `/opt`. */
const linkedFolders = rememberPerFolder((place) => {
  const folders = new Set<string>();
  for (const entry of readdirSync(place, { withFileTypes: true })) {
    if (!entry.isSymbolicLink() || !readlinkSync(join(place, entry.name)).startsWith("/opt/")) continue;
    const real = realPathOf(join(place, entry.name));
    if (real !== undefined) folders.add(dirname(real));
  }
  return [...folders];
});

/** A folder that has not changed is not read again. */
function rememberPerFolder(read: (folder: string) => string[]): (folder: string) => readonly string[] {
  const known = new Map<string, { readonly changedAt: number; readonly found: readonly string[] }>();
  return (folder) => {
    try {
      const changedAt = statSync(folder).ctimeMs;
      const old = known.get(folder);
      if (old?.changedAt === changedAt) return old.found;
      const found = read(folder);
      if (Date.now() - changedAt > TICK_MS) known.set(folder, { changedAt, found });
      return found;
    } catch {
      return []; // Not readable for us, so not for the command either.
    }
  };
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined; // A dangling link.
  }
}

function partsOf(folder: string, home: string): readonly string[] {
  const parent = dirname(folder);
  const name = basename(folder);
  // Links in node_modules/.bin lead to the packages next to it.
  if (name === ".bin" && basename(parent) === "node_modules") return [parent];
  // A link may have the name of a program folder and lead to any other.
  if (![folder, realPathOf(folder) ?? folder].every((path) => PROGRAM_FOLDERS.has(basename(path))))
    return programsIn(folder);
  // Next to `~/bin` is what the user keeps in the home, whatever its name. Npm may install there too.
  if (parent === home || parent === realPathOf(home))
    return [folder, ...[join(parent, "lib/node_modules")].filter(isThere)];
  if (SHARED_PARENTS.has(basename(parent))) return [folder, ...rustToolchains(parent)];
  const kinds = TOOLCHAIN_KINDS.filter(({ mark }) => isThere(join(parent, mark)));
  const names = [...BESIDE_ITS_PROGRAMS, ...kinds.flatMap(({ parts }) => parts)];
  return [folder, ...names.map((each) => join(parent, each)).filter(isThere)];
}

/**
 * A folder that is not named for programs may be a project with its settings. Unless it contains nothing but
 * programs, only the programs are shown.
 */
const programsIn = rememberPerFolder((folder) => {
  const entries = readdirSync(folder, { withFileTypes: true });
  const isLinkOrProgram = (entry: Dirent): boolean => {
    return entry.isSymbolicLink() || (entry.isFile() && isProgram(join(folder, entry.name)));
  };
  if (entries.length > 0 && entries.every(isLinkOrProgram)) return [folder];
  const paths = entries.map(({ name }) => join(folder, name));
  return paths.filter(isProgram).slice(0, MOST_PROGRAMS);
});

/** Cargo's programs are links into the toolchains that rustup keeps next to it. */
function rustToolchains(parent: string): string[] {
  if (basename(parent) !== ".cargo") return [];
  const rustup = join(dirname(parent), ".rustup");
  return ["toolchains", "settings.toml"].map((name) => join(rustup, name)).filter(isThere);
}

function isShown(folder: string, { visible, root }: ToolchainRequest): boolean {
  return isInside(folder, root) || visible.some((shown) => isInside(folder, shown));
}

/** Never the home, the root, or a folder that contains one of them. */
function mayShow(part: string, { home, root }: ToolchainRequest): boolean {
  return !isInside(home, part) && !isInside(root, part);
}

function isFolder(path: string): boolean {
  return statOf(path)?.isDirectory() ?? false;
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // PATH may name folders that cannot be read, which is not an error.
  }
}

/** Does not follow a link, which may lead outside the toolchain. */
function isThere(path: string): boolean {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat?.isDirectory() === true || stat?.isFile() === true;
  } catch {
    return false; // A parent cannot be entered.
  }
}

function isProgram(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && (stat.mode & 0o111) !== 0;
}
