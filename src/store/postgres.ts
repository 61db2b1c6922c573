/**
 * The PostgreSQL store, on a `pg` pool. READ COMMITTED is enough: (key, attempt) is unique, a call that begins locks
 * its scope's row, and reservations are conditional updates. Deadlocks and serialisation failures are run again.
 */
import type { Pool, PoolClient, QueryResult } from "pg";
import { ToolwrightError } from "../errors.ts";
import { sha256 } from "../util/hash.ts";
import { META_TABLE, migrationsAfter, newSecret, readMigrations } from "./migrate.ts";
import type { Row, Statement, StatementResult } from "./statement.ts";
import type { CommitLevel, Store, Transaction } from "./store.ts";

const NOW = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";
const CONNECT_TIMEOUT_MS = 10_000;
const CONFLICT_RETRIES = 20;
/** Serialises concurrent migrations; any constant does, as long as it is ours. */
const MIGRATION_LOCK = 7_421_001;

export interface PostgresStoreOptions {
  readonly connectionString: string;
  /** Connections kept at most. Default 10. */
  readonly poolSize?: number | undefined;
}

export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { Pool } = await loadPg();
  const pool = new Pool({
    connectionString: options.connectionString,
    max: options.poolSize ?? 10,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    types: { getTypeParser: numberParser },
  });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on("error", () => undefined);
  // The same for one that is in use: whoever uses it gets the error from its query.
  pool.on("connect", (client) => client.on("error", () => undefined));
  try {
    const { secret, synchronous } = await prepareSchema(pool);
    return new PostgresStore(pool, secret, synchronous);
  } catch (error) {
    await pool.end();
    throw asStoreError(error);
  }
}

class PostgresStore implements Store {
  readonly dialect = "postgres";
  readonly secret: string;
  readonly #pool: Pool;
  readonly #synchronous: boolean;
  readonly #prepared = new Map<string, { name: string; text: string }>();
  readonly #running = new Set<Promise<unknown>>();
  #ended: Promise<void> | undefined;

  constructor(pool: Pool, secret: string, synchronous: boolean) {
    this.#pool = pool;
    this.secret = secret;
    this.#synchronous = synchronous;
  }

  transaction<T>(work: () => Transaction<T>, level: CommitLevel): Promise<T> {
    const running = this.#transaction(work, level).finally(() => this.#running.delete(running));
    this.#running.add(running);
    return running;
  }

  async #transaction<T>(work: () => Transaction<T>, level: CommitLevel): Promise<T> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.#commit(work, level);
      } catch (error) {
        if (!isConflict(error) || tries >= CONFLICT_RETRIES) throw asStoreError(error);
      }
    }
  }

  async read<T>(work: () => Transaction<T>): Promise<T> {
    try {
      return await this.#perform(this.#pool, work());
    } catch (error) {
      throw asStoreError(error);
    }
  }

  async close(): Promise<void> {
    // What was asked for before is committed first: some of it may still wait for a connection.
    this.#ended ??= Promise.allSettled(this.#running).then(() => this.#pool.end());
    await this.#ended;
  }

  async #commit<T>(work: () => Transaction<T>, level: CommitLevel): Promise<T> {
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    try {
      await client.query(
        level === "full" && !this.#synchronous ? "BEGIN; SET LOCAL synchronous_commit = on" : "BEGIN",
      );
      const result = await this.#perform(client, work());
      await client.query("COMMIT");
      return result;
    } catch (error) {
      broken = await rollback(client);
      throw error;
    } finally {
      client.release(broken);
    }
  }

  async #perform<T>(client: Pool | PoolClient, transaction: Transaction<T>): Promise<T> {
    let step = transaction.next();
    while (step.done !== true) step = transaction.next(await this.#execute(client, step.value));
    return step.value;
  }

  async #execute(client: Pool | PoolClient, { sql, parameters }: Statement): Promise<StatementResult> {
    const result: QueryResult<Row> = await client.query({ ...this.#prepare(sql), values: [...parameters] });
    return { rows: result.rows, changes: result.rowCount ?? 0 };
  }

  #prepare(sql: string): { name: string; text: string } {
    let prepared = this.#prepared.get(sql);
    if (prepared === undefined) {
      const text = toPostgres(sql);
      prepared = { name: `toolwright_${sha256(text).slice(0, 16)}`, text };
      this.#prepared.set(sql, prepared);
    }
    return prepared;
  }
}

function toPostgres(sql: string): string {
  return sql
    .replaceAll("{now}", NOW)
    .replaceAll("{share}", "FOR SHARE")
    .replaceAll("{update}", "FOR UPDATE")
    .replaceAll(/\?(\d+)/g, "$$$1");
}

async function loadPg(): Promise<{ Pool: typeof Pool }> {
  try {
    const { default: pg } = await import("pg");
    return pg;
  } catch (error) {
    throw new ToolwrightError("TOOL_STORE_FAILED", 'A PostgreSQL store needs the package "pg".', {
      hint: "Run: npm install pg",
      cause: error,
    });
  }
}

async function prepareSchema(pool: Pool): Promise<{ secret: string; synchronous: boolean }> {
  const client = await pool.connect();
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
    await rollback(client);
    throw error;
  } finally {
    client.release();
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

/** Gives the reason why the connection must not be used again, if there is one. */
async function rollback(client: PoolClient): Promise<Error | undefined> {
  try {
    await client.query("ROLLBACK");
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

// 20 is int8, 701 float8, 1700 numeric: all ours are within what a double holds exactly.
function numberParser(oid: number): (value: string) => unknown {
  return oid === 20 || oid === 21 || oid === 23 || oid === 701 || oid === 1700 ? Number : (value) => value;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

function isConflict(error: unknown): boolean {
  return codeOf(error) === "40001" || codeOf(error) === "40P01";
}

/** What is not an error of ours came from the server or from the way to it. The address may hold a password. */
function asStoreError(error: unknown): unknown {
  if (ToolwrightError.is(error) || !(error instanceof Error)) return error;
  const isDatabaseError = codeOf(error) !== "" || /connect|terminat|timeout|pool/i.test(error.message);
  if (!isDatabaseError) return error;
  return new ToolwrightError("TOOL_STORE_FAILED", `The PostgreSQL store failed: ${error.message}.`, {
    cause: error,
    effect: "none",
  });
}
