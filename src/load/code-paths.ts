/**
 * The code that this process runs or may load later, by real path: Toolwright with its dependencies, the started
 * program, and Node. A tool that could change it would run code in the agent's own process. It must never be computed
 * after a tool ran that could have changed where a package is found.
 */
import { existsSync, readFileSync, readdirSync, realpathSync, statSync } from "node:fs";
import * as nodeModule from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { pinImports } from "./pin-imports.ts";

/** Files and folders. All tools treat those inside a root as read-only. */
export function codePaths(): readonly string[] {
  return [...(found ??= findCodePaths()), ...added];
}

/** Adds a file that this process runs, such as the workflow that the command line was asked to run. */
export function addCodePath(file: string): void {
  added.push(real(file));
}

/** The code paths inside a root. A folder that is or contains the root cannot be closed. */
export function codePathsIn(realRoot: string): string[] {
  return codePaths().filter((path) => path.startsWith(`${realRoot}/`));
}

/**
 * Throws if importing a package could load files other than those found before the first tool ran. A tool can create
 * a missing package, one in a `node_modules` nearer to its importer, or replace the link to it, and it would run in
 * this process. Checks the package and everything that it depends on. `importPeer` calls it, for an error that names the
 * peer; `pinImports` checks every import.
 */
export function refusePlanted(name: string): void {
  if (found === undefined || ownFolder === undefined) return; // No tool has run yet.
  const seen = new Set<string>();
  const pending = [{ from: ownFolder, name }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { from, name: wanted } = next;
    const known = resolutions.get(from)?.get(wanted);
    // A missing package is refused even if it is still missing: it could be created during the import.
    if ((known === undefined && from === ownFolder) || findPackage(from, wanted) !== known)
      throw new PlantedPackage(wanted);
    if (known === undefined || seen.has(known)) continue;
    seen.add(known);
    for (const each of resolutions.get(known)?.keys() ?? []) pending.push({ from: known, name: each });
  }
}

/** Whether a tool that can change files may have run in this process. */
export function mayHaveChanged(): boolean {
  return found !== undefined;
}

export class PlantedPackage extends Error {
  constructor(name: string) {
    super(
      `The package "${name}" was not installed there when the first tool ran. Install it, then restart the process.`,
    );
  }
}

let found: readonly string[] | undefined;
/** For each package folder, where its dependencies were found. Missing ones are `undefined`. */
const resolutions = new Map<string, ReadonlyMap<string, string | undefined>>();
let ownFolder: string | undefined;
const added: string[] = [];

function findCodePaths(): string[] {
  const paths = new Set<string>();
  const own = packageFolder(import.meta.dirname);
  // The folder that contains this file, `dist` or `src`: the package itself may be the root.
  if (own !== undefined) {
    const top = import.meta.dirname.slice(own.length + 1).split("/")[0];
    for (const name of [top, "package.json", "dist", "sql", "templates"]) {
      if (name !== undefined && existsSync(join(own, name))) paths.add(real(join(own, name)));
    }
    ownFolder = own;
    const packages = dependencyFolders(own);
    for (const folder of packages) paths.add(folder).add(linkFolderOf(folder) ?? folder);
    if (top !== undefined) pinPackages(own, top, packages);
    for (const folder of programFolders(own)) paths.add(folder);
  }
  const entry = entryFile();
  if (entry !== undefined) paths.add(entry).add(dirname(entry));
  const node = real(process.execPath);
  paths.add(node).add(dirname(node));
  for (const path of [...preloaded(), ...compileCaches()]) if (existsSync(path)) paths.add(real(path));
  for (const folder of preloadedPackages()) paths.add(folder).add(linkFolderOf(folder) ?? folder);
  return [...paths];
}

/** Files that Node was started with (`--import ./x.mjs`). Each new worker thread of this process runs them again. */
function preloaded(): string[] {
  return preloads().map((value) => (value.startsWith("file:") ? fileURLToPath(value) : resolve(value)));
}

/** With what they load later: a loader such as `tsx` (`--import tsx`) starts its compiler when it needs one. */
function preloadedPackages(): string[] {
  const named = preloads().map((value) => {
    const name = /^(?![a-z]+:)(?:@[^/]+\/)?[^./@][^/]*/.exec(value)?.[0];
    return name === undefined ? undefined : findPackage(process.cwd(), name);
  });
  const files = preloaded().filter((path) => path.includes("/node_modules/") && existsSync(path));
  const found = [...named, ...files.map((file) => packageFolder(dirname(file)))];
  return found.flatMap((folder) => (folder === undefined ? [] : [...dependencyFolders(folder)]));
}

function preloads(): string[] {
  const words = [...process.execArgv, ...(process.env["NODE_OPTIONS"] ?? "").split(/\s+/)];
  return words.flatMap((word, index) => {
    const found = PRELOAD.exec(word);
    if (found === null) return [];
    return [(found[1] ?? words[index + 1] ?? "").replaceAll(/^"|"$/g, "")];
  });
}

const PRELOAD = /^(?:-r|--require|--import|--loader|--experimental-loader)(?:=(.*))?$/s;

/** Compiled code that Node runs instead of the source, without a signature. */
function compileCaches(): string[] {
  const { getCompileCacheDir }: Partial<Pick<typeof nodeModule, "getCompileCacheDir">> = nodeModule;
  const inUse = getCompileCacheDir?.();
  const named = process.env["NODE_COMPILE_CACHE"];
  return [...(inUse === undefined ? [] : [inUse]), ...(named === undefined ? [] : [resolve(named)])];
}

/** The real path of the started program. */
function entryFile(): string | undefined {
  const [, entry] = process.argv;
  return entry !== undefined && existsSync(entry) ? realpathSync(entry) : undefined;
}

/** `top` is the folder of Toolwright's code. The package may be a working copy, with tests and tools next to it. */
function pinPackages(own: string, top: string, packages: ReadonlySet<string>): void {
  // Bundled into another package, or installed without node_modules: Node does not find packages as `findPackage` does.
  if (manifestOf(own)["name"] !== "toolwright" || resolutions.get(own)?.get("zod") === undefined) return;
  const importers = [...packages].map((folder) => (folder === own ? join(own, top) : folder));
  const entry = entryFile();
  const program = entry === undefined ? undefined : (packageFolder(dirname(entry)) ?? dirname(entry));
  const used = program === undefined ? undefined : findPackage(program, "toolwright");
  pinImports({
    importers,
    known: [...packages],
    program,
    own: used === undefined ? [own] : [own, used],
    refuse: (specifier) => new PlantedPackage(specifier),
  });
}

/** The real path of the nearest parent with a package.json. */
function packageFolder(from: string): string | undefined {
  for (let folder = real(from); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "package.json"))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

/** The package and all its direct and indirect dependencies. */
function dependencyFolders(own: string): Set<string> {
  const folders = new Set<string>([own]);
  const pending = [own];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const from = folder;
    const locations = new Map(dependenciesOf(from).map((name) => [name, findPackage(from, name)]));
    resolutions.set(from, locations);
    for (const location of locations.values()) {
      if (location === undefined || folders.has(location)) continue;
      folders.add(location);
      pending.push(location);
    }
  }
  return folders;
}

/** pnpm keeps each package in its own folder, next to links to the dependencies of that package. */
function linkFolderOf(packageFolder: string): string | undefined {
  return /^.*\/\.pnpm\/[^/]+\/node_modules(?=\/)/.exec(packageFolder)?.[0];
}

function dependenciesOf(folder: string): string[] {
  const manifest = manifestOf(folder);
  return ["dependencies", "optionalDependencies", "peerDependencies"].flatMap((field) => {
    const names = manifest[field];
    return typeof names === "object" && names !== null ? Object.keys(names) : [];
  });
}

function manifestOf(folder: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<string, unknown>;
  } catch {
    return {}; // Without a manifest it has no dependencies.
  }
}

/**
 * Resolves like `import` in Node: searches `node_modules` in every parent, including parents that are themselves named
 * `node_modules`. A folder without a package.json counts.
 */
function findPackage(from: string, name: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (isFolder(candidate)) return real(candidate);
    if (dirname(folder) === folder) return undefined;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false; // A parent is not a folder.
  }
}

/** `node_modules/.bin` folders with a `toolwright` program: a user's `npx toolwright` starts from there. */
function programFolders(own: string): string[] {
  const locations = [own, process.cwd()];
  const folders: string[] = [];
  for (const location of locations) {
    for (let folder = location; ; folder = dirname(folder)) {
      const bin = join(folder, basename(folder) === "node_modules" ? ".bin" : join("node_modules", ".bin"));
      if (hasProgram(bin)) folders.push(real(bin));
      if (dirname(folder) === folder) break;
    }
  }
  return folders;
}

function hasProgram(bin: string): boolean {
  try {
    return readdirSync(bin).includes("toolwright");
  } catch {
    return false; // The folder does not exist.
  }
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // Deleted since the process started: there is nothing to protect.
  }
}
