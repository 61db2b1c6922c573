/**
 * The code that this process runs or may load later, by its real place: Toolwright itself with its dependencies, the
 * program that was started, and Node. A tool that could change it would run in the agent's own process. It must never be
 * computed after a tool has run that could have changed where a package is found.
 */
import { existsSync, readFileSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isInside } from "../isolation/is-inside.ts";

/** Files and folders. Those that lie inside a root are read-only for every tool. */
export function codePaths(): readonly string[] {
  return [...(found ??= findCodePaths()), ...added];
}

/** Adds a file that this process runs for somebody, such as the workflow that the command line was asked to run. */
export function addCodePath(file: string): void {
  added.push(real(file));
}

/** Those of them that lie in a root. A folder that is the root itself, or holds it, cannot be closed. */
export function codePathsIn(realRoot: string): string[] {
  return codePaths().filter((path) => path !== realRoot && isInside(path, realRoot));
}

/**
 * Whether a package that Toolwright may import was not installed when the first tool ran. What is found under its name later
 * may be the work of a tool, and must not be loaded into this process.
 */
export function mayBePlanted(name: string): boolean {
  return found !== undefined && missing.has(name);
}

/** To be called before a package is imported that may be missing. */
export function refusePlanted(name: string): void {
  if (!mayBePlanted(name)) return;
  throw new Error(
    `The package "${name}" was installed after the first tool had run. Restart the process to use it.`,
  );
}

let found: readonly string[] | undefined;
const missing = new Set<string>();
const added: string[] = [];

function findCodePaths(): string[] {
  const paths = new Set<string>();
  const own = packageFolder(import.meta.dirname);
  // The folder that holds this very file, `dist` or `src`: the package itself may be the root.
  if (own !== undefined) {
    const top = import.meta.dirname.slice(own.length + 1).split("/")[0];
    for (const name of [top, "package.json", "dist", "sql", "templates"]) {
      if (name !== undefined && existsSync(join(own, name))) paths.add(real(join(own, name)));
    }
    for (const name of dependenciesOf(own)) if (findPackage(own, name) === undefined) missing.add(name);
    for (const folder of dependencyFolders(own)) paths.add(folder);
    for (const folder of programFolders(own)) paths.add(folder);
  }
  const [, entry] = process.argv;
  if (entry !== undefined && existsSync(entry)) {
    const file = realpathSync(entry);
    paths.add(file).add(dirname(file));
  }
  const node = real(process.execPath);
  paths.add(node).add(dirname(node));
  return [...paths];
}

/** The nearest folder above with a package.json, by its real path. */
function packageFolder(from: string): string | undefined {
  for (let folder = real(from); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "package.json"))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

/** The package, and whatever it may import, with what that may import. */
function dependencyFolders(own: string): Set<string> {
  const folders = new Set<string>([own]);
  const pending = [own];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const name of dependenciesOf(folder)) {
      const place = findPackage(folder, name);
      if (place === undefined || folders.has(place)) continue;
      folders.add(place);
      pending.push(place);
    }
  }
  return folders;
}

function dependenciesOf(folder: string): string[] {
  try {
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<
      string,
      unknown
    >;
    return ["dependencies", "optionalDependencies", "peerDependencies"].flatMap((field) => {
      const names = manifest[field];
      return typeof names === "object" && names !== null ? Object.keys(names) : [];
    });
  } catch {
    return []; // Without a manifest it names nothing.
  }
}

/** As Node looks for it: in every `node_modules` upwards. */
function findPackage(from: string, name: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (basename(folder) !== "node_modules" && existsSync(join(candidate, "package.json")))
      return real(candidate);
    if (dirname(folder) === folder) return undefined;
  }
}

/** `node_modules/.bin` with a `toolwright` that is ours: a person's `npx toolwright` starts from there. */
function programFolders(own: string): string[] {
  const places = [own, process.cwd()];
  const folders: string[] = [];
  for (const place of places) {
    for (let folder = place; ; folder = dirname(folder)) {
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
    return false; // There is no such folder.
  }
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // Deleted since the process started: there is nothing to protect.
  }
}
