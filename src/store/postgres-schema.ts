/** Brings a PostgreSQL database to this version's schema, in the first schema of the connection's search path. */
import type { Pool, PoolClient } from "pg";
import { META_TABLE, migrationsAfter, newSecret, readMigrations } from "./migrate.ts";

/** Serialises concurrent migrations; any constant does, as long as it is ours. */
const MIGRATION_LOCK = 7_421_001;

export interface PreparedSchema {
  readonly secret: string;
  /** Whether a commit waits for the disk unless it is told otherwise. */
  readonly synchronous: boolean;
}

export async function prepareSchema(pool: Pool): Promise<PreparedSchema> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query("BEGIN");
    await client.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    const known = await client.query("SELECT to_regclass('toolwright_meta') AS meta");
    const current = known.rows[0]?.meta === null ? 0 : Number((await readMeta(client, "version")) ?? 0);
    const missing = migrationsAfter(current, readMigrations("postgres"));
    if (current === 0) await client.query(META_TABLE);
    for (const migration of missing) {
      await client.query(migration.sql);
      await writeMeta(client, "version", String(migration.version));
    }
    if ((await readMeta(client, "secret")) === undefined) await writeMeta(client, "secret", newSecret());
    const secret = (await readMeta(client, "secret")) ?? "";
    const setting = await client.query("SHOW synchronous_commit");
    await client.query("COMMIT");
    return { secret, synchronous: !["off", "local"].includes(String(setting.rows[0]?.synchronous_commit)) };
  } catch (error) {
    broken = await rollback(client);
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Gives the reason why the connection must not be used again, if there is one. */
export async function rollback(client: PoolClient): Promise<Error | undefined> {
  try {
    await client.query("ROLLBACK");
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

async function readMeta(client: PoolClient, name: string): Promise<string | undefined> {
  const result = await client.query("SELECT value FROM toolwright_meta WHERE name = $1", [name]);
  return result.rows[0]?.value;
}

async function writeMeta(client: PoolClient, name: string, value: string): Promise<void> {
  await client.query(
    "INSERT INTO toolwright_meta VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = $2",
    [name, value],
  );
}
