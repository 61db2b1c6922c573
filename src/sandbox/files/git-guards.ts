/**
 * What git would run or obey because a configuration names it: the folder of hooks, files that are included, programs of
 * filters, drivers, aliases and the like. It must never follow what it finds out of the files it was asked about: it only
 * names paths; the caller keeps those that lie in the root.
 */
import { lstatSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { parseGitConfig, type ConfigEntry } from "./git-config.ts";

export interface GitGuards {
  /** Folders of hooks and files of settings. Missing ones have to be made before a command could make them. */
  readonly folders: readonly string[];
  readonly settings: readonly string[];
  /** Files that are named in commands, as far as they exist. */
  readonly programs: readonly string[];
  /** Programs in the work tree that a command line names and that are not there: git would run whatever appears. */
  readonly missingPrograms: readonly string[];
  readonly hasWorktreeConfig: boolean;
}

export interface GitPlace {
  /** The folder that holds `config`. */
  readonly gitDir: string;
  /** What relative paths in commands are relative to. */
  readonly workTree: string;
}

/** The settings of one repository and those of the user and the machine, which hold in it too. */
export function readGitGuards(place: GitPlace): GitGuards {
  const own = readSettings([join(place.gitDir, "config"), join(place.gitDir, "config.worktree")]);
  const shared = readSettings(sharedConfigFiles());
  const folders = new Set<string>();
  const programs = new Set<string>();
  const missing = new Set<string>();
  const isOwn = new Set(own.entries.map(({ entry }) => entry));
  for (const { entry, file } of [...own.entries, ...shared.entries]) {
    const { name, value } = entry;
    if (value === undefined || value === "" || IGNORED.test(name)) continue;
    if (name === "core.hookspath") {
      const folder = absolute(value, place.workTree);
      // Husky's hooks in `_` do nothing but run the files of the same names in the folder above.
      folders.add(folder);
      if (basename(folder) === "_") folders.add(dirname(folder));
      continue;
    }
    for (const word of wordsOf(value, place.workTree)) {
      for (const base of [place.workTree, place.gitDir, dirname(file)]) {
        const path = absolute(word, base);
        if (isFile(path)) programs.add(path);
      }
      const path = absolute(word, place.workTree);
      // Those of the user and the machine hold in every folder: nothing is made there for them.
      if (isOwn.has(entry) && COMMAND_LINES.test(name) && isProgramPath(word) && isNothing(path))
        missing.add(path);
    }
  }
  const isSet = own.entries.some(
    ({ entry }) => entry.name === "extensions.worktreeconfig" && entry.value?.toLowerCase() !== "false",
  );
  return {
    folders: [...folders],
    settings: [...own.included, ...shared.included],
    programs: [...programs],
    missingPrograms: [...missing],
    hasWorktreeConfig: isSet,
  };
}

/** Addresses and names, not paths of programs; `core.worktree` names the whole work tree. */
const IGNORED =
  /^(?:core\.(?:worktree|bare|filemode|repositoryformatversion)|remote\..*(?<!\.(?:uploadpack|receivepack))|branch\..*|url\..*|submodule\..*\.(?:url|path|branch|active)|user\..*|safe\..*|extensions\..*)$/;

/** Settings whose value git runs. */
const COMMAND_LINES =
  /^(?:filter\..*\.(?:clean|smudge|process)|diff\..*\.(?:textconv|command)|diff\.external|merge\..*\.driver|core\.(?:fsmonitor|sshcommand|editor|pager|askpass|gitproxy)|alias\..*|credential\.(?:.*\.)?helper|gpg\.(?:.*\.)?program|sequence\.editor|interactive\.difffilter|pager\..*|(?:diff|merge)tool\..*\.(?:cmd|path)|trailer\..*\.(?:command|cmd)|uploadpack\.packobjectshook|remote\..*\.(?:uploadpack|receivepack))$/s;

/** A path: git looks words without a slash up in PATH, and an option, a place holder or an address is none. */
function isProgramPath(word: string): boolean {
  return word.includes("/") && !/^-|%|:\/\/|[*?$\s"'`;|&()<>=\\]/.test(word);
}

interface Settings {
  readonly entries: readonly { readonly entry: ConfigEntry; readonly file: string }[];
  /** Files that are included, whether they are there or not. */
  readonly included: readonly string[];
}

const MAX_FILES = 64;

function readSettings(files: readonly string[]): Settings {
  const entries: { entry: ConfigEntry; file: string }[] = [];
  const included: string[] = [];
  const pending = [...files];
  const seen = new Set<string>();
  for (let file = pending.shift(); file !== undefined && seen.size < MAX_FILES; file = pending.shift()) {
    if (seen.has(file)) continue;
    seen.add(file);
    for (const entry of readEntries(file)) {
      entries.push({ entry, file });
      if (!/^include(?:if\..*)?\.path$/s.test(entry.name) || entry.value === undefined) continue;
      // Whatever its condition is: it may hold later.
      const path = absolute(entry.value, dirname(file));
      included.push(path);
      pending.push(path);
    }
  }
  return { entries, included };
}

const MAX_CONFIG_BYTES = 4_194_304;
const known = new Map<string, { readonly stamp: string; readonly entries: readonly ConfigEntry[] }>();

/** Parsed again only when the file has changed: it is asked for by every call. */
function readEntries(file: string): readonly ConfigEntry[] {
  try {
    const { ino, size, ctimeNs, mtimeNs } = statSync(file, { bigint: true });
    if (size > MAX_CONFIG_BYTES) return [];
    const stamp = `${ino} ${size} ${ctimeNs} ${mtimeNs}`;
    const before = known.get(file);
    if (before?.stamp === stamp) return before.entries;
    const entries = parseGitConfig(readFileSync(file, "utf8"));
    if (known.size > 1_000) known.clear();
    // Within the clock's tick a second change would leave the same stamp.
    if (Date.now() - Number(ctimeNs / 1_000_000n) > SETTLED_MS) known.set(file, { stamp, entries });
    return entries;
  } catch {
    return []; // Not there, not readable, or a folder: git has nothing to obey either.
  }
}

const SETTLED_MS = 50;

function sharedConfigFiles(): string[] {
  const home = process.env["HOME"] ?? homedir();
  return [
    "/etc/gitconfig",
    join(process.env["XDG_CONFIG_HOME"] ?? join(home, ".config"), "git", "config"),
    join(home, ".gitconfig"),
    ...(process.env["GIT_CONFIG_GLOBAL"] === undefined ? [] : [process.env["GIT_CONFIG_GLOBAL"]]),
  ];
}

function absolute(path: string, base: string): string {
  if (path === "~" || path.startsWith("~/")) return join(process.env["HOME"] ?? homedir(), path.slice(1));
  return isAbsolute(path) ? resolve(path) : resolve(base, path);
}

/**
 * The words of a command line, without its quotes, and each quoted part as a whole; an alias begins with `!`. The common ways
 * to name the work tree stand for it.
 */
function wordsOf(value: string, workTree: string): string[] {
  const line = value.replaceAll(WORK_TREE, () => workTree);
  const quoted = [...line.matchAll(/"([^"]+)"|'([^']+)'/g)].map(
    ([, double, single]) => double ?? single ?? "",
  );
  const escaped = line.split(/(?<!\\)\s+/).map((word) => word.replaceAll(/\\(.)/g, "$1"));
  const words = [...line.split(/[\s"'`;|&()<>=]+/), ...quoted, ...escaped].flatMap((word) => {
    const plain = word.replace(/^!/, "");
    return plain === "" || plain.length > 1_000 ? [] : [plain];
  });
  return [...new Set(words)];
}

const WORK_TREE =
  /\$\(git rev-parse --show-toplevel\)|`git rev-parse --show-toplevel`|\$\(pwd\)|\$PWD\b|\$\{PWD\}/g;

function isNothing(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false; // Below something that is no folder.
  }
}

function isFile(path: string): boolean {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true || stat?.isSymbolicLink() === true;
  } catch {
    return false; // Below something that is no folder.
  }
}
