/**
 * The PostgreSQL store, on a `pg` pool. READ COMMITTED is enough: (key, attempt) is unique, a call that starts locks the row
 * of its scope, and reservations are conditional updates. When more transactions wait than connections are free, several
 * share one commit; a failed group runs again one by one, and a conflict is retried. No transaction relies on a session:
 * each may get another server connection, as behind PgBouncer.
 */
import type { Pool, PoolClient, QueryResult } from "pg";
import { ToolwrightError } from "../../errors.ts";
import { importPeer, peerHint } from "../../load/import-peer.ts";
import { sha256 } from "../../util/hash.ts";
import { LEASE_MS } from "../tables/owners.ts";
import { examineConnection, historyOf, isPooled, statusOfCommit } from "./connection.ts";
import { AnswerLost, asStoreError, isLost, isOutdated, needsUnnamed } from "./errors.ts";
import { type PostgresSettings, type PostgresStoreOptions, resolvePostgresOptions } from "./options.ts";
import { pause, runAgain } from "./retry.ts";
import { type PreparedSchema, prepareSchema, rollback } from "./schema.ts";
import { first, type Row, type Statement, type StatementResult } from "../statement.ts";
import type { CommitLevel, Store, Transaction } from "../store.ts";

const NOW = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";
const LARGEST_GROUP = 32;
/** A transaction waits for locks alone: in a group, all of it would wait, and two groups could deadlock. */
const GROUP_LOCK_TIMEOUT_MS = 50;
/** How long a commit on a lost connection may still be in progress before it counts as unknown. */
const COMMIT_SETTLES_MS = 5_000;
const COMMIT_LOOK_MS = 50;

export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const settings = resolvePostgresOptions(options);
  const { Pool } = await loadPg();
  const pool = new Pool({
    connectionString: settings.connectionString,
    max: settings.poolSize,
    connectionTimeoutMillis: settings.connectTimeoutMs,
    // A server whose machine is down sends nothing: only keep-alive probes notice.
    keepAlive: true,
    types: { getTypeParser: numberParser },
    onConnect: examineConnection,
  });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on("error", () => undefined);
  // The same for a connection in use: its query rejects with the error.
  pool.on("connect", (client) => client.on("error", () => undefined));
  try {
    const schema = await prepareSchema(pool, settings.retryMs);
    return new PostgresStore(pool, settings, schema, settings.preparedStatements ?? !(await pooled(pool)));
  } catch (error) {
    await pool.end();
    throw asStoreError(error);
  }
}

async function pooled(pool: Pool): Promise<boolean> {
  const client = await pool.connect();
  try {
    return await isPooled(client);
  } finally {
    client.release();
  }
}

interface Job {
  readonly level: CommitLevel;
  /** Runs the work inside the open transaction and remembers its result. */
  run(client: PoolClient): Promise<void>;
  commit(): void;
  fail(error: unknown): void;
}

class PostgresStore implements Store {
  readonly dialect = "postgres";
  readonly secret: string;
  declare readonly connectionString: string;
  readonly #pool: Pool;
  readonly #settings: PostgresSettings;
  readonly #synchronous: boolean;
  #usesNames: boolean;
  readonly #prepared = new Map<string, { name: string; text: string }>();
  /** Jobs that need a connection of their own. */
  readonly #tasks: (() => Promise<void>)[] = [];
  /** Jobs that may share a commit. */
  readonly #jobs: Job[] = [];
  /** Counted here, because the queue of the pool fails a request after the connect timeout. */
  #free: number;
  #onIdle: (() => void) | undefined;
  #idleMs = LEASE_MS;
  #ended: Promise<void> | undefined;

  constructor(
    pool: Pool,
    settings: PostgresSettings,
    { secret, synchronous }: PreparedSchema,
    usesNames: boolean,
  ) {
    this.#pool = pool;
    this.#settings = settings;
    this.#free = settings.poolSize;
    // Not enumerable: an address may contain a password, and objects are logged.
    Object.defineProperty(this, "connectionString", { value: settings.connectionString, enumerable: false });
    this.#usesNames = usesNames;
    this.secret = secret;
    this.#synchronous = synchronous;
  }

  transaction<T>(work: () => Transaction<T>, level: CommitLevel): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let result: T;
      this.#jobs.push({
        level,
        run: async (client) => {
          result = await this.#perform(client, work());
        },
        commit: () => resolve(result),
        fail: reject,
      });
      // After all pending microtasks: concurrent calls reach this point together.
      if (this.#jobs.length === 1) process.nextTick(() => this.#next());
    });
  }

  read<T>(work: () => Transaction<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const reading = (): Promise<T> => this.#withClient((client) => this.#perform(client, work()));
      this.#tasks.push(() =>
        this.#runAgain(reading).then(resolve, (error: unknown) => reject(asStoreError(error))),
      );
      this.#next();
    });
  }

  /** The snapshot changes when a transaction that writes begins or ends. Reading it touches no table. */
  version(): Promise<string> {
    return this.read(readSnapshot);
  }

  limitIdle(ms: number): void {
    this.#idleMs = Math.ceil(ms);
  }

  async close(): Promise<void> {
    // Earlier transactions may still wait for a connection: they run first.
    this.#ended ??= this.#idle().then(() => this.#pool.end());
    await this.#ended;
  }

  #idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      this.#next();
    });
  }

  #next(): void {
    while (this.#free > 0) {
      const task = this.#tasks.shift() ?? this.#nextGroup();
      if (task === undefined) break;
      this.#free -= 1;
      void task().finally(() => {
        this.#free += 1;
        this.#next();
      });
    }
    if (this.#free === this.#settings.poolSize) this.#onIdle?.();
  }

  #nextGroup(): (() => Promise<void>) | undefined {
    const size = Math.min(LARGEST_GROUP, Math.ceil(this.#jobs.length / this.#free));
    const [job, ...others] = this.#jobs.splice(0, size);
    if (job === undefined) return undefined;
    return others.length === 0 ? () => this.#runAlone(job) : () => this.#runTogether([job, ...others]);
  }

  async #runAlone(job: Job): Promise<void> {
    try {
      await this.#runAgain(() => this.#commit([job]));
      job.commit();
    } catch (error) {
      job.fail(asStoreError(error));
    }
  }

  async #runTogether(jobs: readonly Job[]): Promise<void> {
    try {
      await this.#commit(jobs);
      for (const job of jobs) job.commit();
    } catch (error) {
      if (error instanceof AnswerLost) for (const job of jobs) job.fail(asStoreError(error));
      else this.#tasks.push(...jobs.map((job) => () => this.#runAlone(job)));
    }
  }

  async #commit(jobs: readonly Job[]): Promise<void> {
    let begun: { readonly transactionId: string; readonly history: string | undefined } | undefined;
    let isAsked = false;
    try {
      await this.#withClient(async (client) => {
        begun = { transactionId: await this.#begin(client, jobs), history: historyOf(client) };
        for (const job of jobs) await job.run(client);
        isAsked = true;
        await client.query("COMMIT");
      });
    } catch (error) {
      if (!isAsked || begun === undefined || !isLost(error)) throw error;
      const status = await this.#statusOf(begun.transactionId, begun.history);
      if (status === "committed") return;
      throw status === "aborted" ? error : new AnswerLost(error);
    }
  }

  /** The reply to COMMIT was lost: asks the server for the status of the transaction. */
  async #statusOf(
    transactionId: string,
    history: string | undefined,
  ): Promise<"committed" | "aborted" | "unknown"> {
    const ask = () => this.#withClient((client) => statusOfCommit(client, transactionId, history));
    const deadline = performance.now() + COMMIT_SETTLES_MS;
    try {
      for (;;) {
        const status = await this.#runAgain(ask);
        if (status !== "in progress") return status;
        if (performance.now() > deadline) return "unknown";
        await pause(COMMIT_LOOK_MS);
      }
    } catch {
      // The caller reports the error that lost the reply.
      return "unknown";
    }
  }

  /** One round trip. Settings are local to the transaction. Returns its id. */
  async #begin(client: PoolClient, jobs: readonly Job[]): Promise<string> {
    const isFull = jobs.some(({ level }) => level === "full");
    const results: unknown = await client.query(
      [
        "BEGIN",
        ...(isFull && !this.#synchronous ? ["SET LOCAL synchronous_commit = on"] : []),
        ...(jobs.length > 1 ? [`SET LOCAL lock_timeout = ${GROUP_LOCK_TIMEOUT_MS}`] : []),
        // Transactions never wait for anything but the database: an idle one belongs to a suspended process.
        `SELECT CAST(txid_current() AS TEXT) AS id,
           set_config('idle_in_transaction_session_timeout', '${this.#idleMs}', true) AS timeout`,
      ].join("; "),
    );
    return String((results as QueryResult<Row>[]).at(-1)?.rows[0]?.["id"]);
  }

  #runAgain<T>(action: () => Promise<T>): Promise<T> {
    return runAgain(action, this.#settings.retryMs);
  }

  async #withClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    try {
      return await work(client);
    } catch (error) {
      broken = await rollback(client);
      if (isOutdated(error) && error instanceof Error) broken ??= error;
      if (needsUnnamed(error) && this.#settings.preparedStatements !== true) this.#usesNames = false;
      throw error;
    } finally {
      client.release(broken);
    }
  }

  async #perform<T>(client: PoolClient, transaction: Transaction<T>): Promise<T> {
    let step = transaction.next();
    while (step.done !== true) step = transaction.next(await this.#execute(client, step.value));
    return step.value;
  }

  async #execute(client: PoolClient, { sql, parameters }: Statement): Promise<StatementResult> {
    const { name, text } = this.#prepare(sql);
    const values = [...parameters];
    const result: QueryResult<Row> = await client.query(
      this.#usesNames ? { name, text, values } : { text, values },
    );
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

function* readSnapshot(): Transaction<string> {
  const row = yield* first("SELECT CAST(txid_current_snapshot() AS TEXT) AS version");
  return String(row?.["version"]);
}

function toPostgres(sql: string): string {
  return sql
    .replaceAll("{now}", NOW)
    .replaceAll("{position}", "nextval('toolwright_run_positions')")
    .replaceAll("{skip}", "FOR UPDATE SKIP LOCKED")
    .replaceAll("{share}", "FOR SHARE")
    .replaceAll("{update}", "FOR UPDATE")
    .replaceAll(/\?(\d+)/g, "$$$1");
}

async function loadPg(): Promise<{ Pool: typeof Pool }> {
  try {
    const { default: pg } = await importPeer("pg", () => import("pg"));
    return pg;
  } catch (error) {
    throw new ToolwrightError("TOOL_STORE_FAILED", 'A PostgreSQL store needs the package "pg".', {
      hint: peerHint("pg", error),
      cause: error,
    });
  }
}

// 20 is int8, 701 float8, 1700 numeric: a double holds all of our values exactly.
function numberParser(oid: number): (value: string) => unknown {
  return oid === 20 || oid === 21 || oid === 23 || oid === 701 || oid === 1700 ? Number : (value) => value;
}
