/** A new SQLite file takes its schema in one step: the same schema as the migrations make. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { openMigrated, renderSchema } from "../../scripts/schema.ts";
import { META_TABLE } from "../../src/store/migrate.ts";

const PAGE = resolve(import.meta.dirname, "../../sql/sqlite/schema.sql");

/** Every table, index, view and trigger, and the rows of each table. */
function contentOf(database: DatabaseSync): unknown {
  const objects = database
    .prepare(
      "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    .all();
  const tables = objects.filter(({ type }) => type === "table").map(({ name }) => String(name));
  return {
    objects,
    rows: tables.map((name) => [name, database.prepare(`SELECT * FROM "${name}"`).all()]),
    columns: tables.map((name) => [name, database.prepare(`PRAGMA table_xinfo("${name}")`).all()]),
  };
}

test("sql/sqlite/schema.sql is what the migrations make; `node scripts/schema.ts` writes it", () => {
  const page = readFileSync(PAGE, "utf8");
  expect(page).toBe(renderSchema());
  using migrated = openMigrated();
  using fresh = new DatabaseSync(":memory:");
  fresh.exec(META_TABLE);
  fresh.exec(page);
  expect(contentOf(fresh)).toEqual(contentOf(migrated));
});
