/**
 * Wake-ups on PostgreSQL. A notification wakes every worker at the commit that makes a run ready. What no worker takes
 * immediately, and what is due later, becomes a job of pg-boss: it survives restarts and poolers that drop notifications.
 * Jobs are fetched in batches and deleted immediately; a run is never tied to its job.
 */
import type { PgBoss } from "pg-boss";
import { asStoreError } from "../store/postgres/errors.ts";
import { runAgain } from "../store/postgres/retry.ts";
import type { Store } from "../store/store.ts";
import { listUnsent, markSent, readSchemaName } from "../store/tables/sent-jobs.ts";
import { sha256 } from "../util/hash.ts";
import { Listener } from "./listen.ts";
import { loadPgBoss } from "./load-pg-boss.ts";
import type { WakeUps } from "./wake-up.ts";

const CHANNEL = "toolwright_ready";
/** Polls are for what notifications miss. Without them, polls are what wakes the worker. */
const POLL_MS = 10_000;
const POLL_ALONE_MS = 500;
const BATCH = 100;
/** The column of pg-boss is a 32-bit integer. The order of claims follows the marker, not the job. */
const MOST_PRIORITY = 1_000_000;
/** How long a worker that starts waits for a server that is away, as its store does. */
const RETRY_MS = 30_000;
const KEEP_JOBS_SECONDS = 14 * 24 * 3_600;

export class PostgresWakeUps implements WakeUps {
  readonly engine = "pg-boss";
  readonly #store: Store;
  readonly #address: string;
  readonly #resendMs: number;
  readonly #queue: string;
  #boss: PgBoss | undefined;
  #listener: Listener | undefined;
  #timer: NodeJS.Timeout | undefined;
  #wake: () => void = () => undefined;
  #isStopped = false;

  /** @param resendMs a job that has not led to a claim for that long is sent again */
  constructor(store: Store, address: string, resendMs: number) {
    this.#store = store;
    this.#address = address;
    this.#resendMs = resendMs;
    // One database may hold several stores, each in its own schema. The secret tells them apart.
    this.#queue = `toolwright-${sha256(store.secret).slice(0, 12)}`;
  }

  async start(wake: () => void): Promise<void> {
    this.#wake = wake;
    const Boss = await loadPgBoss();
    try {
      this.#boss = await runAgain(() => this.#open(Boss), RETRY_MS);
    } catch (error) {
      throw asStoreError(error);
    }
    const schema = await this.#store.read(readSchemaName);
    this.#listener = new Listener(this.#address, CHANNEL, (payload) => {
      if (payload === "" || payload === schema) this.#wake();
    });
    await this.#listener.start();
    this.#poll();
  }

  /** A failed start leaves no connection behind. */
  async #open(Boss: typeof PgBoss): Promise<PgBoss> {
    const boss = new Boss({
      connectionString: this.#address,
      max: 2,
      application_name: "toolwright worker",
      // Our own lease decides when a worker is dead, and schedules are ours.
      schedule: false,
      // Jobs have no dependencies.
      flowIntervalSeconds: 3_600,
    });
    // A lost connection must not end the worker: it connects again.
    boss.on("error", () => undefined);
    boss.on("warning", () => undefined);
    try {
      await boss.start();
      await boss.createQueue(this.#queue, {
        policy: "exclusive",
        retryLimit: 0,
        retentionSeconds: KEEP_JOBS_SECONDS,
        deleteAfterSeconds: 1,
      });
      return boss;
    } catch (error) {
      await boss.stop({ graceful: false, close: true }).catch(() => undefined);
      throw error;
    }
  }

  /**
   * Sends jobs for ready runs that have none: no worker was free, they are due later, or a crash kept the job from being
   * sent. One batch at a time: a worker that was woken looks for further runs itself.
   */
  async sweep(): Promise<void> {
    const boss = this.#boss;
    if (boss === undefined) return;
    const runs = await this.#store.read(() => listUnsent(this.#resendMs, BATCH));
    if (runs.length === 0) return;
    await boss.insert(
      this.#queue,
      runs.map(({ runId, priority, dueAtMs }) => ({
        data: { runId },
        singletonKey: runId,
        priority: Math.max(-MOST_PRIORITY, Math.min(priority, MOST_PRIORITY)),
        startAfter: new Date(dueAtMs),
      })),
    );
    await this.#store.transaction(() => markSent(runs.map(({ runId }) => runId)), "normal");
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#listener?.stop();
    await this.#boss?.stop({ graceful: false, close: true }).catch(() => undefined);
  }

  #poll(): void {
    if (this.#isStopped) return;
    const pauseMs = this.#listener?.isConnected === true ? POLL_MS : POLL_ALONE_MS;
    this.#timer = setTimeout(() => void this.#fetch().finally(() => this.#poll()), pauseMs).unref();
  }

  async #fetch(): Promise<void> {
    try {
      const jobs = (await this.#boss?.fetch(this.#queue, { batchSize: BATCH })) ?? [];
      if (jobs.length === 0) return;
      // The job has done its work: it woke a worker. The marker of the run stays until the run is claimed.
      await this.#boss?.deleteJob(
        this.#queue,
        jobs.map(({ id }) => id),
      );
      this.#wake();
    } catch {
      // The database is away. The sweep and the next poll find what is ready.
    }
  }
}
