/**
 * The code that this process runs or may load later, by real path: Toolwright with its dependencies, the started
 * program, and Node. A tool that could change it would run code in the agent's own process. It must never be computed
 * after a tool ran that could have changed where a package is found.
 */
import { existsSync, readFileSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

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
 * Whether a package that Toolwright may import was not installed when the first tool ran. A package that appears
 * under its name later may come from a tool, and must not be loaded into this process.
 */
export function mayBePlanted(name: string): boolean {
  return found !== undefined && missing.has(name);
}

/** Call it before importing a package that may be missing. */
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
  // The folder that contains this file, `dist` or `src`: the package itself may be the root.
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
    return []; // Without a manifest it has no dependencies.
  }
}

/** Resolves like Node: searches `node_modules` in every parent. */
function findPackage(from: string, name: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (basename(folder) !== "node_modules" && existsSync(join(candidate, "package.json")))
      return real(candidate);
    if (dirname(folder) === folder) return undefined;
  }
}

/** `node_modules/.bin` folders with a `toolwright` program: a user's `npx toolwright` starts from there. */
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
