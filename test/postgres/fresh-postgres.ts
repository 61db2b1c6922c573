/** New databases and schemas on a real PostgreSQL server, each for one test. */
import { Client } from "pg";
import { inject } from "vitest";

/** @returns its connection string. Rejects, and so fails the test, when no server can be started. */
export async function freshPostgres(): Promise<string> {
  const response = await fetch(inject("freshPostgresUrl"));
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

interface Shared {
  database?: Promise<string>;
  schemas: number;
  client?: Promise<Client>;
}

// Outlives the modules of a test file.
const SHARED = Symbol.for("toolwright.test.postgres");
const holder = globalThis as { [SHARED]?: Shared };
const shared = (holder[SHARED] ??= { schemas: 0 });

/** An empty schema in a database of this process: much faster than a new database. */
export async function freshPostgresSchema(): Promise<string> {
  const database = await (shared.database ??= freshPostgres());
  const schema = `test_${(shared.schemas += 1)}`;
  const client = await (shared.client ??= connected(database));
  await client.query(`CREATE SCHEMA ${schema}`);
  return `${database}?options=${encodeURIComponent(`-c search_path=${schema}`)}`;
}

const emptied: string[] = [];

/** A schema without rows that an earlier test may have used, for tests that change only rows. Faster still. */
export async function emptyPostgresSchema(): Promise<{ address: string } & AsyncDisposable> {
  const address = emptied.pop() ?? (await freshPostgresSchema());
  return {
    address,
    async [Symbol.asyncDispose]() {
      // On one connection for all schemas: to open one takes longer than to delete the rows.
      const schema = /search_path=(\w+)/.exec(decodeURIComponent(address))?.[1] ?? "";
      const client = await shared.client;
      // A runtime that plays a dead process may still write.
      const empty = async (triesLeft: number): Promise<unknown> =>
        client?.query(`SET search_path = ${schema}; ${DELETE_ROWS}`).catch((error: unknown) => {
          if ((error as { code?: unknown }).code !== DEADLOCK || triesLeft === 0) throw error;
          return empty(triesLeft - 1);
        });
      await empty(MOST_DEADLOCKS);
      emptied.push(address);
    },
  };
}

const DEADLOCK = "40P01";
const MOST_DEADLOCKS = 5;

/** Includes the views of workflow outputs. A store that was never opened has no tables. */
const DELETE_ROWS = `DO $$ DECLARE relation TEXT; BEGIN
  FOR relation IN SELECT tablename FROM pg_tables
    WHERE schemaname = current_schema() AND tablename <> 'toolwright_meta'
  LOOP EXECUTE format('DELETE FROM %I', relation); END LOOP;
  FOR relation IN SELECT viewname FROM pg_views
    WHERE schemaname = current_schema() AND viewname <> '_smithers_tool_calls'
  LOOP EXECUTE format('DROP VIEW %I', relation); END LOOP;
  IF to_regclass('toolwright_meta') IS NOT NULL THEN DELETE FROM toolwright_meta WHERE name LIKE 'view %'; END IF;
END $$`;

async function connected(connectionString: string | undefined): Promise<Client> {
  const client = new Client({ connectionString });
  // The server ends before the workers do.
  client.on("error", () => undefined);
  await client.connect();
  return client;
}
