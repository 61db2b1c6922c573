/** Brings a PostgreSQL database to this version's schema, in the first schema of the connection's search path. */
import type { Pool, PoolClient } from "pg";
import { META_TABLE, migrationsAfter, newSecret, readMigrations } from "../migrate.ts";
import { codeOf, isConflict, isLockTimeout, isUnavailable } from "./errors.ts";
import { pause } from "./retry.ts";

/** The advisory lock that serialises concurrent migrations. */
const MIGRATION_LOCK = 7_421_001;
/** Shorter than PostgreSQL's deadlock_timeout: the migration times out before a running process is cancelled. */
const LOCK_TIMEOUT_MS = 200;
const LONGEST_PAUSE_MS = 300;
/** How long running processes may keep a migration from its locks. */
const MIGRATION_GIVE_UP_MS = 60_000;

export interface PreparedSchema {
  readonly secret: string;
  /** Whether a commit waits for the disk by default. */
  readonly synchronous: boolean;
}

/** @param retryMs how long to wait for a server that starts or drops connections */
export async function prepareSchema(pool: Pool, retryMs: number): Promise<PreparedSchema> {
  const began = performance.now();
  for (;;) {
    try {
      return await prepareOnce(pool);
    } catch (error) {
      const elapsedMs = performance.now() - began;
      const isBlocked = isLockTimeout(error) || isConflict(error);
      if (!(isBlocked ? elapsedMs < MIGRATION_GIVE_UP_MS : isStarting(error) && elapsedMs < retryMs))
        throw error;
      await pause((0.5 + Math.random()) * LONGEST_PAUSE_MS);
    }
  }
}

const NOBODY_THERE = new Set(["ECONNREFUSED", "ENOENT", "EAI_AGAIN", "ENOTFOUND", "ETIMEDOUT"]);

/** If nothing listens at the address, it is more likely wrong than the server restarting: report it immediately. */
function isStarting(error: unknown): boolean {
  return isUnavailable(error) && !NOBODY_THERE.has(codeOf(error));
}

async function prepareOnce(pool: Pool): Promise<PreparedSchema> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query("BEGIN");
    await client.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    const known = await client.query("SELECT to_regclass('toolwright_meta') AS meta");
    const current = known.rows[0]?.meta === null ? 0 : Number((await readMeta(client, "version")) ?? 0);
    const missing = migrationsAfter(current, readMigrations("postgres"));
    if (current === 0) await client.query(META_TABLE);
    else if (missing.length > 0) await lockRelations(client);
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

/**
 * Takes every lock that a migration needs, in one order, before it changes anything. Running processes lock rows in other
 * orders: if they wait for this transaction, it times out, releases its locks and is retried.
 */
async function lockRelations(client: PoolClient): Promise<void> {
  await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
  const { rows } = await client.query<{ name: string }>(
    `SELECT quote_ident(relname) AS name FROM pg_class
     WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind IN ('r', 'v')
       AND (relname LIKE 'toolwright\\_%' OR relname = '_smithers_tool_calls')
     -- Readers of a view lock the view first.
     ORDER BY relkind DESC, relname`,
  );
  for (const { name } of rows) await client.query(`LOCK TABLE ${name} IN ACCESS EXCLUSIVE MODE`);
}

/** Returns the error after which the connection must not be used again, if any. */
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
