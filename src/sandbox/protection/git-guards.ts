/**
 * Finds what git would run or obey because a configuration names it: the hooks folder, included files, and programs of
 * filters, drivers, aliases and the like. It reads configuration files and the files that they include, and otherwise
 * only names paths. The caller keeps those in the root.
 */
import { lstatSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { readPlainFile } from "../read-plain-file.ts";
import { rethrowExhausted } from "../rethrow-exhausted.ts";
import { parseGitConfig, type ConfigEntry } from "./git-config.ts";
import { pathFrom } from "./path-from.ts";
import { linkedFromGit } from "./linked-targets.ts";

export interface GitGuards {
  /** Hooks folders and settings files. Missing ones have to be created before a command could create them. */
  readonly folders: readonly string[];
  readonly settings: readonly string[];
  /** Existing files that are named in commands. */
  readonly programs: readonly string[];
  /**
   * Programs in the work tree that a command line names but that do not exist. Git would run any file that appears
   * there.
   */
  readonly missingPrograms: readonly string[];
  readonly hasWorktreeConfig: boolean;
}

export interface GitPlace {
  /** The folder that contains `config`. */
  readonly gitDir: string;
  /** The folder that relative paths in commands refer to. */
  readonly workTree: string;
}

/** The settings of one repository, and the user's and the machine's settings, which apply to it too. */
export function readGitGuards(place: GitPlace): GitGuards {
  const own = readSettings([join(place.gitDir, "config"), join(place.gitDir, "config.worktree")]);
  const shared = readSettings(userSettings());
  const folders = new Set<string>();
  const programs = new Set<string>();
  const missing = new Set<string>();
  const isOwn = new Set(own.entries.map(({ entry }) => entry));
  for (const { entry, file } of [...own.entries, ...shared.entries]) {
    const { name, value } = entry;
    if (value === undefined || value === "" || IGNORED.test(name)) continue;
    if (name === "core.hookspath") {
      const folder = absolute(value, place.workTree);
      // Husky's hooks in `_` only run the files of the same names in the parent folder.
      folders.add(folder);
      if (basename(folder) === "_") folders.add(dirname(folder));
      continue;
    }
    // `git init` and `git clone` copy its hooks into the new repository.
    if (name === "init.templatedir") {
      const folder = absolute(value, place.workTree);
      folders.add(folder).add(join(folder, "hooks"));
      continue;
    }
    // Git updates a submodule in the folder of that submodule, whose path is its name unless it was moved.
    const submodule = /^submodule\.(.*)\.update$/s.exec(name)?.[1];
    const started = submodule === undefined ? place.workTree : pathFrom(place.workTree, submodule);
    const isCommandLine = COMMAND_LINES.test(name);
    const words = knownWordsOf(entry, value, place.workTree);
    const isElsewhere = isCommandLine && ENTERS_FOLDER.test(value);
    const entered = isElsewhere ? words.map((word) => absolute(word, started)).filter(isFolder) : [];
    for (const word of words) {
      for (const base of [started, place.workTree, place.gitDir, dirname(file), ...entered]) {
        const path = absolute(word, base);
        if (isFile(path)) programs.add(path);
      }
      // Settings of the user and the machine apply to every folder, so nothing is created for them.
      if (!isOwn.has(entry) || !isCommandLine || !isProgramPath(word, value)) continue;
      for (const base of [started, ...entered]) {
        const path = absolute(word, base);
        if (isNothing(path)) missing.add(path);
      }
    }
  }
  const linked = linkedFromGit(place.gitDir, folders);
  for (const folder of linked.folders) folders.add(folder);
  for (const file of linked.files) (isNothing(file) ? missing : programs).add(file);
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

/** Addresses and names, not program paths. `core.worktree` names the whole work tree. */
const IGNORED =
  /^(?:core\.(?:worktree|bare|filemode|repositoryformatversion)|remote\..*(?<!\.(?:uploadpack|receivepack))|branch\..*|url\..*|submodule\..*\.(?:url|path|branch|active)|user\..*|safe\..*|extensions\..*)$/;

/** Settings whose value git runs. */
const COMMAND_LINES =
  /^(?:filter\..*\.(?:clean|smudge|process)|diff\..*\.(?:textconv|command)|diff\.external|merge\..*\.driver|core\.(?:fsmonitor|sshcommand|editor|pager|askpass|gitproxy)|alias\..*|credential\.(?:.*\.)?helper|gpg\.(?:.*\.)?program|sequence\.editor|interactive\.difffilter|pager\..*|(?:diff|merge)tool\..*\.(?:cmd|path)|trailer\..*\.(?:command|cmd)|uploadpack\.packobjectshook|submodule\..*\.update|gpg\.ssh\.defaultkeycommand|core\.alternaterefscommand|gc\.recentobjectshook|tar\..*\.command|hook\..*\.command|(?:browser|man|guitool)\..*\.(?:cmd|path)|sendemail\..*cmd|imap\.tunnel|remote\..*\.(?:uploadpack|receivepack))$/s;

/**
 * Whether a word is a path. Git looks up words without a slash in PATH, unless they are scripts for an interpreter. An
 * option, a placeholder or an address is not a path.
 */
function isProgramPath(word: string, line: string): boolean {
  const isPath = word.includes("/") || (SCRIPT.test(word) && INTERPRETER.test(line));
  return isPath && !/^-|%|:\/\/|[*?$\s"'`;|&()<>={}\\]/.test(word);
}

const SCRIPT = /^[\w.-]+\.(?:sh|bash|zsh|ksh|fish|py|pl|rb|php|lua|awk|[cm]?[jt]s)$/;
const INTERPRETER =
  /(?:^|[\s/!"'`;|&(])(?:(?:ba|da|z|k)?sh|fish|python[\d.]*|perl|ruby|php|lua|g?awk|node|deno|bun|tsx|source|\.)\s/;

interface Settings {
  readonly entries: readonly { readonly entry: ConfigEntry; readonly file: string }[];
  /** Included files, whether they exist or not. */
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
      // Ignores the condition, because it may become true later.
      const path = absolute(entry.value, dirname(file));
      included.push(path);
      pending.push(path);
    }
  }
  return { entries, included };
}

const MAX_CONFIG_BYTES = 4_194_304;
const known = new Map<string, { readonly stamp: string; readonly entries: readonly ConfigEntry[] }>();

/** Parses a file again only if it has changed, because every call needs it. */
function readEntries(file: string): readonly ConfigEntry[] {
  try {
    const { ino, size, ctimeNs, mtimeNs } = statSync(file, { bigint: true });
    const stamp = `${ino} ${size} ${ctimeNs} ${mtimeNs}`;
    const before = known.get(file);
    if (before?.stamp === stamp) return before.entries;
    const entries = parseGitConfig(readPlainFile(file, MAX_CONFIG_BYTES) ?? "");
    if (known.size > 1_000) known.clear();
    // A second change within one clock tick would leave the same stamp.
    if (Date.now() - Number(ctimeNs / 1_000_000n) > SETTLED_MS) known.set(file, { stamp, entries });
    return entries;
  } catch (error) {
    rethrowExhausted(error);
    return []; // Missing, not readable, or a folder: git has nothing to obey either.
  }
}

const SETTLED_MS = 50;

/** The settings of the user and the machine, whether they exist or not. */
export function userSettings(): string[] {
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
  return pathFrom(base, path);
}

const ENTERS_FOLDER = /(?:^|[\s;&|(!{"'])(?:cd|pushd)\s|\s-C\s/;

const splitLines = new WeakMap<
  ConfigEntry,
  { readonly workTree: string; readonly words: readonly string[] }
>();

/** Every command needs them, and entries of a file that has not changed stay the same objects. */
function knownWordsOf(entry: ConfigEntry, value: string, workTree: string): readonly string[] {
  const before = splitLines.get(entry);
  if (before?.workTree === workTree) return before.words;
  const words = wordsOf(value, workTree);
  splitLines.set(entry, { workTree, words });
  return words;
}

/**
 * Splits a command line into words without quotes, plus each quoted part as a whole. An alias begins with `!`. Common
 * expressions for the work tree are replaced by its path.
 */
function wordsOf(value: string, workTree: string): string[] {
  const line = withVariables(value.replaceAll(WORK_TREE, () => workTree));
  const quoted = [...line.matchAll(/"([^"]+)"|'([^']+)'/g)].map(
    ([, double, single]) => double ?? single ?? "",
  );
  const escaped = line.split(/(?<!\\)\s+/).map((word) => word.replaceAll(/\\(.)/g, "$1"));
  // A word may be quoted in part.
  const joined = line.replaceAll(/["']/g, "").split(/[\s`;|&()<>={}]+/);
  const words = [...line.split(/[\s"'`;|&()<>={}]+/), ...joined, ...quoted, ...escaped].flatMap((word) => {
    const plain = word.replace(/^!/, "");
    return plain === "" || plain.length > 1_000 ? [] : [plain];
  });
  return [...new Set(words)];
}

/** Replaces variables that the line itself sets (`d=tools; $d/x`), and defaults of others (`${TOOL:-tools/x}`). */
function withVariables(line: string): string {
  const set = new Map(
    [...line.matchAll(/(?:^|[\s;&|(!{])([A-Za-z_]\w*)=["']?([^\s;&|"'`]*)/g)].map(
      ([, name = "", value = ""]) => [name, value],
    ),
  );
  return line
    .replaceAll(/\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})/g, (all, plain?: string, braced?: string) => {
      return set.get(plain ?? braced ?? "") ?? all;
    })
    .replaceAll(/\$\{[A-Za-z_]\w*:?[-=+]([^}]*)\}/g, " $1 ");
}

const WORK_TREE =
  /\$\(git rev-parse --show-toplevel\)|`git rev-parse --show-toplevel`|\$\(pwd\)|\$PWD\b|\$\{PWD\}/g;

function isNothing(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false; // A parent is not a folder.
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false; // A parent is not a folder.
  }
}

function isFile(path: string): boolean {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true || stat?.isSymbolicLink() === true;
  } catch {
    return false; // A parent is not a folder.
  }
}
