/** Prepares a SQLite file: it is opened, looked at, and brought to the schema of this version. */
import { closeSync, openSync } from "node:fs";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { ToolwrightError } from "../../errors.ts";
import { META_TABLE, migrationsAfter, newSecret, readMigrations } from "../migrate.ts";
import { asOpenError } from "./errors.ts";

const BUSY_TIMEOUT_MS = 15;

export function openDatabase(path: string): DatabaseSync {
  if (path !== ":memory:") prepareFile(path);
  try {
    return new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  } catch (error) {
    throw asOpenError(error, path);
  }
}

/** Says what is wrong with a path better than the database would; a new file is for its owner only. */
function prepareFile(path: string): void {
  try {
    // It holds what tools were given and returned, and the key of the redactions.
    closeSync(openSync(path, "a", 0o600));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const [problem, hint] = FILE_PROBLEMS[code] ?? [`cannot be opened (${code})`, "Use another path."];
    throw new ToolwrightError("TOOL_STORE_FAILED", `The store ${path} ${problem}.`, { hint, cause: error });
  }
}

const FILE_PROBLEMS: Readonly<Record<string, readonly [string, string]>> = {
  ENOENT: ["lies in a folder that does not exist", "Make the folder, or use another path."],
  EISDIR: ["is a folder, not a file", "Name a file in it."],
  EACCES: ["may not be written by this user", "Change its permissions, or use another path."],
  EROFS: ["lies on a read-only file system", "Use another path."],
  ENOTDIR: ["lies below something that is not a folder", "Use another path."],
  ENOSPC: ["does not fit on the disk", "Free some space."],
};

export function prepareSchema(database: DatabaseSync, path: string): string {
  // Reading first, so that a file of another kind or of a newer version is refused before anything is written.
  const tables = database.prepare("SELECT name FROM sqlite_master WHERE name = 'toolwright_meta'").all();
  const current = tables.length === 0 ? 0 : Number(readMeta(database, "version") ?? 0);
  const missing = migrationsAfter(current, readMigrations("sqlite"));
  if (path !== ":memory:") database.exec("PRAGMA journal_mode=WAL");
  database.exec("PRAGMA synchronous=NORMAL");
  // What is deleted is what must not be kept: it is not left in the file's free pages either.
  database.exec("PRAGMA secure_delete=ON");
  if (missing.length > 0) applyMigrations(database);
  return String(readMeta(database, "secret"));
}

function applyMigrations(database: DatabaseSync): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    database.exec(META_TABLE);
    // Another process may have migrated while this one waited for the lock.
    const current = Number(readMeta(database, "version") ?? 0);
    for (const migration of migrationsAfter(current, readMigrations("sqlite"))) {
      database.exec(migration.sql);
      writeMeta(database, "version", String(migration.version));
    }
    if (readMeta(database, "secret") === undefined) writeMeta(database, "secret", newSecret());
    database.exec("COMMIT");
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

function readMeta(database: DatabaseSync, name: string): SQLOutputValue | undefined {
  return database.prepare("SELECT value FROM toolwright_meta WHERE name = ?").get(name)?.["value"];
}

function writeMeta(database: DatabaseSync, name: string, value: string): void {
  database
    .prepare(
      "INSERT INTO toolwright_meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    )
    .run(name, value);
}

/** Before 22.16 Node does not say whether a transaction is open; then the rollback of none is let fail. */
export function rollBack(database: { readonly isTransaction?: boolean; exec(sql: string): void }): void {
  const { isTransaction } = database;
  if (isTransaction === false) return;
  try {
    database.exec("ROLLBACK");
  } catch (error) {
    if (isTransaction !== undefined) throw error;
  }
}
