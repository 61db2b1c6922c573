/**
 * Finds the other names, in a root, of files that commands must not change. Package managers such as pnpm link one file
 * from their store into many projects: a command that writes to it under one name changes it under all. The file tools
 * replace a file instead of writing to it, so they need no such rule. Commands cannot create links to protected files.
 */
import { lstatSync, readdirSync, realpathSync, type BigIntStats, type Dirent } from "node:fs";
import { dirname, join } from "node:path";
import { codePaths } from "../../load/code-paths.ts";
import { isInside } from "../is-inside.ts";
import type { ProtectedPath } from "./protection-plan.ts";
import { isBelow } from "./rules/rule.ts";

type Kind = ProtectedPath["kind"];

/** `withCode` is false if nothing in the root can be changed anyway. */
export function otherNames(
  root: string,
  found: readonly ProtectedPath[],
  withCode: boolean,
): ProtectedPath[] {
  const own = new Map(
    found.flatMap(({ path, kind }) => (isCode(path) ? [] : sharedIn(path).map((id) => [id, kind] as const))),
  );
  const hasCode = withCode && sharedPackages().length > 0;
  if (!hasCode && own.size === 0) return [];
  const folders = found.map(({ path }) => path);
  const names = namesIn(root, own, hasCode).filter(
    ({ path }) => !folders.some((each) => isInside(path, each)),
  );
  const hidden = names.filter(({ kind }) => kind === "hideFile");
  const readOnly = names.filter(({ kind }) => kind !== "hideFile");
  return [...hidden, ...unitsOf(root, readOnly).map((path) => ({ kind: "readOnly", path }) as const)];
}

let packages: readonly string[] | undefined;
let codeIds: ReadonlySet<string> | undefined;
const isCode = (path: string): boolean => codePaths().includes(path);

/** Code whose files have several names. Stores link all files of a package or none, so this looks at a few. */
function sharedPackages(): readonly string[] {
  const node = dirname(realpathSync(process.execPath));
  // Left out: a folder of system programs, and folders of links.
  packages ??= codePaths().filter(
    (path) => path !== node && !/\/(?:node_modules|\.bin)$/.test(path) && sharedIn(path).length > 0,
  );
  return packages;
}

/** Once per process: commands cannot change the number of links of this code. */
function sharedCode(): ReadonlySet<string> {
  codeIds ??= new Set(sharedPackages().flatMap((path) => [...sharedIn(path), ...sharedBelow(path)]));
  return codeIds;
}

/** The ids of files with several names: the file itself, or those directly in the folder. */
function sharedIn(path: string): string[] {
  const stat = lstatOf(path);
  if (stat?.isDirectory() !== true) return stat !== undefined && isShared(stat) ? [idOf(stat)] : [];
  return list(path).flatMap((entry) => {
    const inner = entry.isFile() ? lstatOf(join(path, entry.name)) : undefined;
    return inner !== undefined && isShared(inner) ? [idOf(inner)] : [];
  });
}

/** The dependencies of a package have their own entries. */
function sharedBelow(folder: string): string[] {
  return list(folder).flatMap((entry) => {
    if (!entry.isDirectory() || entry.name === "node_modules" || entry.name === ".git") return [];
    const path = join(folder, entry.name);
    return [...sharedIn(path), ...sharedBelow(path)];
  });
}

interface Name {
  readonly kind: Kind;
  readonly path: string;
}

const MAX_ROOTS = 8;
const known = new Map<string, { readonly ids: string; readonly names: readonly Name[] }>();

/** Reads the whole root, so only when the set of files has changed. */
function namesIn(root: string, own: ReadonlyMap<string, Kind>, hasCode: boolean): readonly Name[] {
  const ids = `${hasCode} ${[...own].join()}`;
  const before = known.get(root);
  if (before?.ids === ids) return before.names;
  const names: Name[] = [];
  const pending = [root];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of list(folder)) {
      const path = join(folder, entry.name);
      // A local clone shares its objects, which are not code.
      if (entry.isDirectory() && !path.endsWith("/.git/objects")) pending.push(path);
      const stat = entry.isFile() ? lstatOf(path) : undefined;
      if (stat === undefined || !isShared(stat)) continue;
      const kind = own.get(idOf(stat)) ?? (hasCode && sharedCode().has(idOf(stat)) ? "readOnly" : undefined);
      if (kind !== undefined) names.push({ kind: kind === "hideFolder" ? "hideFile" : kind, path });
    }
  }
  if (known.size >= MAX_ROOTS) known.clear();
  known.set(root, { ids, names });
  return names;
}

/** A command with more mounts than this starts slowly. */
const MAX_UNITS = 128;

/** Whole packages and stores instead of their thousands of files. */
function unitsOf(root: string, names: readonly Name[]): string[] {
  let units = new Set(names.map(({ path }) => unitOf(root, path)));
  while (units.size > MAX_UNITS) {
    const wider = new Set([...units].map((path) => (isBelow(dirname(path), root) ? dirname(path) : path)));
    if (wider.size === units.size && [...wider].every((path) => units.has(path))) break;
    units = wider;
  }
  return [...units];
}

const UNITS = [
  /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/,
  /^.*?\/\.pnpm-store(?=\/)/,
  /^.*?(?=\/files\/[0-9a-f]{2}\/)/,
];

function unitOf(root: string, path: string): string {
  const below = path.slice(root.length);
  const unit = UNITS.map((pattern) => pattern.exec(below)?.[0]).find(
    (each) => each !== undefined && each !== "",
  );
  return unit === undefined ? path : root + unit;
}

const isShared = (stat: BigIntStats): boolean => stat.isFile() && stat.nlink > 1n;
const idOf = ({ dev, ino }: BigIntStats): string => `${dev}:${ino}`;

function lstatOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined; // A parent is not a folder.
  }
}

function list(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // Gone, or not readable for us and therefore not for the command either.
  }
}
