/**
 * The SQLite store, on `node:sqlite`. Transactions of the same tick share one commit. The store waits for a locked database
 * without blocking: blocking would starve the heartbeat.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { asOpenError, asSqliteStoreError, isBusy, whenFree } from "./errors.ts";
import { StoreFile } from "./file.ts";
import { openDatabase, prepareSchema, rollBack } from "./schema.ts";
import type { Row, Statement, StatementResult } from "../statement.ts";
import type { CommitLevel, Store, Transaction } from "../store.ts";

const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
/** The single writer makes it unique. */
const POSITION = "(SELECT COALESCE(MAX(position), 0) + 1 FROM toolwright_runs WHERE position > 0)";

/** Work that waits for its commit. */
interface Job {
  readonly level: CommitLevel;
  readonly work: () => Transaction<unknown>;
  /** The result of the work, once it ran inside the open transaction. */
  result: unknown;
  readonly commit: (result: never) => void;
  readonly fail: (error: unknown) => void;
}

/** @param path a file, or `":memory:"` */
export async function openSqliteStore(path: string): Promise<Store> {
  const database = openDatabase(path);
  try {
    const file = path === ":memory:" ? undefined : new StoreFile(path);
    const secret = await whenFree(() => prepareSchema(database, path));
    return new SqliteStore(database, path, file, secret);
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
  readonly #file: StoreFile | undefined;
  readonly #statements = new Map<string, StatementSync>();
  #jobs: Job[] = [];
  #draining: Promise<void> | undefined;
  #level: CommitLevel = "normal";
  #closed = false;
  #commits = 0;
  /** One function for all transactions. */
  readonly #drainJobs = (): void => this.#startDrain();

  constructor(database: DatabaseSync, path: string, file: StoreFile | undefined, secret: string) {
    this.#database = database;
    this.#bindsNumbers = bindsNumbers(database);
    this.path = path;
    this.#file = file;
    this.secret = secret;
  }

  transaction<T>(work: () => Transaction<T>, level: CommitLevel): Promise<T> {
    return new Promise<T>((commit, fail) => {
      this.#jobs.push({ level, work, result: undefined, commit, fail });
      // After all pending microtasks: concurrent calls reach this point together.
      if (this.#draining === undefined && this.#jobs.length === 1) process.nextTick(this.#drainJobs);
    });
  }

  commitAtOnce<T>(work: () => Transaction<T>, level: CommitLevel): Promise<T> {
    const committing = this.transaction(work, level);
    this.#startDrain();
    return committing;
  }

  async read<T>(work: () => Transaction<T>): Promise<T> {
    try {
      return await whenFree(() => this.#perform(work()));
    } catch (error) {
      throw this.#asStoreError(error);
    }
  }

  /** `data_version` counts the commits of other connections only. */
  async version(): Promise<string> {
    try {
      const row = await whenFree(() => this.#statement("PRAGMA data_version").get());
      return `${String(row?.["data_version"])}.${this.#commits}`;
    } catch (error) {
      throw this.#asStoreError(error);
    }
  }

  assertInPlace(): void {
    this.#file?.look();
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
    // The usual case commits synchronously, without a promise.
    if (this.#tryGroup(jobs)) return;
    this.#draining = this.#drain(jobs).finally(() => {
      this.#draining = undefined;
      this.#startDrain();
    });
  }

  /** The slow path: commits one by one, and waits while the database is locked. */
  async #drain(jobs: readonly Job[]): Promise<void> {
    for (const job of jobs) {
      try {
        await whenFree(() => this.#commitTogether([job]));
      } catch (error) {
        job.fail(this.#asStoreError(error));
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
    const level = jobs.some((job) => job.level === "full") ? "full" : "normal";
    this.#file?.assertInPlace(level);
    this.#setLevel(level);
    this.#statement("BEGIN IMMEDIATE").run();
    try {
      for (const job of jobs) job.result = this.#perform(job.work());
      this.#statement("COMMIT").run();
    } catch (error) {
      rollBack(this.#database);
      throw error;
    }
    this.#commits += 1;
    for (const job of jobs) job.commit(job.result as never);
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
    return asSqliteStoreError(error, this.path);
  }
}

/** Node 22 treats `?1` as a named parameter, which only an object can bind. */
function bindsNumbers(database: DatabaseSync): boolean {
  try {
    database.prepare("SELECT ?1").get(1);
    return true;
  } catch {
    return false;
  }
}

function toSqlite(sql: string): string {
  return sql
    .replaceAll("{now}", NOW)
    .replaceAll("{position}", POSITION)
    .replaceAll(/\{share\}|\{update\}|\{skip\}/g, "");
}

/** No column is a blob, and no number is read as a bigint. */
function asRows(rows: unknown): readonly Row[] {
  return rows as readonly Row[];
}
