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

let shared: Promise<string> | undefined;
let schemas = 0;

/** An empty schema in a database of one test file: much faster than a new database. */
export async function freshPostgresSchema(): Promise<string> {
  const database = await (shared ??= freshPostgres());
  const schema = `test_${(schemas += 1)}`;
  await query(database, `CREATE SCHEMA ${schema}`);
  return `${database}?options=${encodeURIComponent(`-c search_path=${schema}`)}`;
}

const emptied: string[] = [];

/** A schema without rows that an earlier test may have used, for tests that change only rows. Faster still. */
export async function emptyPostgresSchema(): Promise<{ address: string } & AsyncDisposable> {
  const address = emptied.pop() ?? (await freshPostgresSchema());
  return {
    address,
    async [Symbol.asyncDispose]() {
      await query(address, DELETE_ROWS);
      emptied.push(address);
    },
  };
}

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

async function query(connectionString: string, sql: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
