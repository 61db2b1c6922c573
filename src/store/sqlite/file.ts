/**
 * Whether the path of an open store still leads to the file that was opened. SQLite keeps writing to a file that was
 * deleted or replaced; the next process would find none of it and repeat every effect.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { ToolwrightError } from "../../errors.ts";
import type { CommitLevel } from "../store.ts";

export class StoreFile {
  readonly #path: string;
  readonly #identity: string;
  #lookedAtMs = Number.NEGATIVE_INFINITY;

  /** Call it when the file was just opened. The path holds when the working directory changes. */
  constructor(path: string) {
    this.#path = resolve(path);
    this.#identity = identityOf(this.#path);
  }

  /**
   * Always looks before a full commit, which is the intent of an effect that must not happen twice. Other commits look
   * every few milliseconds: a look costs a tenth of a commit. @throws TOOL_STORE_FAILED
   */
  assertInPlace(level: CommitLevel): void {
    const now = performance.now();
    if (level === "normal" && now - this.#lookedAtMs < LOOK_EVERY_MS) return;
    if (identityOf(this.#path) === this.#identity) {
      this.#lookedAtMs = now;
      return;
    }
    throw new ToolwrightError(
      "TOOL_STORE_FAILED",
      `The store ${this.#path} failed: the file was deleted or replaced while open.`,
      {
        hint: "Nothing more is recorded, so nothing more is run. Put the file back, or stop every process that uses it and check what happened before you start again.",
      },
    );
  }
}

const LOOK_EVERY_MS = 5;

function identityOf(path: string): string {
  try {
    const { dev, ino } = statSync(path);
    return `${dev} ${ino}`;
  } catch {
    return "gone";
  }
}
