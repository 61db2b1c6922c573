/**
 * Checks that the path of an open store still leads to the opened file. SQLite keeps writing to a deleted or replaced file;
 * the next process would find none of those rows and repeat every effect.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { ToolwrightError } from "../../errors.ts";
import type { CommitLevel } from "../store.ts";

const LOOK_EVERY_MS = 5;
const GONE = "gone";

export class StoreFile {
  readonly #path: string;
  readonly #identity: string;
  /** SQLite creates its log at the first transaction, and keeps it while any connection is open. */
  #logIdentity = GONE;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  /** The number of full commits that no later commit has checked after. */
  #owedLooks = 0;

  /** Call it right after opening the file. The path is absolute, so a change of the working directory does not matter. */
  constructor(path: string) {
    this.#path = resolve(path);
    this.#identity = identityOf(this.#path);
  }

  /**
   * Checks before every full commit, which is the intent of an effect that must not happen twice, and before the commit that
   * follows it, which is most likely its outcome. Other commits check every few milliseconds: a check costs a tenth of a
   * commit. @throws TOOL_STORE_FAILED
   */
  assertInPlace(level: CommitLevel): void {
    const now = performance.now();
    if (level === "normal" && this.#owedLooks === 0 && now - this.#lookedAtMs < LOOK_EVERY_MS) return;
    if (identityOf(this.#path) !== this.#identity) throw missing(this.#path, "Put the file back, or stop");
    this.#assertLogInPlace();
    this.#lookedAtMs = now;
    this.#owedLooks = level === "full" ? this.#owedLooks + 1 : Math.max(0, this.#owedLooks - 1);
  }

  #assertLogInPlace(): void {
    const log = `${this.#path}-wal`;
    const identity = identityOf(log);
    if (this.#logIdentity === GONE) this.#logIdentity = identity;
    else if (identity !== this.#logIdentity) throw missing(log, "Stop");
  }
}

function missing(path: string, way: string): ToolwrightError {
  return new ToolwrightError(
    "TOOL_STORE_FAILED",
    `The store ${path} failed: the file was deleted or replaced while open.`,
    {
      hint: `Nothing more is recorded, so nothing more is run. ${way} every process that uses it and check what happened before you start again.`,
    },
  );
}

function identityOf(path: string): string {
  try {
    const file = statSync(path, { throwIfNoEntry: false });
    return file === undefined ? GONE : `${file.dev} ${file.ino}`;
  } catch {
    return GONE;
  }
}
