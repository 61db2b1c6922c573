/**
 * The port: where truth is kept. A store runs transactions; what a transaction says is plain SQL that SQLite and
 * PostgreSQL both understand (see statement.ts), so that every rule of the journal is written once.
 *
 * A transaction is a generator that yields statements. It cannot await anything, which is the point: no lock is
 * ever held while something else than the database is waited for. It may be run more than once (after a
 * conflict, or alone after a group commit failed), so it must have no effect but its statements.
 */
import type { Statement, StatementResult } from "./statement.ts";

export type Transaction<T> = Generator<Statement, T, StatementResult>;

/** `full` survives a loss of power, `normal` the death of the process. */
export type CommitLevel = "full" | "normal";

export interface Store {
  readonly dialect: "sqlite" | "postgres";
  /** The file that holds it, where there is one. */
  readonly path?: string | undefined;
  /** The key of the redaction hashes, made once per store. */
  readonly secret: string;
  /** Commits all that `work` says, or nothing of it. Rejects with what `work` threw, or with TOOL_STORE_FAILED. */
  transaction<T>(work: () => Transaction<T>, level: CommitLevel): Promise<T>;
  /**
   * The same, and it is committed before this returns where the store can do that and the database is free. For what must be
   * stored even if the program dies in its next statement.
   */
  commitAtOnce?<T>(work: () => Transaction<T>, level: CommitLevel): Promise<T>;
  /** Reads what is committed. */
  read<T>(work: () => Transaction<T>): Promise<T>;
  close(): Promise<void>;
}
