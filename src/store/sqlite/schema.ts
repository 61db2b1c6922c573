/** Opens a SQLite file, checks it, and migrates it to the schema of this version. */
import { closeSync, openSync } from "node:fs";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { ToolwrightError } from "../../errors.ts";
import { META_TABLE, migrationsAfter, newSecret, readMigrations, readSchema } from "../migrate.ts";
import { asOpenError } from "./errors.ts";

const BUSY_TIMEOUT_MS = 15;
/** Each commit writes whole pages to the log, and most rows are shorter than a kilobyte. It applies to new files only. */
const PAGE_BYTES = 2_048;
/** The log is written back to the file when it has this size. */
const LOG_BYTES = 2 ** 24;

export function openDatabase(path: string): DatabaseSync {
  if (path !== ":memory:") prepareFile(path);
  try {
    return new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  } catch (error) {
    throw asOpenError(error, path);
  }
}

/** Reports a bad path with a clearer message than SQLite; a new file is readable only by its owner. */
function prepareFile(path: string): void {
  try {
    // The file contains inputs and outputs of tools, and the key of the redactions.
    closeSync(openSync(path, "a", 0o600));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const [problem, hint] = FILE_PROBLEMS[code] ?? [`cannot be opened (${code})`, "Use another path."];
    throw new ToolwrightError("TOOL_STORE_FAILED", `The store ${path} ${problem}.`, { hint, cause: error });
  }
}

const FILE_PROBLEMS: Readonly<Record<string, readonly [string, string]>> = {
  ENOENT: ["is in a folder that does not exist", "Create the folder, or use another path."],
  EISDIR: ["is a folder, not a file", "Name a file in it."],
  EACCES: ["is not writable for this user", "Change its permissions, or use another path."],
  EROFS: ["is on a read-only file system", "Use another path."],
  ENOTDIR: ["is below something that is not a folder", "Use another path."],
  ENOSPC: ["does not fit on the disk", "Free some space."],
};

export function prepareSchema(database: DatabaseSync, path: string): string {
  // Reads first, so that a foreign or newer file is refused before the first write.
  const tables = database.prepare("SELECT name FROM sqlite_master WHERE name = 'toolwright_meta'").all();
  const current = tables.length === 0 ? 0 : Number(readMeta(database, "version") ?? 0);
  const missing = migrationsAfter(current, readMigrations("sqlite"));
  if (current === 0) database.exec(`PRAGMA page_size=${PAGE_BYTES}`);
  if (path !== ":memory:") database.exec("PRAGMA journal_mode=WAL");
  database.exec("PRAGMA synchronous=NORMAL");
  // A checkpoint waits for the disk twice, so it should be rare.
  database.exec(`PRAGMA wal_autocheckpoint=${LOG_BYTES / readPageBytes(database)}`);
  // Deleted data must not stay in the free pages of the file.
  database.exec("PRAGMA secure_delete=ON");
  if (missing.length > 0) applyMigrations(database);
  return String(readMeta(database, "secret"));
}

function readPageBytes(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA page_size").get()?.["page_size"]);
}

function applyMigrations(database: DatabaseSync): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    database.exec(META_TABLE);
    // Another process may have migrated while this one waited for the lock.
    const current = Number(readMeta(database, "version") ?? 0);
    const missing = migrationsAfter(current, readMigrations("sqlite"));
    // A new file takes the schema in one step: to apply all migrations takes ten times as long.
    for (const sql of current === 0 ? [readSchema()] : missing.map((migration) => migration.sql))
      database.exec(sql);
    const latest = missing.at(-1)?.version ?? current;
    writeMeta(database, "version", String(latest));
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

/** Before 22.16 Node does not report whether a transaction is open; a rollback without one may then fail. */
export function rollBack(database: { readonly isTransaction?: boolean; exec(sql: string): void }): void {
  const { isTransaction } = database;
  if (isTransaction === false) return;
  try {
    database.exec("ROLLBACK");
  } catch (error) {
    if (isTransaction !== undefined) throw error;
  }
}
