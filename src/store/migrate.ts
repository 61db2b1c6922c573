/**
 * Migrates a store to the schema of this version: numbered SQL files, each applied once, all in one transaction. A store of
 * a newer version is refused and not changed.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { ToolwrightError } from "../errors.ts";

export interface Migration {
  readonly version: number;
  readonly sql: string;
}

export function readMigrations(dialect: "sqlite" | "postgres"): Migration[] {
  const folder = new URL(`../../sql/${dialect}/`, import.meta.url);
  return readdirSync(folder)
    .filter((name) => /^\d{4}-.*\.sql$/.test(name))
    .sort()
    .map((name) => ({
      version: Number(name.slice(0, 4)),
      // A store that is up to date needs only the numbers.
      get sql() {
        return readFileSync(new URL(name, folder), "utf8");
      },
    }));
}

/** The schema that all migrations create in an empty SQLite file, in one step: `scripts/schema.ts` writes it, and a test compares both. */
export function readSchema(): string {
  return readFileSync(new URL("../../sql/sqlite/schema.sql", import.meta.url), "utf8");
}

/** The migrations left to apply. @throws TOOL_STORE_VERSION when the store is newer than this program. */
export function migrationsAfter(current: number, migrations: readonly Migration[]): Migration[] {
  const latest = migrations.at(-1)?.version ?? 0;
  if (current > latest) {
    throw new ToolwrightError(
      "TOOL_STORE_VERSION",
      `The store has schema version ${current}, and this Toolwright knows versions up to ${latest}. Nothing was changed.`,
      { details: { storeVersion: current, knownVersion: latest } },
    );
  }
  return migrations.filter((migration) => migration.version > current);
}

export const META_TABLE =
  "CREATE TABLE IF NOT EXISTS toolwright_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)";

export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}
