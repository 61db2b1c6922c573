/**
 * Sends several statements in one write and reads all results in one round trip, with one Sync at the end. The driver sends
 * one query at a time: it would write, and wait, for each. The server skips what follows a statement that fails.
 */
import type { ClientBase, Connection, Submittable } from "pg";
import type { Row, SqlValue, StatementResult } from "../statement.ts";

export interface BatchStatement {
  /** It is prepared under this name on its connection. `undefined`: it is prepared for this batch. */
  readonly name: string | undefined;
  readonly text: string;
  readonly parameters: readonly SqlValue[];
  /** Whether it returns rows that are of interest. */
  readonly hasRows: boolean;
}

/** Batches, and the statements that they have prepared on each connection. */
export class Batches {
  readonly #names = new WeakMap<ClientBase, Set<string>>();

  /** Resolves with one result for each statement. Rejects with the first error. */
  send(client: ClientBase, statements: readonly BatchStatement[]): Promise<readonly StatementResult[]> {
    let names = this.#names.get(client);
    if (names === undefined) this.#names.set(client, (names = new Set()));
    const prepared = names;
    return new Promise((resolve, reject) => {
      client.query(
        new Batch(statements, prepared, (error, results) => {
          if (error === null) resolve(results);
          else reject(error);
        }),
      );
    });
  }
}

interface Field {
  readonly name: string;
  readonly dataTypeID: number;
}

type Callback = (error: Error | null, results: readonly StatementResult[]) => void;

/** The driver calls the `handle` functions as answers arrive. */
class Batch implements Submittable {
  /** The driver wraps it if the address has a `query_timeout`. */
  callback: Callback;
  readonly #statements: readonly BatchStatement[];
  readonly #prepared: Set<string>;
  readonly #results: StatementResult[] = [];
  #fields: readonly Field[] = [];
  #rows: Row[] = [];

  constructor(statements: readonly BatchStatement[], prepared: Set<string>, callback: Callback) {
    this.#statements = statements;
    this.#prepared = prepared;
    this.callback = callback;
  }

  submit(connection: Connection): void {
    connection.stream.cork();
    try {
      this.#write(connection);
    } catch (error) {
      // A value that cannot be sent. The statements before it are rolled back.
      this.callback(error instanceof Error ? error : new Error(String(error)), []);
    } finally {
      // Without it the connection would wait forever.
      connection.sync();
      connection.stream.uncork();
    }
  }

  #write(connection: Connection): void {
    const parsed = new Set<string>();
    let unnamed: string | undefined;
    for (const { name = "", text, parameters, hasRows } of this.#statements) {
      if (name === "") {
        if (text !== unnamed) connection.parse({ name, text, types: [] }, true);
        unnamed = text;
      } else if (!this.#prepared.has(name) && !parsed.has(name)) {
        parsed.add(name);
        // After an error, it is unknown which statements were prepared. Closing a name that does not exist is not an error.
        connection.close({ type: "S", name }, true);
        connection.parse({ name, text, types: [] }, true);
      }
      connection.bind({ statement: name, values: parameters.map(toText) }, true);
      if (hasRows) connection.describe({ type: "P" }, true);
      connection.execute(null, true);
    }
  }

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    this.#fields = fields;
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, SqlValue> = {};
    for (const [index, { name, dataTypeID }] of this.#fields.entries()) {
      const value = fields[index] ?? null;
      row[name] = value !== null && NUMBERS.has(dataTypeID) ? Number(value) : value;
    }
    this.#rows.push(row);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const name = this.#statements[this.#results.length]?.name;
    if (name !== undefined) this.#prepared.add(name);
    // "INSERT 0 1", "UPDATE 1", "SELECT 1", "BEGIN".
    const changes = Number(text.slice(text.lastIndexOf(" ") + 1));
    this.#results.push({ rows: this.#rows, changes: Number.isNaN(changes) ? 0 : changes });
    this.#rows = [];
    this.#fields = [];
  }

  handleError(error: Error): void {
    this.callback(error, []);
  }

  handleReadyForQuery(): void {
    this.callback(null, this.#results);
  }

  /** The rest never happens: no statement is empty, copies, or reads its rows in parts. */
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}
}

// int8, int2, int4, float8 and numeric: a double holds all of our values exactly.
const NUMBERS = new Set([20, 21, 23, 701, 1700]);

function toText(value: SqlValue): string | null {
  return typeof value === "number" ? String(value) : value;
}
