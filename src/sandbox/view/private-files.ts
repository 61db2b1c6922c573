/**
 * Finds the private files below a folder, at any depth except in libraries: keys, password hashes, settings of a
 * service. The search runs before every command, because keys are created while an agent runs. A folder that has not
 * changed is not listed again. A large folder is searched completely before its first use, and again in the background
 * after that.
 */
import { accessSync, constants, lstatSync, readdirSync, type Stats } from "node:fs";

export interface PrivateFiles {
  /**
   * Files and folders that this user can read and others cannot. Does not list the content of such folders. In a large
   * folder the deeper levels come from the last complete search.
   */
  find(folder: string): FoundPrivate;
  /** Resolves as soon as the folder has been searched completely once. */
  complete(folder: string): Promise<void>;
}

export interface FoundPrivate {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

export interface PrivateFilesOptions {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** The clock that file systems use for timestamps. Defaults to the clock of this process. */
  readonly wallClock?: () => number;
  /** Names that are private regardless of their mode. */
  readonly secretNames?: RegExp;
  /**
   * Keeps programs visible, and closed folders that contain them: a user whose files are all private has private
   * programs too. A folder with one of these names in it contains programs.
   */
  readonly programFolders?: ReadonlySet<string>;
  /** Paths of folders that are treated like private ones. */
  readonly unneeded?: RegExp;
  /** Paths of folders that package managers fill, with too many files to look at each: only their own entries are. */
  readonly libraries?: RegExp;
  /** For large folders: how long to reuse the result for a folder that has not changed itself. */
  readonly trustMs?: number;
}

/** Source code is not secret: packages have modules named `credentials`. */
export const SECRET_NAMES =
  /^\.(env|npmrc|netrc|pypirc|git-credentials|pgpass|htpasswd|my\.cnf|dockercfg)($|\.)|^credentials($|\.(?!(?:.*\.)?(?:[cm]?[jt]sx?|map|py[cdio]?|rb|go|rs|java|class|php|h|so)$))|^secrets?\.(ya?ml|json|toml|ini|txt|env)$|^service[-_]account.*\.json$|^id_(rsa|dsa|ed25519|ecdsa)(_sk)?$|\.(key|tfvars|p12|pfx|jks|ppk|kdbx)$/;

export function createPrivateFiles(options: PrivateFilesOptions): PrivateFiles {
  const known = new Map<string, Listing>();
  const wallClock = options.wallClock ?? Date.now;

  const look = (folder: string, stat: Stats): Listing => {
    const entries = listFolder(folder);
    const listing: Listing = {
      ...identityOf(stat),
      lookedAt: options.now(),
      size: entries.length,
      files: [],
      folders: [],
      open: [],
      empty: [],
    };
    for (const entry of entries) {
      if (!entry.isFile() && !entry.isDirectory()) continue;
      // Not `join`, which takes longer than the rest of the loop.
      const path = `${folder}/${entry.name}`;
      const isFolder = entry.isDirectory();
      if (!isPrivate(path, entry.name, isFolder, options)) {
        if (isFolder) listing.open.push(path);
      } else if (isEmpty(path, isFolder)) listing.empty.push({ path, isFolder });
      else (isFolder ? listing.folders : listing.files).push(path);
    }
    // A change within the same clock tick leaves no trace, so a folder that has just changed is listed again.
    if (known.size >= MOST_KNOWN) known.clear();
    if (wallClock() - stat.ctimeMs > TICK_MS) known.set(folder, listing);
    else known.delete(folder);
    return listing;
  };

  /** Level by level, so that an unfinished search knows the upper levels. Yields the cost of each step. */
  function* search(top: string, relookMs: number, into: Mutable): Generator<number> {
    for (let level = [top], next: string[] = []; level.length > 0; [level, next] = [next, []]) {
      for (const folder of level) {
        const stat = statOf(folder);
        if (stat?.isDirectory() !== true) continue;
        const old = known.get(folder);
        const isFresh = old !== undefined && isSame(old, stat) && options.now() - old.lookedAt < relookMs;
        const listing = isFresh ? old : look(folder, stat);
        // Not spread: a folder may have more entries than a function may have arguments.
        for (const path of listing.files) into.files.push(path);
        for (const path of listing.folders) into.folders.push(path);
        // An entry that was empty may have been filled without a trace in its folder.
        for (const { path, isFolder } of listing.empty)
          if (!isEmpty(path, isFolder)) (isFolder ? into.folders : into.files).push(path);
        if (options.libraries?.test(folder) !== true) for (const path of listing.open) next.push(path);
        yield isFresh ? 1 : 1 + listing.size;
      }
    }
  }

  const searches = new Map<string, Search>();

  const begin = (folder: string, changedAt: number, last: Search | undefined): Search => {
    const found: Mutable = { files: [], folders: [] };
    const relookMs = Math.max(LONGEST_TRUST_MS, (last?.longestMs ?? 0) * SHARE);
    return {
      // A change within the same clock tick leaves no trace, so that a folder that has just changed is searched again.
      changedAt: wallClock() - changedAt > TICK_MS ? changedAt : Number.NaN,
      at: options.now(),
      steps: search(folder, relookMs, found),
      found,
      complete: last?.complete,
      busyMs: 0,
      longestMs: last?.longestMs ?? 0,
    };
  };
  /** Whether the search has ended. */
  const advance = (current: Search, cost: number, limitMs: number): boolean => {
    const began = performance.now();
    let spent = 0;
    let isOver = false;
    while (!isOver && spent < cost && performance.now() - began < limitMs) {
      const step = current.steps.next();
      isOver = step.done === true;
      if (step.done !== true) spent += step.value;
    }
    current.busyMs += performance.now() - began;
    current.longestMs = Math.max(current.longestMs, current.busyMs);
    if (isOver) current.complete = current.found;
    return isOver;
  };
  const continueLater = (current: Search): void => {
    inRealTime(() => {
      if (current.complete !== current.found && !advance(current, Infinity, SLICE_MS)) continueLater(current);
    }, SLICE_MS * SHARE).unref();
  };

  const currentSearch = (folder: string): Search => {
    const changedAt = statOf(folder)?.ctimeMs ?? 0;
    const last = searches.get(folder);
    const isRunning = last !== undefined && last.complete !== last.found;
    const trustMs =
      options.trustMs === undefined ? 0 : Math.max(options.trustMs, (last?.busyMs ?? 0) * SHARE);
    if (last?.changedAt === changedAt && (isRunning || options.now() - last.at < trustMs)) return last;
    const current = begin(folder, changedAt, last);
    if (!advance(current, COST_AT_ONCE, Infinity)) continueLater(current);
    if (searches.size >= MOST_KNOWN) searches.clear();
    searches.set(folder, current);
    return current;
  };

  return {
    find(folder) {
      const { found, complete = found } = currentSearch(folder);
      if (complete === found) return found;
      return {
        files: present(found.files, complete.files),
        folders: present(found.folders, complete.folders),
      };
    },
    async complete(folder) {
      for (;;) {
        const current = currentSearch(folder);
        if (current.complete !== undefined || advance(current, Infinity, SLICE_MS)) return;
        await new Promise<void>((done) => void inNextTurn(done));
      }
    },
  };
}

interface Mutable {
  readonly files: string[];
  readonly folders: string[];
}

interface Search {
  readonly changedAt: number;
  readonly at: number;
  readonly steps: Iterator<number>;
  readonly found: Mutable;
  /** The result of the last search that ended: this one's own when it has ended. */
  complete: Mutable | undefined;
  busyMs: number;
  /** How long a search took in which every folder was listed. */
  longestMs: number;
}

interface Listing {
  readonly inode: number;
  readonly device: number;
  readonly changedAt: number;
  readonly lookedAt: number;
  readonly size: number;
  readonly files: string[];
  readonly folders: string[];
  /** Folders to search next. */
  readonly open: string[];
  /** Private and empty. They are not masked, because a mask costs time with every command. */
  readonly empty: { readonly path: string; readonly isFolder: boolean }[];
}

/** No supported file system has coarser timestamps. */
export const TICK_MS = 50;
/** A changed file mode leaves no trace in its folder, so everything is checked again after this time. */
const LONGEST_TRUST_MS = 2_000;
/** A search gets at most one part in this many of the time. */
const SHARE = 20;
/** In entries that are read: a few milliseconds. */
const COST_AT_ONCE = 1_000;
const SLICE_MS = 5;
const MOST_KNOWN = 200_000;
/** Saved at load time: files are searched in real time, even when a test uses fake timers. */
const inRealTime = setTimeout;
const inNextTurn = setImmediate;

/** Adds what an earlier search found, if it still exists: a mask for a missing file stops the sandbox. */
function present(found: readonly string[], earlier: readonly string[]): string[] {
  const all = new Set(found);
  for (const path of earlier) if (!all.has(path) && statOf(path) !== undefined) all.add(path);
  return [...all];
}

const identityOf = (stat: Stats) => ({ inode: stat.ino, device: stat.dev, changedAt: stat.ctimeMs });

function isSame(old: Listing, stat: Stats): boolean {
  return old.inode === stat.ino && old.device === stat.dev && old.changedAt === stat.ctimeMs;
}

function isPrivate(path: string, name: string, isFolder: boolean, options: PrivateFilesOptions): boolean {
  const stat = statOf(path);
  if (stat === undefined) return false;
  const isForOthers = (stat.mode & (isFolder ? 0o005 : 0o004)) !== 0;
  const isNamedPrivate = isFolder ? options.unneeded?.test(path) : options.secretNames?.test(name);
  if (isNamedPrivate !== true && (isForOthers || hasPrograms(path, stat, options.programFolders)))
    return false;
  return isReadable(path);
}

/** Whether it is a program, or a folder directly above programs. */
function hasPrograms(path: string, stat: Stats, folders: ReadonlySet<string> | undefined): boolean {
  if (folders === undefined) return false;
  if (!stat.isDirectory()) return (stat.mode & 0o111) !== 0;
  return listFolder(path).some((entry) => {
    if (entry.isDirectory()) return folders.has(entry.name);
    return entry.isFile() && ((statOf(`${path}/${entry.name}`)?.mode ?? 0) & 0o111) !== 0;
  });
}

function isEmpty(path: string, isFolder: boolean): boolean {
  return isFolder ? listFolder(path).length === 0 : (statOf(path)?.size ?? 0) === 0;
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // In a folder that neither we nor the command may enter, although we may list it.
  }
}

function listFolder(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // Not readable for us, so not for the command either.
  }
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false; // The kernel denies it to the command as well.
  }
}
