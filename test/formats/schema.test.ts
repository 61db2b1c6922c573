/**
 * A store that was migrated has the schema of a new one: no released migration was changed. It also has all that the older version
 * reads and writes, since processes of that version may still be at work.
 */
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

interface Column {
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
  readonly hasDefault: boolean;
}

/** What an older process can no longer do after the migration. */
function brokenBy(before: readonly Column[], after: readonly Column[]): string[] {
  const tableOf = ({ name }: Column): string => name.split(".")[0] ?? "";
  const tables = new Set(before.map(tableOf));
  const old = new Map(before.map((column) => [column.name, column]));
  const now = new Map(after.map((column) => [column.name, column]));
  const unread = before.filter(({ name, type }) => now.get(name)?.type !== type);
  const unwritten = after.filter((column) => {
    const mayBeOmitted = column.isNullable || column.hasDefault;
    return tables.has(tableOf(column)) && !mayBeOmitted && old.get(column.name)?.isNullable !== false;
  });
  return [
    ...unread.map(({ name }) => `${name} is missing or has another type`),
    ...unwritten.map(({ name }) => `${name} must have a value`),
  ];
}

test("an older process on SQLite finds its columns after a migration, and need not know the new ones", async () => {
  const { input } = await openFixture(onSqlite);
  const columnsNow = (): Column[] => {
    const database = new DatabaseSync(input.store);
    try {
      return database
        .prepare(
          `SELECT m.name || '.' || c.name AS name, c.type, c."notnull", c.dflt_value FROM sqlite_master m JOIN pragma_table_info(m.name) c
           WHERE m.type = 'table' AND m.name LIKE 'toolwright%'`,
        )
        .all()
        .map((row) => ({
          name: String(row["name"]),
          type: String(row["type"]),
          isNullable: row["notnull"] === 0,
          hasDefault: row["dflt_value"] !== null,
        }));
    } finally {
      database.close();
    }
  };
  const before = columnsNow();
  expect(before.length).toBeGreaterThan(50);
  await migrate(input.store);
  expect(brokenBy(before, columnsNow())).toEqual([]);
});

test("an older process on PostgreSQL finds its columns after a migration, and need not know the new ones", async () => {
  const { input } = await openFixture(onPostgres);
  const columnsNow = async (): Promise<Column[]> => {
    const client = new Client({ connectionString: input.store });
    await client.connect();
    try {
      const { rows } = await client.query<Column>(
        `SELECT table_name || '.' || column_name AS name, data_type AS type, is_nullable = 'YES' AS "isNullable",
           column_default IS NOT NULL OR is_identity = 'YES' AS "hasDefault"
         FROM information_schema.columns WHERE table_schema = current_schema() AND table_name LIKE 'toolwright%'`,
      );
      return rows;
    } finally {
      await client.end();
    }
  };
  const before = await columnsNow();
  expect(before.length).toBeGreaterThan(50);
  await migrate(input.store);
  expect(brokenBy(before, await columnsNow())).toEqual([]);
});

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
