/**
 * The SQLite store, on `node:sqlite`. Transactions that are asked for in the same tick share one commit. A database
 * that another process has locked is waited for without blocking: blocking would starve the heartbeat.
 */
import { closeSync, openSync } from "node:fs";
import { DatabaseSync, type SQLOutputValue, type StatementSync } from "node:sqlite";
import { ToolwrightError } from "../errors.ts";
import { META_TABLE, migrationsAfter, newSecret, readMigrations } from "./migrate.ts";
import type { Row, Statement, StatementResult } from "./statement.ts";
import type { CommitLevel, Store, Transaction } from "./store.ts";

const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
const BUSY_TIMEOUT_MS = 15;
const BUSY_RETRY_MS = 10;
const BUSY_GIVE_UP_MS = 30_000;

interface Job {
  readonly level: CommitLevel;
  /** Runs the work inside the open transaction and keeps its result. */
  run(): void;
  commit(): void;
  fail(error: unknown): void;
}

/** @param path a file, or `":memory:"` */
export async function openSqliteStore(path: string): Promise<Store> {
  const database = open(path);
  try {
    const secret = await whenFree(() => prepareSchema(database, path));
    return new SqliteStore(database, path, secret);
  } catch (error) {
    database.close();
    throw asOpenError(error, path);
  }
}

class SqliteStore implements Store {
  readonly dialect = "sqlite";
  readonly secret: string;
  readonly #database: DatabaseSync;
  readonly #bindsNumbers: boolean;
  readonly path: string;
  readonly #statements = new Map<string, StatementSync>();
  #jobs: Job[] = [];
  #draining: Promise<void> | undefined;
  #level: CommitLevel = "normal";
  #closed = false;

  constructor(database: DatabaseSync, path: string, secret: string) {
    this.#database = database;
    this.#bindsNumbers = bindsNumbers(database);
    this.path = path;
    this.secret = secret;
  }

  transaction<T>(work: () => Transaction<T>, level: CommitLevel): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let result: T;
      this.#jobs.push({
        level,
        run: () => {
          result = this.#perform(work());
        },
        commit: () => resolve(result),
        fail: reject,
      });
      // After all pending microtasks: calls that were made side by side reach this point together.
      if (this.#draining === undefined && this.#jobs.length === 1) process.nextTick(() => this.#startDrain());
    });
  }

  async read<T>(work: () => Transaction<T>): Promise<T> {
    for (const deadline = Date.now() + BUSY_GIVE_UP_MS; ;) {
      try {
        return this.#perform(work());
      } catch (error) {
        if (!isBusy(error) || Date.now() > deadline) throw this.#asStoreError(error);
        await pause();
      }
    }
  }

  async close(): Promise<void> {
    if (this.#jobs.length > 0) this.#startDrain();
    await this.#draining;
    if (this.#closed) return;
    this.#closed = true;
    this.#statements.clear();
    this.#database.close();
  }

  #startDrain(): void {
    if (this.#draining !== undefined || this.#jobs.length === 0) return;
    const jobs = this.#jobs;
    this.#jobs = [];
    // The usual case ends at once, without a promise of its own.
    if (this.#tryGroup(jobs)) return;
    this.#draining = this.#drain(jobs).finally(() => {
      this.#draining = undefined;
      this.#startDrain();
    });
  }

  /** The slow way: the group one by one, waiting while the database is locked. */
  async #drain(jobs: readonly Job[]): Promise<void> {
    for (const job of jobs) {
      for (const deadline = Date.now() + BUSY_GIVE_UP_MS; ;) {
        try {
          this.#commitTogether([job]);
          break;
        } catch (error) {
          if (!isBusy(error) || Date.now() > deadline) {
            job.fail(this.#asStoreError(error));
            break;
          }
          await pause();
        }
      }
    }
  }

  #tryGroup(jobs: readonly Job[]): boolean {
    try {
      this.#commitTogether(jobs);
      return true;
    } catch (error) {
      const only = jobs.length === 1 ? jobs[0] : undefined;
      if (only === undefined || isBusy(error)) return false;
      only.fail(this.#asStoreError(error));
      return true;
    }
  }

  #commitTogether(jobs: readonly Job[]): void {
    this.#setLevel(jobs.some((job) => job.level === "full") ? "full" : "normal");
    this.#statement("BEGIN IMMEDIATE").run();
    try {
      for (const job of jobs) job.run();
      this.#statement("COMMIT").run();
    } catch (error) {
      rollBack(this.#database);
      throw error;
    }
    for (const job of jobs) job.commit();
  }

  #setLevel(level: CommitLevel): void {
    if (this.#level === level) return;
    this.#statement(`PRAGMA synchronous=${level === "full" ? "FULL" : "NORMAL"}`).run();
    this.#level = level;
  }

  #perform<T>(transaction: Transaction<T>): T {
    let step = transaction.next();
    while (step.done !== true) step = transaction.next(this.#execute(step.value));
    return step.value;
  }

  #execute({ kind, sql, parameters }: Statement): StatementResult {
    const statement = this.#statement(sql);
    if (!this.#bindsNumbers) {
      const named = Object.fromEntries(parameters.map((value, index) => [`?${index + 1}`, value]));
      if (kind === "query") return { rows: asRows(statement.all(named)), changes: 0 };
      return { rows: [], changes: Number(statement.run(named).changes) };
    }
    if (kind === "query") return { rows: asRows(statement.all(...parameters)), changes: 0 };
    return { rows: [], changes: Number(statement.run(...parameters).changes) };
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(toSqlite(sql));
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #asStoreError(error: unknown): unknown {
    if (!isSqliteError(error)) return error;
    return new ToolwrightError("TOOL_STORE_FAILED", `The store ${this.path} failed: ${error.message}.`, {
      cause: error,
    });
  }
}

function open(path: string): DatabaseSync {
  if (path !== ":memory:") prepareFile(path);
  try {
    const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    return database;
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

function prepareSchema(database: DatabaseSync, path: string): string {
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

/** Node 22 takes `?1` for a name, which only an object can give a value to. */
function bindsNumbers(database: DatabaseSync): boolean {
  try {
    database.prepare("SELECT ?1").get(1);
    return true;
  } catch {
    return false;
  }
}

/** Before 22.16 Node does not say whether a transaction is open; then the rollback of none is let fail. */
function rollBack(database: { readonly isTransaction?: boolean; exec(sql: string): void }): void {
  const { isTransaction } = database;
  if (isTransaction === false) return;
  try {
    database.exec("ROLLBACK");
  } catch (error) {
    if (isTransaction !== undefined) throw error;
  }
}

function toSqlite(sql: string): string {
  return sql.replaceAll("{now}", NOW).replaceAll(/\{share\}|\{update\}/g, "");
}

/** No column is a blob, and no number is read as a bigint. */
function asRows(rows: unknown): readonly Row[] {
  return rows as readonly Row[];
}

async function whenFree<T>(action: () => T): Promise<T> {
  for (const deadline = Date.now() + BUSY_GIVE_UP_MS; ;) {
    try {
      return action();
    } catch (error) {
      if (!isBusy(error) || Date.now() > deadline) throw error;
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

function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number";
}

// The low byte is the primary code: 5 is SQLITE_BUSY, 6 SQLITE_LOCKED.
function isBusy(error: unknown): boolean {
  return isSqliteError(error) && ((error.errcode & 0xff) === 5 || (error.errcode & 0xff) === 6);
}

function asOpenError(error: unknown, path: string): unknown {
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
  return new ToolwrightError("TOOL_STORE_FAILED", `The store ${path} cannot be opened: ${error.message}.`, {
    cause: error,
  });
}
