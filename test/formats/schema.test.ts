/** A store that was migrated has the schema of a new one: no released migration was changed. */
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { createRuntime } from "toolwright";
import { expect, test } from "vitest";
import { STORE_KINDS } from "../store-kinds.ts";
import { FIXTURES, openFixture } from "./open-fixture.ts";

const [onSqlite, onPostgres] = FIXTURES;
const [sqlite, postgres] = STORE_KINDS;

/** The programs that made the store have left views of their outputs. */
const OWN_PARTS = String.raw`SELECT type, name, sql FROM sqlite_master
  WHERE name LIKE '%toolwright%' OR name LIKE '\_%' ESCAPE '\' ORDER BY name`;

async function migrate(store: string): Promise<void> {
  await using runtime = createRuntime({ store });
  await runtime.ready();
}

test("on SQLite", async () => {
  const { input } = await openFixture(onSqlite);
  await using fresh = await sqlite.fresh();
  const schemaOf = async (path: string): Promise<unknown[]> => {
    await migrate(path);
    const database = new DatabaseSync(path);
    try {
      return database.prepare(OWN_PARTS).all();
    } finally {
      database.close();
    }
  };
  expect(await schemaOf(input.store)).toEqual(await schemaOf(fresh.address));
});

test("on PostgreSQL", async () => {
  const { input } = await openFixture(onPostgres);
  await using fresh = await postgres.fresh();
  const schemaOf = async (address: string): Promise<unknown[]> => {
    await migrate(address);
    const client = new Client({ connectionString: address });
    await client.connect();
    try {
      const columns = await client.query(
        `SELECT table_name, column_name, data_type, is_nullable, column_default, is_identity FROM information_schema.columns
         WHERE table_schema = current_schema() AND (table_name LIKE 'toolwright%' OR table_name LIKE '\\_%') ORDER BY 1, 2`,
      );
      const indexes = await client.query<{ definition: string }>(
        "SELECT indexdef AS definition FROM pg_indexes WHERE schemaname = current_schema() ORDER BY indexname",
      );
      return [
        columns.rows,
        indexes.rows.map(({ definition }) => definition.replaceAll(/ ON \w+\./g, " ON ")),
      ];
    } finally {
      await client.end();
    }
  };
  expect(await schemaOf(input.store)).toEqual(await schemaOf(fresh.address));
});
