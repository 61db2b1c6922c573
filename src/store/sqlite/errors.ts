/** Classifies SQLite errors: the database is locked, the file is foreign, or it is damaged. */
import { ToolwrightError } from "../../errors.ts";

const BUSY_RETRY_MS = 10;
const BUSY_GIVE_UP_MS = 30_000;

/** Retries while another process locks the database, without blocking this one. */
export async function whenFree<T>(action: () => T): Promise<T> {
  for (const deadline = performance.now() + BUSY_GIVE_UP_MS; ;) {
    try {
      return action();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      await pause();
    }
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, BUSY_RETRY_MS + Math.random() * BUSY_RETRY_MS));
}

interface SqliteError extends Error {
  readonly errcode: number;
}

export function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number";
}

// The low byte is the primary code: 5 is SQLITE_BUSY, 6 SQLITE_LOCKED.
export function isBusy(error: unknown): boolean {
  return isSqliteError(error) && ((error.errcode & 0xff) === 5 || (error.errcode & 0xff) === 6);
}

/** By primary code: 8 is SQLITE_READONLY, 10 SQLITE_IOERR, 11 SQLITE_CORRUPT, 13 SQLITE_FULL. */
const HINTS: Readonly<Record<number, string>> = {
  5: "Another process has held the store's lock for more than 30 s. Find and stop that process, then try again.",
  8: "The file cannot be written. Fix its permissions or its file system, then resume: no recorded data is lost.",
  10: "The disk failed. Check it, then resume: no recorded data is lost.",
  11: "The file is damaged. Restore it from a backup.",
  13: "Free some disk space, then resume: no recorded data is lost.",
};

export function asSqliteStoreError(error: unknown, path: string): unknown {
  if (!isSqliteError(error)) return error;
  const hint = HINTS[error.errcode & 0xff];
  return new ToolwrightError("TOOL_STORE_FAILED", `The store ${path} failed: ${error.message}.`, {
    ...(hint === undefined ? {} : { hint }),
    cause: error,
  });
}

export function asOpenError(error: unknown, path: string): unknown {
  if (!isSqliteError(error)) return error;
  const code = error.errcode & 0xff;
  // 11 is SQLITE_CORRUPT, 26 SQLITE_NOTADB.
  if (code === 11 || code === 26) {
    return new ToolwrightError(
      "TOOL_STORE_DAMAGED",
      `${path} is damaged or is not a SQLite database (${error.message}). Nothing in it was changed.`,
      { cause: error },
    );
  }
  // 8 is SQLITE_READONLY, 14 SQLITE_CANTOPEN. The file itself can be written: that was checked before.
  if (code === 8 || code === 14) {
    return new ToolwrightError(
      "TOOL_STORE_FAILED",
      `The store ${path} cannot be opened: this user cannot create files in its folder, and SQLite keeps files next to it.`,
      { hint: "Allow this user to write to the folder, or use a store in another folder.", cause: error },
    );
  }
  return new ToolwrightError("TOOL_STORE_FAILED", `The store ${path} cannot be opened: ${error.message}.`, {
    cause: error,
  });
}
