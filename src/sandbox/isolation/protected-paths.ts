/**
 * What inside the root a command may not touch: the store, Toolwright's own folder and settings (an agent must not
 * approve its own calls or write its own instructions), and the parts of git that are code on the host. It must never
 * leave a name to be swapped: every folder between the root and a protected path is pinned by a mount of its own.
 */
import { closeSync, lstatSync, openSync, readdirSync, renameSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { ToolwrightError } from "../../errors.ts";
import { isInside } from "./is-inside.ts";

export type ProtectionKind = "pin" | "readOnly" | "hideFolder" | "hideFile";

export interface Protection {
  readonly kind: ProtectionKind;
  readonly path: string;
}

export interface ProtectionRequest {
  /** The real root. */
  readonly root: string;
  readonly hidden: readonly string[];
  readonly readOnly: readonly string[];
}

/** In the order in which they have to be mounted: outer before inner. */
export function findProtections(request: ProtectionRequest): Protection[] {
  const { root } = request;
  const kinds = new Map<string, ProtectionKind>();
  const protect = (path: string, kind: Exclude<ProtectionKind, "pin">): void => {
    if (path === root) return;
    for (let folder = dirname(path); isInside(folder, root) && folder !== root; folder = dirname(folder)) {
      if (!kinds.has(folder)) kinds.set(folder, "pin");
    }
    kinds.set(path, kind);
  };

  for (const path of gitPaths(root)) protect(path, "readOnly");
  for (const name of topNames(root).filter((name) => isSettings(name))) protect(join(root, name), "readOnly");
  for (const given of request.readOnly) {
    const path = resolve(root, given);
    if (isInside(path, root) && kindOf(path) !== undefined) protect(path, "readOnly");
  }
  for (const given of [OWN_FOLDER, ...request.hidden]) {
    const path = resolve(root, given);
    if (!isInside(path, root) || isHiddenAlready(path, kinds)) continue;
    const kind = kindOf(path) ?? (given === OWN_FOLDER ? undefined : makeEmptyFile(path));
    if (kind === "folder") protect(path, "hideFolder");
    if (kind === "file" || kind === "other") protect(path, "hideFile");
  }
  return [...kinds]
    .map(([path, kind]) => ({ path, kind }))
    .filter(({ path }) => !isHiddenAlready(dirname(path), kinds))
    .toSorted((a, b) => depth(a.path) - depth(b.path));
}

/** Names that are not there yet cannot be guarded by a mount, so they are compared before and after. */
export function watchForbiddenNames(root: string): () => void {
  const before = new Set(forbiddenNames(root));
  return () => {
    const made = forbiddenNames(root).filter((path) => !before.has(path));
    for (const path of made) renameSync(path, `${path}.untrusted-${Date.now().toString(36)}`);
    if (made.length === 0) return;
    const names = made.map((path) => relative(root, path)).join(", ");
    throw new ToolwrightError(
      "TOOL_PATH_PROTECTED",
      `The command made ${names}, which no command may make; it was renamed to *.untrusted-….`,
      { details: { paths: names }, effect: "happened" },
    );
  };
}

function isHiddenAlready(path: string, kinds: ReadonlyMap<string, ProtectionKind>): boolean {
  return [...kinds].some(([folder, kind]) => kind === "hideFolder" && isInside(path, folder));
}

const OWN_FOLDER = ".toolwright";
const isSettings = (name: string): boolean =>
  name.startsWith("toolwright.config.") && !name.includes(".untrusted-");

function forbiddenNames(root: string): string[] {
  const own = topNames(root).filter((name) => name === OWN_FOLDER || isSettings(name));
  const paths = own.map((name) => join(root, name));
  // With a `commondir`, git takes settings and hooks from wherever it says; a main repository never has one.
  const commondir = join(root, ".git", "commondir");
  return kindOf(commondir) === undefined ? paths : [...paths, commondir];
}

function gitPaths(root: string): string[] {
  const git = join(root, ".git");
  const kind = kindOf(git);
  if (kind === undefined) return [];
  if (kind !== "folder") return kind === "link" ? [] : [git];
  const folders = [git, ...listNames(join(git, "modules")).map((name) => join(git, "modules", name))];
  const guarded = folders.flatMap((folder) => [join(folder, "config"), join(folder, "hooks")]);
  // A mount follows a link, and the link itself could then be replaced: close the whole folder instead.
  if (guarded.some((path) => kindOf(path) === "link")) return [git];
  return guarded.filter((path) => kindOf(path) !== undefined);
}

const topNames = (root: string): string[] => listNames(root);

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // Absent or unreadable: there is nothing to name.
  }
}

function kindOf(path: string): "folder" | "file" | "link" | "other" | undefined {
  try {
    const stat = lstatSync(path);
    if (stat.isDirectory()) return "folder";
    if (stat.isSymbolicLink()) return "link";
    return stat.isFile() ? "file" : "other";
  } catch {
    return undefined; // Not there, or behind something that is no folder.
  }
}

/** So that a store's missing `-wal` cannot be forged: for SQLite an empty one is the same as none. */
function makeEmptyFile(path: string): "file" | undefined {
  try {
    closeSync(openSync(path, "wx", 0o600));
    return "file";
  } catch {
    return undefined; // Its folder is missing or not ours to write; then the command cannot write it either.
  }
}

const depth = (path: string): number => path.split("/").length;
