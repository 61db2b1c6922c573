/**
 * The storage port. A store runs transactions in plain SQL that SQLite and PostgreSQL both understand (see statement.ts), so
 * that every rule of the journal is written once.
 *
 * A transaction is a generator that yields statements. It cannot await, by design: no lock is held while waiting for
 * anything but the database. It may run more than once (after a conflict, or alone after a group commit failed), so it must
 * have no effect but its statements.
 */
import type { Statement, StatementResult } from "./statement.ts";

export type Transaction<T> = Generator<Statement, T, StatementResult>;

/** `full` survives a power failure, `normal` a crash of the process. */
export type CommitLevel = "full" | "normal";

export interface Store {
  readonly dialect: "sqlite" | "postgres";
  /** The database file, for a store that has one. */
  readonly path?: string | undefined;
  /** The address of a PostgreSQL server, for connections besides the store's own: a worker listens on one. */
  readonly connectionString?: string | undefined;
  /** The key of the redaction hashes, generated once for each store. */
  readonly secret: string;
  /**
   * Commits all statements of `work`, or none. Rejects with the error of `work`, or with TOOL_STORE_FAILED.
   * @param isAlone no other transaction is about to follow, so the store need not wait for one that could share the commit
   */
  transaction<T>(work: () => Transaction<T>, level: CommitLevel, isAlone?: boolean): Promise<T>;
  /**
   * The same, committed before it returns if the store supports that and the database is not locked. For rows that must be
   * stored even if the program crashes in its next statement.
   */
  commitAtOnce?<T>(work: () => Transaction<T>, level: CommitLevel): Promise<T>;
  /** Reads committed rows. */
  read<T>(work: () => Transaction<T>): Promise<T>;
  /**
   * A text that differs after any commit, even of another process. Cheap enough to poll many times a second. It may also
   * differ when nothing of interest was committed. See `watchStore`.
   */
  version?(): Promise<string>;
  /**
   * The database ends a transaction that has been idle for this long: its process is suspended, and holds locks that a
   * successor needs.
   */
  limitIdle?(ms: number): void;
  /**
   * Throws if the database is no longer at its path. Reads of a deleted SQLite file succeed, with rows that no other
   * process sees. @throws TOOL_STORE_FAILED
   */
  assertInPlace?(): void;
  close(): Promise<void>;
}
