/** The harness itself: a real server, a database for each test. */
import { Client } from "pg";
import { expect, test } from "vitest";
import { freshPostgres } from "./fresh-postgres.ts";

async function query(connectionString: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

test("gives each test its own database on a real server", async () => {
  const [one, other] = await Promise.all([freshPostgres(), freshPostgres()]);
  await query(one, "CREATE TABLE mark (id int)");
  expect(await query(one, "SELECT to_regclass('mark')::text AS found")).toEqual([{ found: "mark" }]);
  expect(await query(other, "SELECT to_regclass('mark')::text AS found")).toEqual([{ found: null }]);
});
