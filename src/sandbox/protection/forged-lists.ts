/**
 * Finds lists of paths in a git folder that git obeys without a look at the paths: its index, and its list of conflicts
 * (`MERGE_RR`). `git checkout` writes every path of the index, so one with `..` or `.git` in it makes the user's git
 * write outside the root, or a hook. Git copies each file of the list of conflicts into its own folder, where an agent
 * reads it. Git itself never lists such a path, so a list with one is always forged.
 */
import { constants, readFileSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { readPlainFile, usePlainFile } from "../read-plain-file.ts";
import { parseGitConfig, type ConfigEntry } from "./git-config.ts";
import { commonFolderOf } from "./git-folder.ts";
import { foldName } from "./protected-names.ts";
import { pathFrom } from "./path-from.ts";
import { realPathOf } from "./rules/rule.ts";

export interface ForgedList {
  /** Relative to the git folder. */
  readonly file: string;
  readonly listed: string;
}

/** The index files of a git folder, as they are now. Those that have not changed since are not read again. */
export function indexStamps(gitFolder: string): ReadonlyMap<string, string> {
  return new Map(indexFiles(gitFolder).map((name) => [name, stampOf(join(gitFolder, name))]));
}

/**
 * @param known the index files that need no check
 * @param isHidden whether a command must not see a path, which is absolute and real
 */
export function forgedLists(
  gitFolder: string,
  known: ReadonlyMap<string, string>,
  isHidden: (path: string) => boolean,
): ForgedList[] {
  const found: ForgedList[] = [];
  const changed = [...indexStamps(gitFolder)].filter(([name, stamp]) => known.get(name) !== stamp);
  for (const [file] of changed) {
    const index = readIndex(join(gitFolder, file));
    const listed = index === "too large" ? index : badPathIn(index, hashBytesOf(gitFolder));
    if (listed !== undefined) found.push({ file, listed });
  }
  const listed = badConflict(gitFolder, isHidden);
  return listed === undefined ? found : [...found, { file: CONFLICTS, listed }];
}

const CONFLICTS = "MERGE_RR";
const MAX_LIST_BYTES = 4_194_304;
/** More than two million files. A larger one would fill the memory of this process. */
const MAX_INDEX_BYTES = 268_435_456;

/** A split index has its other part in a file next to it. */
function indexFiles(gitFolder: string): string[] {
  try {
    return readdirSync(gitFolder).filter((name) => name === "index" || name.startsWith("sharedindex."));
  } catch {
    return []; // Gone, or it cannot be listed.
  }
}

/** Follows links, like git. */
function stampOf(path: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return ""; // A dangling link.
  }
}

function readIndex(path: string): Buffer | "too large" {
  try {
    const read = usePlainFile(path, constants.O_RDONLY, (descriptor, { size }) =>
      size > MAX_INDEX_BYTES ? "too large" : readFileSync(descriptor),
    );
    return read ?? Buffer.alloc(0);
  } catch {
    return Buffer.alloc(0); // Gone, or not readable: git stops then.
  }
}

function hashBytesOf(gitFolder: string): number {
  const format = settingsOf(gitFolder).findLast(({ name }) => name === "extensions.objectformat")?.value;
  return format?.toLowerCase() === "sha256" ? 32 : 20;
}

function settingsOf(gitFolder: string): ConfigEntry[] {
  const config = join(commonFolderOf(gitFolder) ?? gitFolder, "config");
  return parseGitConfig(readPlainFile(config, MAX_LIST_BYTES) ?? "");
}

/** An empty name, `.`, `..` or `.git`, or a path from the top. Folders in a sparse index end in a slash. */
const BAD = /(?:^|\/)(?:\.{0,2}|\.git)\/|(?:^|\/)(?:\.{1,2}|\.git)$/i;

/** The part of an entry before its hash. */
const STAT_BYTES = 40;
const EXTENDED = 0x4000;
const LENGTH = 0x0fff;

/**
 * The first path that git would refuse to add. Reads entries exactly like git, which does not check the hash at the end
 * of the file. Git refuses what is cut off or has another version, so that needs no look.
 */
export function badPathIn(index: Buffer, hashBytes: number): string | undefined {
  if (index.length < 12 || index.toString("latin1", 0, 4) !== "DIRC") return undefined;
  const [version, count] = [index.readUInt32BE(4), index.readUInt32BE(8)];
  const fixed = STAT_BYTES + hashBytes + 2;
  const starts: number[] = [];
  /** Entries of version 4 that would be bad if the name before them did not count. */
  const dependent = new Set<number>();
  let at = 12;
  let before = "";
  for (let entry = 0; entry < count; entry += 1) {
    starts.push(at);
    if (at + fixed > index.length) return undefined;
    const flags = index.readUInt16BE(at + fixed - 2);
    const nameAt = at + fixed + ((flags & EXTENDED) === 0 ? 0 : 2);
    const left = version === 4 ? readNumber(index, nameAt) : { value: 0, end: nameAt };
    const end = index.indexOf(0, left.end);
    if (end === -1 || left.value > before.length) return undefined;
    const own = index.toString("latin1", left.end, end);
    const name = before.slice(0, before.length - left.value) + own;
    if (BAD.test(name)) return Buffer.from(name, "latin1").toString();
    if (version === 4) {
      if (BAD.test(own)) dependent.add(entry);
      [before, at] = [name, end + 1];
    } else {
      const length = (flags & LENGTH) === LENGTH ? end - nameAt : flags & LENGTH;
      // A multiple of eight bytes, with at least one zero at its end.
      at += (nameAt - at + length + 8) & ~7;
    }
  }
  const isElsewhere = readsElsewhere(index, { end: at, starts, dependent, hashBytes });
  return isElsewhere ? "entries that only threads of git find" : undefined;
}

/** Each further byte adds one. */
function readNumber(bytes: Buffer, start: number): { readonly value: number; readonly end: number } {
  let at = start;
  let byte = bytes[at++] ?? 0;
  let value = byte & 127;
  while ((byte & 128) !== 0 && value <= bytes.length) {
    byte = bytes[at++] ?? 0;
    value = (value + 1) * 128 + (byte & 127);
  }
  return { value, end: at };
}

interface Entries {
  readonly end: number;
  readonly starts: readonly number[];
  readonly dependent: ReadonlySet<number>;
  readonly hashBytes: number;
}

/** Git reads the parts of a large index at the same time, from places that the file itself names. */
function readsElsewhere(index: Buffer, { end, starts, dependent, hashBytes }: Entries): boolean {
  const last = index.length - hashBytes - (8 + 4 + hashBytes);
  const isNamed = (at: number, name: string): boolean => index.toString("latin1", at, at + 4) === name;
  if (last < end || !isNamed(last, "EOIE")) return false;
  if (index.readUInt32BE(last + 8) !== end) return true;
  let at = end;
  while (at < last && !isNamed(at, "IEOT")) at += 8 + index.readUInt32BE(at + 4);
  if (at >= last) return false;
  const parts = Math.floor((index.readUInt32BE(at + 4) - 4) / 8);
  let entry = 0;
  for (let part = 0; part < parts; part += 1) {
    const place = at + 12 + part * 8;
    if (place + 8 > index.length) return true;
    if (index.readUInt32BE(place) !== starts[entry] || dependent.has(entry)) return true;
    entry += index.readUInt32BE(place + 4);
  }
  return entry !== starts.length;
}

/** Each conflict is an id, a tab, a path and a zero. */
function badConflict(gitFolder: string, isHidden: (path: string) => boolean): string | undefined {
  const text = readPlainFile(join(gitFolder, CONFLICTS), MAX_LIST_BYTES) ?? "";
  if (text === "") return undefined;
  const trees = workTreesOf(gitFolder);
  const paths = text.split("\0").map((line) => line.slice(line.indexOf("\t") + 1));
  return paths.find(
    (path) =>
      path !== "" && (BAD.test(path) || trees.some((tree) => isHidden(realPathOf(pathFrom(tree, path))))),
  );
}

function workTreesOf(gitFolder: string): string[] {
  const linked = readPlainFile(join(gitFolder, "gitdir"), MAX_LIST_BYTES)?.trimEnd();
  const named = settingsOf(gitFolder).flatMap(({ name, value }) =>
    name === "core.worktree" && value !== undefined ? [pathFrom(gitFolder, value)] : [],
  );
  return [
    ...(foldName(basename(gitFolder)) === ".git" ? [dirname(gitFolder)] : []),
    ...(linked === undefined ? [] : [dirname(pathFrom(gitFolder, linked))]),
    ...named,
  ];
}
