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

const NO_ROWS: readonly Row[] = [];

interface Prepared {
  readonly statement: StatementSync;
  /** The order in which the statement takes its parameters, if it differs from the caller's. */
  readonly order: readonly number[] | undefined;
}

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
  readonly path: string;
  readonly #file: StoreFile | undefined;
  readonly #statements = new Map<string, Prepared>();
  #jobs: Job[] = [];
  #draining: Promise<void> | undefined;
  #level: CommitLevel = "normal";
  #closed = false;
  #commits = 0;
  /** One function for all transactions. */
  readonly #drainJobs = (): void => this.#startDrain();

  constructor(database: DatabaseSync, path: string, file: StoreFile | undefined, secret: string) {
    this.#database = database;
    this.path = path;
    this.#file = file;
    this.secret = secret;
  }

  transaction<T>(work: () => Transaction<T>, level: CommitLevel, isAlone = false): Promise<T> {
    return new Promise<T>((commit, fail) => {
      this.#jobs.push({ level, work, result: undefined, commit, fail });
      if (isAlone) this.#startDrain();
      // After all pending microtasks: concurrent calls reach this point together.
      else if (this.#draining === undefined && this.#jobs.length === 1) process.nextTick(this.#drainJobs);
    });
  }

  commitAtOnce<T>(work: () => Transaction<T>, level: CommitLevel): Promise<T> {
    return this.transaction(work, level, true);
  }

  async read<T>(work: () => Transaction<T>): Promise<T> {
    try {
      return await whenFree(() => this.#perform(work()));
    } catch (error) {
      throw this.#asStoreError(error);
    }
  }

  /** `data_version` counts only the commits of other connections. */
  async version(): Promise<string> {
    try {
      const row = await whenFree(() => this.#prepared("PRAGMA data_version").statement.get());
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
    const [first] = jobs;
    if (jobs.length === 1 && first !== undefined) this.#commitAlone(first);
    else
      this.#inTransaction(() => {
        for (const job of jobs) job.result = this.#perform(job.work());
      });
    this.#commits += 1;
    for (const job of jobs) job.commit(job.result as never);
  }

  #commitAlone(job: Job): void {
    let transaction = job.work();
    let step = transaction.next();
    if (step.done !== true && step.value.isLast === true) {
      const result = this.#execute(step.value);
      if (result.changes > 0) {
        step = transaction.next(result);
        if (step.done !== true) throw new Error("isLast is set on a statement that others follow");
        job.result = step.value;
        return;
      }
      // Nothing was written. The transaction starts again, so that it finds out why in one state of the database.
      transaction = job.work();
      step = transaction.next();
    }
    this.#inTransaction(() => {
      job.result = this.#perform(transaction, step);
    });
  }

  #inTransaction(work: () => void): void {
    this.#run("BEGIN IMMEDIATE");
    try {
      work();
      this.#run("COMMIT");
    } catch (error) {
      rollBack(this.#database);
      throw error;
    }
  }

  #setLevel(level: CommitLevel): void {
    if (this.#level === level) return;
    this.#run(level === "full" ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
    this.#level = level;
  }

  /** @param first its first statement, if it has been started */
  #perform<T>(transaction: Transaction<T>, first = transaction.next()): T {
    let step = first;
    while (step.done !== true) step = transaction.next(this.#execute(step.value));
    return step.value;
  }

  #execute({ kind, sql, parameters }: Statement): StatementResult {
    const { statement, order } = this.#prepared(sql);
    const values = order?.map((index) => parameters[index] ?? null) ?? parameters;
    if (kind === "query") return { rows: asRows(statement.all(...values)), changes: 0 };
    return { rows: NO_ROWS, changes: Number(statement.run(...values).changes) };
  }

  #run(sql: string): void {
    this.#prepared(sql).statement.run();
  }

  #prepared(sql: string): Prepared {
    let prepared = this.#statements.get(sql);
    if (prepared === undefined) {
      const { text, order } = toPositional(toSqlite(sql));
      prepared = { statement: this.#database.prepare(text), order };
      this.#statements.set(sql, prepared);
    }
    return prepared;
  }

  #asStoreError(error: unknown): unknown {
    return asSqliteStoreError(error, this.path);
  }
}

/**
 * Replaces `?1`, `?2` by `?`. Node looks up the name of each parameter for every run, and those with a number have one; Node 22
 * binds them only from an object.
 * @returns `order` has the index of the value for each `?`; `undefined` if that is the order of the values
 */
function toPositional(sql: string): { readonly text: string; readonly order: readonly number[] | undefined } {
  const order: number[] = [];
  const text = sql.replaceAll(/\?(\d+)/g, (_, number: string) => {
    order.push(Number(number) - 1);
    return "?";
  });
  return { text, order: order.every((index, place) => index === place) ? undefined : order };
}

export function toSqlite(sql: string): string {
  return sql
    .replaceAll("{now}", NOW)
    .replaceAll("{position}", POSITION)
    .replaceAll(/\{share\}|\{update\}|\{skip\}|\{bytes\}/g, "");
}

/** No column is a blob, and no number is read as a bigint. */
function asRows(rows: unknown): readonly Row[] {
  return rows as readonly Row[];
}
