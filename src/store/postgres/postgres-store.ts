/**
 * The PostgreSQL store, on a `pg` pool. READ COMMITTED is enough: (key, attempt) is unique, a call that starts locks the row
 * of its scope, and reservations are conditional updates. Transactions of one statement that wait together share one commit
 * and are sent together; others share one if more wait than connections are free. A failed group runs again one by one, and
 * a conflict is retried. No transaction relies on a session: each may get another server connection, as behind PgBouncer.
 */
import type { Client, Pool, PoolClient } from "pg";
import { ToolwrightError } from "../../errors.ts";
import { importPeer, peerHint } from "../../load/import-peer.ts";
import { sha256 } from "../../util/hash.ts";
import { LEASE_MS } from "../tables/owners.ts";
import { Batches, type BatchStatement } from "./batch.ts";
import { examineConnection, type History, historyOf, isPooled, statusOfCommit } from "./connection.ts";
import { AnswerLost, asStoreError, isAnswer, isOutdated, needsUnnamed } from "./errors.ts";
import { createJob, type Job } from "./job.ts";
import { type PostgresSettings, type PostgresStoreOptions, resolvePostgresOptions } from "./options.ts";
import { pause, runAgain } from "./retry.ts";
import { type PreparedSchema, prepareSchema, rollback } from "./schema.ts";
import { first, type Statement, type StatementResult } from "../statement.ts";
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

class PostgresStore implements Store {
  readonly dialect = "postgres";
  readonly secret: string;
  declare readonly connectionString: string;
  readonly #pool: Pool;
  readonly #settings: PostgresSettings;
  readonly #synchronous: boolean;
  #usesNames: boolean;
  readonly #prepared = new Map<string, { name: string; text: string }>();
  /** Jobs that need their own connection. */
  readonly #tasks: (() => Promise<void>)[] = [];
  /** Jobs that may share a commit. */
  readonly #jobs: Job[] = [];
  /** The same for jobs of one statement, which are sent together. */
  readonly #shortJobs: Job[] = [];
  readonly #batches = new Batches();
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
      const job = createJob(work, level, resolve, reject);
      const isFirst = this.#jobs.length + this.#shortJobs.length === 0;
      (job.isShort ? this.#shortJobs : this.#jobs).push(job);
      // After all pending microtasks: concurrent calls reach this point together.
      if (isFirst) process.nextTick(() => this.#next());
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
    // A statement more in a batch costs less than another connection: its locks, its commit and its round trips.
    const jobs =
      this.#shortJobs.length > 0
        ? this.#shortJobs.splice(0, LARGEST_GROUP)
        : this.#jobs.splice(0, Math.min(LARGEST_GROUP, Math.ceil(this.#jobs.length / this.#free)));
    const [job, ...others] = jobs;
    if (job === undefined) return undefined;
    return others.length === 0 ? () => this.#runAlone(job) : () => this.#runTogether(jobs);
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
      const left = new Set(await this.#commit(jobs));
      for (const job of jobs) {
        if (left.has(job)) this.#tasks.push(() => this.#runAlone(job));
        else job.commit();
      }
    } catch (error) {
      if (error instanceof AnswerLost) for (const job of jobs) job.fail(asStoreError(error));
      else this.#tasks.push(...jobs.map((job) => () => this.#runAlone(job)));
    }
  }

  /** Returns the jobs of a group that must run alone. */
  async #commit(jobs: readonly Job[]): Promise<readonly Job[]> {
    let begun: { readonly transactionId: string; readonly history: History | undefined } | undefined;
    let isAsked = false;
    let left: readonly Job[] = [];
    try {
      await this.#withClient(async (client) => {
        const areSent = jobs.every(({ isShort }) => isShort);
        const starts = (areSent ? jobs : jobs.slice(0, 1)).map((job) => job.start());
        const { transactionId, results } = await this.#begin(client, jobs, starts);
        begun = { transactionId, history: historyOf(client) };
        left = await (areSent && jobs.length > 1
          ? finishShort(jobs, results)
          : this.#finish(client, jobs, results));
        isAsked = true;
        await client.query("COMMIT");
      });
    } catch (error) {
      if (!isAsked || begun === undefined || isAnswer(error)) throw error;
      const status = await this.#statusOf(begun.transactionId, begun.history);
      if (status === "committed") return left;
      throw status === "aborted" ? error : new AnswerLost(error);
    }
    return left;
  }

  /** Runs the jobs in turn. The first statement of the first one has been sent. */
  async #finish(
    client: PoolClient,
    jobs: readonly Job[],
    [result]: readonly StatementResult[],
  ): Promise<readonly Job[]> {
    const send = (statement: Statement): Promise<StatementResult> => this.#execute(client, statement);
    for (const [index, job] of jobs.entries()) {
      if (index === 0) {
        await job.finish(result, send);
        continue;
      }
      const start = job.start();
      await job.finish(start && (await send(start)), send);
    }
    return [];
  }

  /** The reply to COMMIT was lost: asks the server for the status of the transaction. */
  async #statusOf(
    transactionId: string,
    history: History | undefined,
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

  /** Sends these statements with the begin of the transaction, in one round trip. Settings are local to the transaction. */
  async #begin(
    client: PoolClient,
    jobs: readonly Job[],
    starts: readonly (Statement | undefined)[],
  ): Promise<{ readonly transactionId: string; readonly results: readonly StatementResult[] }> {
    const isFull = jobs.some(({ level }) => level === "full");
    const settings = [
      // Transactions never wait for anything but the database: an idle one belongs to a suspended process.
      ["idle_in_transaction_session_timeout", String(this.#idleMs)],
      ...(isFull && !this.#synchronous ? [["synchronous_commit", "on"]] : []),
      ...(jobs.length > 1 ? [["lock_timeout", String(GROUP_LOCK_TIMEOUT_MS)]] : []),
    ];
    const [, begun, ...results] = await this.#batches.send(client, [
      this.#toSend(BEGIN),
      this.#toSend({ kind: "query", sql: readIdAndSet(settings.length), parameters: settings.flat() }),
      ...starts.filter((start) => start !== undefined).map((start) => this.#toSend(start)),
    ]);
    return { transactionId: String(begun?.rows[0]?.["id"]), results };
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

  async #execute(client: PoolClient, statement: Statement): Promise<StatementResult> {
    const [result] = await this.#batches.send(client, [this.#toSend(statement)]);
    if (result === undefined) throw new Error("the server sent no result");
    return result;
  }

  #toSend({ kind, sql, parameters }: Statement): BatchStatement {
    const { name, text } = this.#prepare(sql);
    return { name: this.#usesNames ? name : undefined, text, parameters, hasRows: kind === "query" };
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

const BEGIN: Statement = { kind: "change", sql: "BEGIN", parameters: [] };

/** Reads the id of the transaction, and changes this number of settings, each with a name and a value. */
function readIdAndSet(count: number): string {
  const settings = Array.from(
    { length: count },
    (_, index) => `set_config(?${2 * index + 1}, ?${2 * index + 2}, true) AS setting_${index}`,
  );
  return `SELECT CAST(txid_current() AS TEXT) AS id, ${settings.join(", ")}`;
}

/** All statements were sent. Returns the jobs that changed nothing: they run alone, and look why. */
async function finishShort(
  jobs: readonly Job[],
  results: readonly StatementResult[],
): Promise<readonly Job[]> {
  const left: Job[] = [];
  for (const [index, job] of jobs.entries()) {
    const result = results[index];
    if (result === undefined || result.changes === 0) left.push(job);
    // The next statement of the job would run after statements of later jobs.
    else
      await job.finish(result, () =>
        Promise.reject(new Error("a transaction continued after its last statement")),
      );
  }
  return left;
}

function* readSnapshot(): Transaction<string> {
  const row = yield* first("SELECT CAST(txid_current_snapshot() AS TEXT) AS version");
  return String(row?.["version"]);
}

export function toPostgres(sql: string): string {
  return sql
    .replaceAll("{now}", NOW)
    .replaceAll("{position}", "nextval('toolwright_run_positions')")
    .replaceAll("{skip}", "FOR UPDATE SKIP LOCKED")
    .replaceAll("{share}", "FOR SHARE")
    .replaceAll("{update}", "FOR UPDATE")
    .replaceAll("{bytes}", 'COLLATE "C"')
    .replaceAll(/\?(\d+)/g, "$$$1");
}

/** @throws TOOL_STORE_FAILED */
export async function loadPg(): Promise<{ Pool: typeof Pool; Client: typeof Client }> {
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
