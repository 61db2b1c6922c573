/**
 * Takes from a repository that a command made what git would run: `git init` is allowed, but a repository inside another is
 * looked into by the outer one's `git status`. Settings that are known to be harmless stay, the others become comments, and
 * hooks lose their right to be run. Nothing is renamed or deleted but links. It must never write through a link.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { randomUUID } from "node:crypto";
import { formatGitConfig, parseGitConfig, type ConfigEntry } from "../files/git-config.ts";
import { openFolderBelow } from "./protection-plan.ts";

/** The names of settings and hooks that were taken, such as `core.fsmonitor`. With `look`, nothing is changed. */
export function defuseRepository(root: string, gitDir: string, mode: "look" | "change"): string[] {
  const folder = openFolderBelow(root, gitDir);
  if (folder === undefined) return [];
  try {
    const base = `/proc/self/fd/${folder}`;
    return [
      ...["config", "config.worktree"].flatMap((name) => defuseConfig(base, name, mode)),
      ...defuseHooks(base, root, gitDir, mode),
    ];
  } finally {
    closeSync(folder);
  }
}

/** What `git init`, `git clone`, `git remote add` and a person's name leave. None of it names a program. */
const HARMLESS = [
  /^core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|symlinks|precomposeunicode)$/,
  /^core\.(?:autocrlf|eol|safecrlf|quotepath|compression|abbrev|sparsecheckout|sparsecheckoutcone|worktree|longpaths)$/,
  /^extensions\.(?:objectformat|refstorage|worktreeconfig|partialclone|compatobjectformat|preciousobjects)$/,
  /^user\.(?:name|email|useconfigonly)$/,
  /^remote\..+\.(?:url|pushurl|fetch|push|mirror|tagopt|prune|promisor|partialclonefilter)$/s,
  /^branch\..+\.(?:remote|merge|rebase|pushremote|description)$/s,
  /^submodule\.(?:.+\.(?:url|active|branch|ignore)|active|recurse)$/s,
  /^(?:init\.defaultbranch|pull\.(?:rebase|ff)|push\.(?:default|autosetupremote)|fetch\.prune|rebase\.autostash)$/,
  /^(?:gc|advice|color|column|status|log|index|pack)\.(?:[a-z0-9]+\.)?[a-z0-9]+$/,
  /^(?:lfs\.repositoryformatversion|merge\.conflictstyle|rerere\.enabled|receive\.denycurrentbranch)$/,
];
/** Of the groups above, what does name a program. */
const HARMFUL = /command|program|pager|helper|editor|hook|driver|textconv/;

function isHarmless({ name }: ConfigEntry): boolean {
  return HARMLESS.some((known) => known.test(name)) && !HARMFUL.test(name.slice(name.lastIndexOf(".") + 1));
}

function defuseConfig(base: string, name: string, mode: "look" | "change"): string[] {
  const path = `${base}/${name}`;
  const text = readPlain(path);
  if (text === undefined) return [];
  const entries = text === LINK ? [] : parseGitConfig(text);
  const taken = entries.filter((entry) => !isHarmless(entry));
  const names = text === LINK ? [`${name} (a link)`] : taken.map((entry) => entry.name);
  if (names.length === 0 || mode === "look") return names;
  const notes = taken.map((entry) => `# ${JSON.stringify(entry)}\n`);
  const note = `# Toolwright turned off these settings, which a command made and git would obey:\n${notes.join("")}`;
  replacePlain(base, name, formatGitConfig(entries.filter(isHarmless)) + note);
  return names;
}

function defuseHooks(base: string, root: string, gitDir: string, mode: "look" | "change"): string[] {
  const stat = lstatSync(`${base}/hooks`, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink() === true) {
    if (mode === "change") unlinkQuietly(`${base}/hooks`);
    return ["hooks (a link)"];
  }
  const hooks = openFolderBelow(root, `${gitDir}/hooks`);
  if (hooks === undefined) return [];
  try {
    const inner = `/proc/self/fd/${hooks}`;
    return readdirSync(inner).flatMap((name) => defuseHook(`${inner}/${name}`, name, mode));
  } finally {
    closeSync(hooks);
  }
}

function defuseHook(path: string, name: string, mode: "look" | "change"): string[] {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  // Git's own examples are not run under these names.
  if (stat === undefined || (stat.isFile() && name.endsWith(".sample"))) return [];
  if (stat.isSymbolicLink()) {
    if (mode === "change") unlinkQuietly(path);
    return [`hooks/${name}`];
  }
  if (!stat.isFile() || (stat.mode & 0o111) === 0) return [];
  if (mode === "change") withPlain(path, (own) => chmodSync(own, stat.mode & 0o666));
  return [`hooks/${name}`];
}

const LINK = Symbol("a link");
const MAX_CONFIG_BYTES = 4_194_304;

function readPlain(path: string): string | typeof LINK | undefined {
  try {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stat = fstatSync(descriptor);
      if (!stat.isFile()) return undefined;
      return stat.size > MAX_CONFIG_BYTES ? "[" : readFileSync(descriptor, "utf8");
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ELOOP" ? LINK : undefined;
  }
}

/** Through a descriptor, so that a name that is swapped meanwhile does no harm. */
function withPlain(path: string, use: (own: string) => void): void {
  try {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      use(`/proc/self/fd/${descriptor}`);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Gone by now.
  }
}

function replacePlain(base: string, name: string, text: string): void {
  const temporary = `${base}/.toolwright-${randomUUID()}.tmp`;
  try {
    writeFileSync(temporary, text, { flag: "wx" });
    renameSync(temporary, `${base}/${name}`);
  } catch {
    unlinkQuietly(temporary);
  }
}

function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Gone by now.
  }
}
