/** Writes `sql/sqlite/schema.sql`: the schema that all migrations create in an empty SQLite file. Run it after adding a migration. */
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { META_TABLE, readMigrations } from "../src/store/migrate.ts";

const PAGE = resolve(import.meta.dirname, "../sql/sqlite/schema.sql");
const OBJECTS =
  "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid";

export function openMigrated(): DatabaseSync {
  const database = new DatabaseSync(":memory:");
  database.exec(META_TABLE);
  for (const { sql } of readMigrations("sqlite")) database.exec(sql);
  return database;
}

export function renderSchema(): string {
  using database = openMigrated();
  const texts = database
    .prepare(OBJECTS)
    .all()
    .map((row) => String(row["sql"]))
    .filter((sql) => !sql.startsWith("CREATE TABLE toolwright_meta"));
  return `-- Written by scripts/schema.ts from the migrations. Do not edit.\n\n${texts.map((sql) => `${sql};\n`).join("\n")}`;
}

if (process.argv[1] === import.meta.filename) writeFileSync(PAGE, renderSchema());
