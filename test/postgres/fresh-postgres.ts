/** Databases on a real PostgreSQL server that nobody else uses. */
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

/** An empty schema in a database that one test file has for itself: made in a tenth of the time of a database. */
export async function freshPostgresSchema(): Promise<string> {
  const database = await (shared ??= freshPostgres());
  const schema = `test_${(schemas += 1)}`;
  const client = new Client({ connectionString: database });
  await client.connect();
  try {
    await client.query(`CREATE SCHEMA ${schema}`);
  } finally {
    await client.end();
  }
  return `${database}?options=${encodeURIComponent(`-c search_path=${schema}`)}`;
}
