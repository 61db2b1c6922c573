/**
 * Finds repositories below folders whose names are not valid UTF-8. Such a name has no text form, so nothing below it
 * can be mounted. Changes that a command made there are defused after the command instead. It must never follow a
 * link.
 */
import { closeSync, constants, lstatSync, openSync, readdirSync, unlinkSync } from "node:fs";
import { rethrowExhausted } from "../rethrow-exhausted.ts";
import { defuseFolder, openToOwner } from "./defuse-repositories.ts";
import { forgedLists, indexStamps } from "./forged-lists.ts";
import { forgedRefs } from "./forged-refs.ts";
import { strayLinks, type StrayLink } from "./git-links.ts";
import { O_PATH } from "./protection-plan.ts";
import { obscureFolders } from "./scan-root.ts";

export interface ObscureRepository {
  /** Its path below the root, byte by byte. */
  readonly names: readonly Buffer[];
  readonly key: string;
  readonly shown: string;
  /** Changes whenever anything in it that git would obey changes. `CLOSED` for a folder that cannot be looked into. */
  readonly stamp: string;
}

export const CLOSED = "closed";

type MayOpen = (key: string) => boolean;

/**
 * Uses the root as it was at the last scan.
 *
 * @param mayOpen whether the owner of a closed folder gets the permissions back; by default, nothing is changed
 */
export function findObscure(root: string, mayOpen: MayOpen = () => false): ObscureRepository[] {
  return obscureFolders(root).flatMap((folder) => {
    const names = folder
      .slice(root.length)
      .split("/")
      .filter((name) => name !== "")
      .map((name) => Buffer.from(name));
    return (
      within(root, names, (base) =>
        listNames(base).flatMap((name) => (isText(name) ? [] : findBelow(base, [...names, name], mayOpen))),
      ) ?? []
    );
  });
}

/** The kernel takes no longer path, so git cannot go deeper either. */
const MAX_DEPTH = 2_048;

/** `names` leads from the root to this folder, and `parent` is the folder above it. */
function findBelow(parent: string, names: readonly Buffer[], mayOpen: MayOpen): ObscureRepository[] {
  const found = within(parent, names.slice(-1), (base) => {
    const closed = isClosed(base) ? [{ ...nameOf(names), stamp: CLOSED }] : [];
    if (closed[0] !== undefined && mayOpen(closed[0].key)) openToOwner(base);
    const inner = listNames(base);
    const has = (part: string): boolean => inner.some((name) => name.toString("latin1") === part);
    const own = ["config", "hooks", "index", "HEAD"].some(has) ? [describe(names, base)] : [];
    const below = names.length < MAX_DEPTH ? inner.filter((name) => isFolder(base, name)) : [];
    return [...closed, ...own, ...below.flatMap((name) => findBelow(base, [...names, name], mayOpen))];
  });
  return found ?? [];
}

function describe(names: readonly Buffer[], base: string): ObscureRepository {
  const hooks = listNames(`${base}/hooks`).map((name) => `hooks/${name.toString("latin1")}`);
  const files = ["config", "config.worktree", "MERGE_RR", "hooks", ...hooks];
  const links = linksIn(base, () => true).map(({ path, target }) => path + target);
  const stamps = [
    ...files.map((name) => stampOf(`${base}/${name}`)),
    ...indexStamps(base).values(),
    ...links,
    ...forgedRefs(`${base}/.`).map(({ file, target }) => file + target),
  ];
  return { ...nameOf(names), stamp: stamps.join(" ") };
}

function nameOf(names: readonly Buffer[]): Omit<ObscureRepository, "stamp"> {
  const path = Buffer.concat(
    names.flatMap((name, index) => (index === 0 ? [name] : [Buffer.from("/"), name])),
  );
  return { names, key: path.toString("hex"), shown: path.toString() };
}

function isClosed(base: string): boolean {
  try {
    readdirSync(base);
    lstatSync(`${base}/.`);
    return false;
  } catch (error) {
    rethrowExhausted(error);
    return true;
  }
}

/** `isOff` says whether git must not write to a path because of something that a command left. */
export function defuseObscure(
  root: string,
  { names }: ObscureRepository,
  mode: "look" | "change",
  isOff: (path: string) => boolean,
): string[] {
  const taken = within(root, names, (base) => {
    const forged = [
      ...forgedLists(base, new Map<string, string>(), isOff).map(({ file }) => file),
      ...forgedRefs(`${base}/.`).map(({ file }) => file),
      ...linksIn(base, isOff).map(({ path }) => path),
    ];
    if (mode === "change") for (const file of forged) unlinkQuietly(`${base}/${file}`);
    return [...forged, ...defuseFolder(base, mode)];
  });
  return taken ?? [];
}

/** With paths relative to the folder. */
function linksIn(base: string, isOff: (path: string) => boolean): StrayLink[] {
  // The name of a descriptor alone is a link itself.
  return strayLinks(`${base}/.`, isOff).links.map((link) => ({
    ...link,
    path: link.path.slice(base.length + 3),
  }));
}

function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Already gone.
  }
}

/** Opens folder by folder, each by descriptor and without following links. */
function within<T>(start: string, names: readonly Buffer[], use: (base: string) => T): T | undefined {
  let folder: number | undefined;
  try {
    // The name of a descriptor alone is a link itself.
    folder = openSync(`${start}/.`, FOLDER);
    for (const name of names) {
      const child = openSync(Buffer.concat([Buffer.from(`/proc/self/fd/${folder}/`), name]), FOLDER);
      closeSync(folder);
      folder = child;
    }
    return use(`/proc/self/fd/${folder}`);
  } catch (error) {
    rethrowExhausted(error);
    return undefined; // Gone, or not accessible.
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}

const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

function isText(name: Buffer): boolean {
  return Buffer.from(name.toString()).equals(name);
}

function isFolder(base: string, name: Buffer): boolean {
  try {
    return lstatSync(Buffer.concat([Buffer.from(`${base}/`), name])).isDirectory();
  } catch {
    return false; // Already gone.
  }
}

function stampOf(path: string): string {
  try {
    const { dev, ino, size, ctimeNs } = lstatSync(path, { bigint: true });
    return `${dev}-${ino}-${size}-${ctimeNs}`;
  } catch {
    return ""; // Does not exist.
  }
}

function listNames(folder: string): Buffer[] {
  try {
    return readdirSync(folder, { encoding: "buffer" });
  } catch (error) {
    rethrowExhausted(error);
    return []; // Gone, or not readable.
  }
}
