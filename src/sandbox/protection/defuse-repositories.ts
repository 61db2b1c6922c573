/**
 * Defuses a repository that a command created: `git init` is allowed, but the `git status` of an outer repository
 * looks into an inner one. Settings known to be harmless stay, the others become comments, and hooks lose their
 * execute permission. Only links are deleted, and nothing is renamed. It must never write through a link.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { randomUUID } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { formatGitConfig, parseGitConfig, UNREADABLE, type ConfigEntry } from "./git-config.ts";
import { targetOfGitFile } from "./git-folder.ts";
import { pathFrom } from "./path-from.ts";
import { readText, usePlainFile } from "../read-plain-file.ts";
import { rethrowExhausted } from "../rethrow-exhausted.ts";
import { O_PATH, openFolderBelow, readLinkOf, type GitUse } from "./protection-plan.ts";
import { isBelow, realPlace } from "./rules/rule.ts";

/** What git obeys in a git folder and can be turned off. */
export const OBEYED_PARTS = ["config", "config.worktree", "hooks"] as const;
export type ObeyedPart = (typeof OBEYED_PARTS)[number];

interface Extent {
  readonly isMoved?: boolean;
  /** Defaults to all. */
  readonly parts?: readonly ObeyedPart[];
}

/**
 * Returns the names of the defused settings and hooks, such as `core.fsmonitor`. With `look`, it changes nothing.
 */
export function defuseRepository(
  root: string,
  gitDir: string,
  mode: "look" | "change",
  { isMoved = false, parts = OBEYED_PARTS }: Extent = {},
): string[] {
  const folder = openFolderBelow(root, gitDir);
  if (folder === undefined) return [];
  try {
    if (!isMoved && isOfOtherUser(`/proc/self/fd/${folder}`)) return [];
    return defuseFolder(`/proc/self/fd/${folder}`, mode, { root, gitDir }, parts);
  } finally {
    closeSync(folder);
  }
}

/**
 * Whether another user made the folder and everything in it that git obeys. A command has no capabilities: it cannot
 * write to such a folder, nor give its own files to another user.
 */
function isOfOtherUser(base: string): boolean {
  const uid = process.geteuid?.();
  const isOther = (path: string): boolean => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat === undefined || (stat.uid !== uid && (stat.mode & 0o022) === 0);
  };
  try {
    const hooks = lstatSync(`${base}/hooks`, { throwIfNoEntry: false })?.isDirectory() === true;
    const names = hooks ? readdirSync(`${base}/hooks`).map((name) => `hooks/${name}`) : [];
    return ["", "config", "config.worktree", "hooks", ...names].every((name) => isOther(`${base}/${name}`));
  } catch {
    return false; // It cannot be listed.
  }
}

/** The same for a folder of hooks, a settings file or a program anywhere in the root. */
export function defuseNamed(root: string, path: string, usedAs: GitUse): string[] {
  const real = realPlace(path, root);
  if (real === undefined) return []; // Nothing is there, or it is outside.
  const folder = openFolderBelow(root, usedAs === "hooks" ? real : dirname(real));
  if (folder === undefined) return [];
  try {
    const base = `/proc/self/fd/${folder}`;
    openToOwner(base);
    if (usedAs === "settings") return defuseConfig(base, basename(real), "change", undefined);
    const names = usedAs === "hooks" ? readdirSync(base) : [basename(real)];
    return names.flatMap((name) => defuseHook(base, name, "change"));
  } catch {
    return []; // It belongs to another user, so the command did not make it.
  } finally {
    closeSync(folder);
  }
}

interface Place {
  readonly root: string;
  readonly gitDir: string;
}

/** `base` is a git folder that is held by a descriptor. `place` is undefined if its path has no text form. */
export function defuseFolder(
  base: string,
  mode: "look" | "change",
  place?: Place,
  parts: readonly ObeyedPart[] = OBEYED_PARTS,
): string[] {
  if (mode === "change") openToOwner(base);
  return parts.flatMap((part) =>
    part === "hooks" ? defuseHooks(base, mode) : defuseConfig(base, part, mode, place),
  );
}

/** A command may have removed the owner's permission to list a folder or to replace its entries. */
export function openToOwner(base: string): void {
  try {
    const { mode } = statSync(base);
    if ((mode & 0o700) !== 0o700) chmodSync(base, (mode & 0o7777) | 0o700);
  } catch {
    // It belongs to another user, or is gone.
  }
}

/** Settings that `git init`, `git clone`, `git remote add` and a user's name leave. None of them names a program. */
const HARMLESS = [
  /^core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|symlinks|precomposeunicode)$/,
  /^core\.(?:autocrlf|eol|safecrlf|quotepath|compression|abbrev|sparsecheckout|sparsecheckoutcone|longpaths)$/,
  /^extensions\.(?:objectformat|refstorage|worktreeconfig|partialclone|compatobjectformat|preciousobjects)$/,
  /^user\.(?:name|email|useconfigonly)$/,
  /^remote\..+\.(?:url|pushurl|fetch|push|mirror|tagopt|prune|promisor|partialclonefilter)$/s,
  /^branch\..+\.(?:remote|merge|rebase|pushremote|description)$/s,
  /^submodule\.(?:.+\.(?:url|active|branch|ignore)|active|recurse)$/s,
  /^(?:init\.defaultbranch|pull\.(?:rebase|ff)|push\.(?:default|autosetupremote)|fetch\.prune|rebase\.autostash)$/,
  /^(?:gc|advice|color|column|status|log|index|pack)\.(?:[a-z0-9]+\.)?[a-z0-9]+$/,
  /^(?:lfs\.repositoryformatversion|merge\.conflictstyle|rerere\.enabled|receive\.denycurrentbranch)$/,
];
/** Names in the groups above that do refer to a program. */
const HARMFUL = /command|program|pager|helper|editor|hook|driver|textconv/;

function isHarmless({ name, value = "" }: ConfigEntry, place: Place | undefined): boolean {
  // Submodules have it. A work tree outside the root would make `git checkout` write there, and `git add` read there.
  if (name === "core.worktree") return place !== undefined && isOwnTree(value, place);
  return HARMLESS.some((known) => known.test(name)) && !HARMFUL.test(name.slice(name.lastIndexOf(".") + 1));
}

/** Text that git cannot parse makes it stop before it runs anything, and no setting is without a section. */
function isRefusedByGit({ name }: ConfigEntry): boolean {
  return name === UNREADABLE || name.startsWith(".");
}

/**
 * Whether the work tree is in the root and its `.git` leads back to the repository, as git itself arranges it. That
 * `.git` is protected from then on, so the folder cannot be replaced by a link.
 */
function isOwnTree(value: string, { root, gitDir }: Place): boolean {
  try {
    const tree = realpathSync.native(pathFrom(gitDir, value));
    const pointer = join(tree, ".git");
    const own = realpathSync.native(targetOfGitFile(pointer) ?? pointer);
    return isBelow(tree, root) && own === realpathSync.native(gitDir);
  } catch {
    return false; // Whatever appears there later would be the work tree.
  }
}

function defuseConfig(
  base: string,
  name: string,
  mode: "look" | "change",
  place: Place | undefined,
): string[] {
  const content = readPlain(`${base}/${name}`);
  if (content === undefined) return [];
  const entries = parseGitConfig(content.text);
  const taken = entries.filter((entry) => !isHarmless(entry, place));
  // Git refuses such a file, so it needs no change. A person may have made it while the command ran.
  if (taken.every(isRefusedByGit) && content.why === undefined) return [];
  const names = [
    ...taken.map((entry) => entry.name),
    ...(content.why === undefined ? [] : [`${name} (${content.why})`]),
  ];
  if (names.length === 0 || mode === "look") return names;
  const kept = formatGitConfig(entries.filter((entry) => isHarmless(entry, place)));
  replacePlain(base, name, taken.length === 0 ? kept : kept + noteOn(taken, content.text));
  return names;
}

/** The original file follows the note: it may be the user's. */
function noteOn(taken: readonly ConfigEntry[], original: string): string {
  const names = taken.map(({ name }) => JSON.stringify(name)).join(", ");
  const lines = original.split("\n").map((line) => `#| ${line}\n`);
  return `# Toolwright turned off settings that git would obey, because this file appeared or changed while a command ran:
# ${names}. To restore it: sed -n 's/^#| //p'\n${lines.join("")}`;
}

function defuseHooks(base: string, mode: "look" | "change"): string[] {
  const stat = lstatSync(`${base}/hooks`, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink() === true) {
    const target = linkTarget(`${base}/hooks`);
    if (mode === "change") unlinkQuietly(`${base}/hooks`);
    return [`hooks (a link to ${target})`];
  }
  let hooks: number;
  try {
    hooks = openSync(`${base}/hooks`, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch {
    return []; // There are no hooks.
  }
  try {
    const inner = `/proc/self/fd/${hooks}`;
    if (mode === "change") openToOwner(inner);
    return readdirSync(inner).flatMap((name) => defuseHook(inner, name, mode));
  } catch {
    return ["hooks (cannot be listed)"];
  } finally {
    closeSync(hooks);
  }
}

function defuseHook(folder: string, name: string, mode: "look" | "change"): string[] {
  const path = `${folder}/${name}`;
  const stat = lstatSync(path, { throwIfNoEntry: false });
  // Git does not run its own samples under these names.
  if (stat === undefined || (stat.isFile() && name.endsWith(".sample"))) return [];
  if (stat.isSymbolicLink()) {
    const target = linkTarget(path);
    if (mode === "change") unlinkQuietly(path);
    return [`hooks/${name} (a link to ${target})`];
  }
  if (!stat.isFile()) return [];
  // Through another name the file could be changed, and become a program, at any time.
  const isShared = stat.nlink > 1;
  if (!isShared && (stat.mode & 0o111) === 0) return [];
  if (mode === "change" && isShared) replacePlain(folder, name, readPlain(path)?.text ?? "");
  else if (mode === "change") withPlain(path, (own) => chmodSync(own, stat.mode & 0o666));
  return [`hooks/${name}`];
}

/** The link is deleted, so the error says where it led. */
function linkTarget(path: string): string {
  return JSON.stringify(readLinkOf(path) ?? "");
}

const MAX_CONFIG_BYTES = 4_194_304;

interface Content {
  readonly text: string;
  /** Why the file has to be replaced, regardless of its text. */
  readonly why?: string;
}

/** Undefined if there is no file. */
function readPlain(path: string): Content | undefined {
  try {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW;
    const content = usePlainFile(path, flags, (descriptor, { size, nlink }): Content => {
      if (size > MAX_CONFIG_BYTES) return { text: "", why: "too large" };
      const text = readText(descriptor);
      // Through its other name it could be changed later.
      return nlink > 1 ? { text, why: "a hard link" } : { text };
    });
    // A pipe would make git wait forever.
    return content ?? { text: "", why: "not a file" };
  } catch (error) {
    rethrowExhausted(error);
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    return { text: "", why: code === "ELOOP" ? "a link" : "cannot be read" };
  }
}

/** Works through a descriptor, so that swapping the name in the meantime does no harm. */
function withPlain(path: string, use: (own: string) => void): void {
  try {
    const descriptor = openSync(path, O_PATH | constants.O_NOFOLLOW);
    try {
      if (fstatSync(descriptor).isFile()) use(`/proc/self/fd/${descriptor}`);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Already gone.
  }
}

/** Gives a file with several hard links its own inode, with the same content and mode. */
export function separateFile(root: string, path: string): void {
  const folder = openFolderBelow(root, dirname(path));
  if (folder === undefined) return;
  try {
    const [base, name] = [`/proc/self/fd/${folder}`, basename(path)];
    const stat = lstatSync(`${base}/${name}`, { throwIfNoEntry: false });
    if (stat?.isFile() !== true || stat.nlink === 1) return;
    const content = readPlain(`${base}/${name}`);
    if (content !== undefined) replacePlain(base, name, content.text, stat.mode & 0o777);
  } catch {
    // Already gone.
  } finally {
    closeSync(folder);
  }
}

export function replacePlain(base: string, name: string, text: string, mode = 0o644): void {
  const temporary = `${base}/.toolwright-${randomUUID()}.tmp`;
  try {
    writeFileSync(temporary, text, { flag: "wx", mode });
    renameSync(temporary, `${base}/${name}`);
  } catch {
    unlinkQuietly(temporary);
  }
}

function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Already gone.
  }
}
