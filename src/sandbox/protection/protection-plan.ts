/**
 * What a command must not touch inside its root, as plain data that any tier can turn into mounts or rules. Each path
 * has its mode, its identity and a descriptor that was opened without following a link. It must never leave a name
 * that can be swapped: every folder between the root and a protected path is in the plan too, as a `pin`.
 */
import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync, readlinkSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve } from "node:path";
import { ToolwrightError } from "../../errors.ts";
import { isInside } from "../is-inside.ts";
import { rethrowExhausted } from "../rethrow-exhausted.ts";

/**
 * `pin`: cannot be moved, but the command may change its content. `readOnly`: can be read. `hide…`: appears empty.
 */
export type ProtectionKind = "pin" | "readOnly" | "hideFolder" | "hideFile";

/** A path that a rule found. This file must need no Node types: public types reach it. */
export interface ProtectedPath {
  readonly kind: ProtectionKind;
  readonly path: string;
  /** Defaults to everything but a pin. */
  readonly watched?: boolean;
  /** What git uses it as, if git's configuration or a link of git leads there. */
  readonly usedAs?: GitUse;
}

export type GitUse = "hooks" | "settings" | "program";

export interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

export interface Protection {
  readonly kind: ProtectionKind;
  /** Absolute and real. The path inside the sandbox is the same. */
  readonly path: string;
  readonly isFolder: boolean;
  /** Held with O_PATH until the plan is closed, so that the inode number is not reused. */
  readonly descriptor: number;
  readonly identity: Identity;
  /** Whether the command is stopped if the host replaces the path while it runs. */
  readonly watched: boolean;
}

/** A mount cannot cover a link, so links are compared before and after. */
export interface WatchedLink {
  readonly path: string;
  readonly target: string;
  /** What git finds through this link, by the path that it uses. */
  readonly leadsTo?: { readonly path: string; readonly usedAs: GitUse };
}

export interface ProtectionPlan {
  /** The real root, held like a protection. */
  readonly root: { readonly path: string; readonly descriptor: number; readonly identity: Identity };
  /** In mount order: outer before inner. */
  readonly protections: readonly Protection[];
  readonly links: readonly WatchedLink[];
  close(): void;
}

// Node does not define it. It has this value on every architecture that Node is built for.
export const O_PATH = process.platform === "linux" ? 0o10000000 : 0;
const HOLD = O_PATH | constants.O_NOFOLLOW;

/**
 * Opens everything that was found, by descriptors from the root down. Skips paths that are gone or have become links.
 */
export function holdProtections(
  realRoot: string,
  found: readonly ProtectedPath[],
  links: readonly string[],
): ProtectionPlan {
  const open: number[] = [];
  const close = (): void => {
    for (const descriptor of open.splice(0)) closeSync(descriptor);
  };
  try {
    const rootDescriptor = openSync(realRoot, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    open.push(rootDescriptor);
    const held = new Map<string, Held>([[realRoot, { descriptor: rootDescriptor, isFolder: true }]]);
    const hold = (path: string): Held | undefined => {
      const known = held.get(path);
      if (known !== undefined) return known;
      const parent = hold(dirname(path));
      if (parent?.isFolder !== true) return undefined;
      const opened = openBelow(parent.descriptor, path);
      if (opened === undefined) return undefined;
      open.push(opened.descriptor);
      held.set(path, opened);
      return opened;
    };
    const kinds = new Map<string, ProtectedPath>();
    const pinAbove = (path: string): void => {
      for (let folder = dirname(path); folder !== realRoot; folder = dirname(folder)) {
        if (!kinds.has(folder)) kinds.set(folder, { path: folder, kind: "pin" });
      }
    };
    const onTheWay: WatchedLink[] = [];
    for (const each of found) {
      const { path, usedAs } = each;
      if (path === realRoot || (usedAs === undefined && !isInside(path, realRoot))) continue;
      // With `..` in it, the path is only a way to another, which was found too.
      if (isInside(path, realRoot) && path === resolve(path) && hold(path) !== undefined) {
        if (stronger(each.kind, kinds.get(path)?.kind)) kinds.set(path, each);
        pinAbove(path);
      } else if (usedAs !== undefined) {
        for (const link of followInside(path, realRoot).links) {
          onTheWay.push({ ...link, leadsTo: { path, usedAs } });
          if (hold(dirname(link.path)) !== undefined) pinAbove(link.path);
        }
      }
    }
    const protections = [...kinds.values()]
      .filter((each) => !isCovered(each, kinds, realRoot))
      .toSorted((a, b) => depth(a.path) - depth(b.path))
      .flatMap((each) => toProtection(each, held.get(each.path)));
    return {
      root: { path: realRoot, descriptor: rootDescriptor, identity: identityOf(rootDescriptor) },
      protections,
      links: [
        ...links.flatMap((path) => {
          const target = readLinkOf(path);
          return target === undefined ? [] : [{ path, target }];
        }),
        ...onTheWay,
      ],
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** Which kind wins if one path is found twice. */
const STRENGTH: Readonly<Record<ProtectionKind, number>> = {
  pin: 0,
  readOnly: 1,
  hideFolder: 2,
  hideFile: 2,
};

function stronger(kind: ProtectionKind, than: ProtectionKind | undefined): boolean {
  return than === undefined || STRENGTH[kind] > STRENGTH[than];
}

/** A hidden folder covers everything in it. A read-only one covers everything but hidden paths. */
function isCovered(each: ProtectedPath, kinds: ReadonlyMap<string, ProtectedPath>, root: string): boolean {
  for (let folder = dirname(each.path); isInside(folder, root) && folder !== root; folder = dirname(folder)) {
    const kind = kinds.get(folder)?.kind;
    if (kind === "hideFolder") return true;
    if (kind === "readOnly" && (each.kind === "readOnly" || each.kind === "pin")) return true;
  }
  return false;
}

function toProtection({ path, kind, watched }: ProtectedPath, held: Held | undefined): Protection[] {
  if (held === undefined) return [];
  const { descriptor, isFolder } = held;
  const fitting =
    kind === "hideFile" && isFolder ? "hideFolder" : kind === "hideFolder" && !isFolder ? "hideFile" : kind;
  return [
    {
      kind: fitting,
      path,
      isFolder,
      descriptor,
      identity: identityOf(descriptor),
      watched: watched ?? kind !== "pin",
    },
  ];
}

interface Held {
  readonly descriptor: number;
  readonly isFolder: boolean;
}

function openBelow(parent: number, path: string): Held | undefined {
  const name = path.slice(dirname(path).length).replace(/^\//, "");
  try {
    const child = process.platform === "linux" ? `/proc/self/fd/${parent}/${name}` : path;
    const descriptor = openSync(child, HOLD);
    const stat = fstatSync(descriptor);
    if (!stat.isSymbolicLink()) return { descriptor, isFolder: stat.isDirectory() };
    closeSync(descriptor);
    return undefined;
  } catch (error) {
    rethrowExhausted(error);
    return undefined; // Already gone.
  }
}

export function identityOf(descriptor: number): Identity {
  const { dev, ino } = fstatSync(descriptor, { bigint: true });
  return { dev, ino };
}

/** The identity of the file at this path now, or undefined if there is none. */
export function identityAt(path: string): Identity | undefined {
  try {
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? undefined : { dev: stat.dev, ino: stat.ino };
  } catch {
    return undefined; // A parent is no longer a folder.
  }
}

export function isSame(a: Identity | undefined, b: Identity): boolean {
  return a !== undefined && a.dev === b.dev && a.ino === b.ino;
}

export function readLinkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // Not a link, or gone.
  }
}

const MAX_LINKS = 40;

/** Follows a path as the kernel does: the links in the root on the way, and where it leads, even to nothing. */
export function followInside(
  path: string,
  root: string,
): { readonly links: readonly { readonly path: string; readonly target: string }[]; readonly end: string } {
  const links: { path: string; target: string }[] = [];
  // The root is a real path, so links are below it, or outside.
  let place = isInside(path, root) ? root : "/";
  let followed = 0;
  const left = path.slice(place.length).split("/");
  for (let name = left.shift(); name !== undefined; name = left.shift()) {
    const next = resolve(place, name);
    const target = followed < MAX_LINKS ? readLinkOf(next) : undefined;
    if (target === undefined) {
      place = next;
      continue;
    }
    followed += 1;
    if (isInside(next, root)) links.push({ path: next, target });
    if (isAbsolute(target)) place = "/";
    left.unshift(...target.split("/").filter((each) => each !== ""));
  }
  return { links, end: place };
}

/** Opens a folder below a root without following links. The caller closes it. Undefined if there is none. */
export function openFolderBelow(realRoot: string, path: string): number | undefined {
  if (process.platform !== "linux" || !isInside(path, realRoot)) return undefined;
  let folder: number | undefined;
  try {
    folder = openSync(realRoot, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    for (const name of relative(realRoot, path)
      .split("/")
      .filter((each) => each !== "")) {
      const child = openSync(
        `/proc/self/fd/${folder}/${name}`,
        O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW,
      );
      closeSync(folder);
      folder = child;
    }
    return folder;
  } catch (error) {
    if (folder !== undefined) closeSync(folder);
    rethrowExhausted(error);
    return undefined; // Gone, or not a folder.
  }
}

/**
 * Creates a folder or an empty file that a command could create otherwise, below a root and without following links.
 */
export function makeMissing(realRoot: string, path: string, what: "folder" | "file"): void {
  if (process.platform !== "linux") return;
  const names = relative(realRoot, path).split("/");
  const open: number[] = [];
  try {
    let folder = openSync(realRoot, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    open.push(folder);
    for (const [index, name] of names.entries()) {
      const child = `/proc/self/fd/${folder}/${name}`;
      if (index === names.length - 1 && what === "file") {
        open.push(
          openSync(
            child,
            constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW,
            0o600,
          ),
        );
        return;
      }
      if (lstatSync(child, { throwIfNoEntry: false }) === undefined) mkdirSync(child);
      folder = openSync(child, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      open.push(folder);
    }
  } catch (error) {
    rethrowExhausted(error);
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    // The command may have filled the disk, and can free it.
    if (code === "ENOSPC" || code === "EDQUOT") throw noSpaceFor(relative(realRoot, path));
    // It exists, or we cannot create it, in which case the command cannot create it either.
  } finally {
    for (const descriptor of open) closeSync(descriptor);
  }
}

function noSpaceFor(path: string): ToolwrightError {
  const message = `The disk is full, so the protected path ${JSON.stringify(path)} could not be created.`;
  return new ToolwrightError("TOOL_DISK_FULL", message, { effect: "none" });
}

const depth = (path: string): number => path.split("/").length;
