/**
 * Checks that the path of an open store still leads to the opened file. SQLite keeps writing to a deleted or replaced file;
 * the next process would find none of those rows and repeat every effect.
 *
 * A check reads the folder, and the files only if the folder has changed. Since Linux 6.13, a `stat` of a file makes the
 * kernel give the next write an exact time, which the next `fsync` must then store: half as long again for each commit.
 */
import { realpathSync, statSync, type Stats } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { ToolwrightError } from "../../errors.ts";
import type { CommitLevel } from "../store.ts";

const LOOK_EVERY_MS = 5;
/** Two changes of a folder this close together may leave the same time on it. */
const SAME_TIME_MS = 50;
/** The same for file systems that store whole seconds. */
const SAME_WHOLE_SECOND_MS = 2_500;
const GONE = "gone";

export class StoreFile {
  readonly #path: string;
  readonly #identity: string;
  readonly #logPath: string;
  /** SQLite creates its log at the first transaction, and keeps it while any connection is open. */
  #logIdentity = GONE;
  /** `undefined` if the path is a link: its folder does not show what happens to the file. */
  readonly #folder: string | undefined;
  /** The state of the folder when both files were last in place. */
  #checked: string | undefined;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  /** The number of full commits that no later commit has checked after. */
  #owedLooks = 0;

  /** Call it right after opening the file. The path is absolute, so a change of the working directory does not matter. */
  constructor(path: string) {
    this.#path = resolve(path);
    this.#identity = identityOf(this.#path);
    const folder = dirname(this.#path);
    const real = realPathOf(this.#path);
    this.#logPath = `${real}-wal`;
    this.#folder = real === join(realPathOf(folder), basename(this.#path)) ? folder : undefined;
  }

  /**
   * Checks before every full commit, which is the intent of an effect that must not happen twice, and before the commit that
   * follows it, which is most likely its outcome. Other commits check every few milliseconds. @throws TOOL_STORE_FAILED
   */
  assertInPlace(level: CommitLevel): void {
    const now = performance.now();
    if (level === "normal" && this.#owedLooks === 0 && now - this.#lookedAtMs < LOOK_EVERY_MS) return;
    this.look();
    this.#lookedAtMs = now;
    this.#owedLooks = level === "full" ? this.#owedLooks + 1 : Math.max(0, this.#owedLooks - 1);
  }

  /** The check itself. By a reader, it does not count as the check of a commit. @throws TOOL_STORE_FAILED */
  look(): void {
    const state = this.#folder === undefined ? undefined : stateOfFolder(this.#folder);
    if (state !== undefined && state === this.#checked) return;
    this.#checked = undefined;
    this.#assertFilesInPlace();
    // Without a log the check is not complete.
    if (this.#logIdentity !== GONE) this.#checked = state;
  }

  #assertFilesInPlace(): void {
    if (identityOf(this.#path) !== this.#identity) throw missing(this.#path, "Put the file back, or stop");
    const identity = identityOf(this.#logPath);
    if (this.#logIdentity === GONE) this.#logIdentity = identity;
    else if (identity !== this.#logIdentity) throw missing(this.#logPath, "Stop");
  }
}

/**
 * Changes with every file that is created, deleted or renamed in the folder. `undefined` if it might not show the next
 * one.
 */
function stateOfFolder(path: string): string | undefined {
  const folder = statsOf(path);
  if (folder === undefined) return undefined;
  const { dev, ino, mtimeMs } = folder;
  const sameTimeMs = mtimeMs % 1_000 === 0 ? SAME_WHOLE_SECOND_MS : SAME_TIME_MS;
  return Date.now() - mtimeMs > sameTimeMs ? `${dev} ${ino} ${mtimeMs}` : undefined;
}

function missing(path: string, way: string): ToolwrightError {
  return new ToolwrightError(
    "TOOL_STORE_FAILED",
    `The store ${path} failed: the file was deleted or replaced while open.`,
    {
      hint: `Nothing else is recorded, so nothing else runs. ${way} every process that uses it and check what happened before you start again.`,
    },
  );
}

function identityOf(path: string): string {
  const file = statsOf(path);
  return file === undefined ? GONE : `${file.dev} ${file.ino}`;
}

function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
