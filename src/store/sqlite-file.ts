/**
 * Whether the path of an open store still leads to the file that was opened. SQLite keeps writing to a file that was
 * deleted or replaced; the next process would find none of it and repeat every effect.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { ToolwrightError } from "../errors.ts";

export class StoreFile {
  readonly #path: string;
  readonly #identity: string;

  /** Call it when the file was just opened. The path holds when the working directory changes. */
  constructor(path: string) {
    this.#path = resolve(path);
    this.#identity = identityOf(this.#path);
  }

  /** About 2 µs. @throws TOOL_STORE_FAILED */
  assertInPlace(): void {
    if (identityOf(this.#path) === this.#identity) return;
    throw new ToolwrightError(
      "TOOL_STORE_FAILED",
      `The store ${this.#path} failed: the file was deleted or replaced while open.`,
      {
        hint: "Nothing more is recorded, so nothing more is run. Put the file back, or stop every process that uses it and check what happened before you start again.",
      },
    );
  }
}

function identityOf(path: string): string {
  try {
    const { dev, ino } = statSync(path);
    return `${dev} ${ino}`;
  } catch {
    return "gone";
  }
}
