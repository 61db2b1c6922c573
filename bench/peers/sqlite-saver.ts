/**
 * LangGraph's `SqliteSaver`. It needs the native module of better-sqlite3. Where that cannot be built or downloaded,
 * the saver gets Node's own SQLite behind the four methods that it calls.
 */
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { createRequire } from "node:module";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";

type Database = ConstructorParameters<typeof SqliteSaver>[0];

export function openSaver(folder: string): SqliteSaver {
  const path = join(folder, "langgraph.db");
  return hasNativeModule() ? SqliteSaver.fromConnString(path) : new SqliteSaver(openNodeDatabase(path));
}

export function hasNativeModule(): boolean {
  try {
    const open = createRequire(import.meta.url)("better-sqlite3") as new (path: string) => { close(): void };
    new open(":memory:").close();
    return true;
  } catch {
    return false;
  }
}

function openNodeDatabase(path: string): Database {
  const database = new DatabaseSync(path);
  // What better-sqlite3 is compiled with.
  database.exec("PRAGMA synchronous=NORMAL");
  const adapted = {
    exec: (sql: string) => database.exec(sql),
    prepare: (sql: string) => {
      const statement = database.prepare(sql);
      // Node refuses `undefined`.
      const bound = (values: readonly unknown[]) => values.map((value) => (value ?? null) as SQLInputValue);
      return {
        run: (...values: unknown[]) => statement.run(...bound(values)),
        get: (...values: unknown[]) => statement.get(...bound(values)),
        all: (...values: unknown[]) => statement.all(...bound(values)),
      };
    },
    pragma: (text: string) => database.exec(`PRAGMA ${text}`),
    transaction:
      <T>(work: (rows: T) => void) =>
      (rows: T) => {
        database.exec("BEGIN");
        try {
          work(rows);
          database.exec("COMMIT");
        } catch (error) {
          database.exec("ROLLBACK");
          throw error;
        }
      },
  };
  return adapted as unknown as Database;
}
