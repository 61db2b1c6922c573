/**
 * A running worker: takes ready runs while it has free places, drives them, and gives them back when it drains or loses its
 * lease. It survives the loss of its database.
 */
import { hostname } from "node:os";
import { ToolwrightError } from "../errors.ts";
import { messageOf } from "../invoke/error-record.ts";
import type { Host } from "../invoke/host.ts";
import { Released } from "../invoke/run-release.ts";
import { hostOf } from "../runtime/create-runtime.ts";
import type { ProcessIdentity } from "../runtime/process-identity.ts";
import { unparkRuns } from "../store/tables/queue.ts";
import { type TakeoverStatements, takeoverStatements } from "../store/tables/takeovers.ts";
import { deleteWorker, saveWorker } from "../store/tables/workers.ts";
import { createWakeUps } from "./create-wake-ups.ts";
import { DueTimes } from "./due-times.ts";
import type { WorkerOptions } from "./options.ts";
import { ReadyRuns } from "./ready-runs.ts";
import { ActiveRuns } from "./active-runs.ts";
import { loadServed, type ServedCode } from "./served.ts";
import { isAnyGone, sweep, sweepOrphans } from "./sweep.ts";
import type { WakeUps } from "./wake-up.ts";
import type { WorkerStatus } from "./worker-status.ts";

const DEFAULT_CONCURRENCY = 4;
const DEFAULT_LEASE_MS = 10_000;
const DEFAULT_DRAIN_MS = 30_000;
const NEIGHBOUR_MS = 250;
const LEAST_SWEEP_MS = 50;
/** Part of a lease after which it sweeps again at the latest. */
const SWEEPS = 0.9;
/** After the end of the drain, runs that were cut off have this long to be stored. */
const CUT_OFF_MS = 3_000;
const RETRY_MS = 500;

export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { runtime, leaseMs = DEFAULT_LEASE_MS } = options;
  const code = await loadServed(options);
  await runtime.ready();
  const host = await hostOf(runtime);
  const wakeUps = await createWakeUps(host, leaseMs);
  if (host.hasWorker)
    throw new ToolwrightError("TOOL_OPTION_INVALID", "createWorker: runtime has a worker already.", {
      hint: "Name everything in one worker, or create another runtime on the same store.",
      details: { option: "runtime" },
    });
  host.hasWorker = true;
  const worker = new RunningWorker(options, host, code, wakeUps);
  try {
    await worker.start();
  } catch (error) {
    // The store must no longer list a worker that serves these names.
    await worker.drain();
    throw error;
  }
  return worker;
}

export class RunningWorker {
  readonly #options: WorkerOptions;
  readonly #host: Host;
  readonly #code: ServedCode;
  readonly #wakeUps: WakeUps;
  readonly #concurrency: number;
  readonly #leaseMs: number;
  readonly #takeovers: TakeoverStatements;
  readonly #ready: ReadyRuns;
  readonly #active: ActiveRuns;
  readonly #dueTimes: DueTimes;
  readonly #startedAtMs = Date.now();
  #state: WorkerStatus["state"] = "active";
  #lastError: string | null = null;
  #isPumping = false;
  #isAsked = false;
  #sweepTimer: NodeJS.Timeout | undefined;
  #nextSweepAt = Infinity;
  #lookTimer: NodeJS.Timeout | undefined;
  #neighbourTimer: NodeJS.Timeout | undefined;
  #neighbours: readonly ProcessIdentity[] = [];
  #idleListeners: (() => void)[] = [];
  /** Nothing was ready when it last looked. */
  #foundNothing = false;

  constructor(options: WorkerOptions, host: Host, code: ServedCode, wakeUps: WakeUps) {
    this.#options = options;
    this.#host = host;
    this.#code = code;
    this.#wakeUps = wakeUps;
    this.#concurrency = options.concurrency ?? DEFAULT_CONCURRENCY;
    this.#leaseMs = options.leaseMs ?? DEFAULT_LEASE_MS;
    this.#takeovers = takeoverStatements(code.served);
    this.#ready = new ReadyRuns(host, options, code.served, 2 * this.#concurrency + 4);
    this.#dueTimes = new DueTimes(
      host.store,
      (inMs) => {
        if (performance.now() + inMs < this.#nextSweepAt) this.#sweepIn(inMs);
      },
      (error) => this.#failed(error),
    );
    this.#active = new ActiveRuns({
      host,
      options,
      code,
      leaseMs: this.#leaseMs,
      skip: (runId, ms) => this.#ready.skip(runId, ms),
      onOther: (run) => this.#ready.skipOther(run, this.#leaseMs),
      onEnded: (runId) => this.#dueTimes.fireAfter(runId),
      onFailed: (runId, error) => {
        this.#failed(error);
        // The run is released as soon as the store answers. Do not keep taking it before that.
        this.#ready.skip(runId, RETRY_MS);
        this.#sweepIn(RETRY_MS);
      },
    });
  }

  async start(): Promise<void> {
    const { store } = this.#host;
    this.#host.isRootShared = this.#options.sharedRoot === true;
    await this.#host.becomeWorker(this.#leaseMs);
    await this.#register();
    this.#watchLease();
    await sweepOrphans(this.#host, this.#takeovers);
    await store.transaction(unparkRuns, "normal");
    await this.#dueTimes.start();
    await this.#wakeUps.start(() => this.wake());
    this.#neighbourTimer = setInterval(() => {
      if (!isAnyGone(this.#neighbours)) return;
      this.#neighbours = [];
      this.#sweepIn(0);
      // It also keeps the program running, as a server does, until the worker is drained.
    }, NEIGHBOUR_MS);
    await this.#sweep();
    this.wake();
  }

  status(): WorkerStatus {
    return {
      workerId: this.#host.ownerId,
      state: this.#state,
      engine: this.#wakeUps.engine,
      build: this.#options.build ?? null,
      labels: this.#options.labels ?? {},
      concurrency: this.#concurrency,
      running: this.#active.list(),
      claimed: this.#active.claimed,
      lastError: this.#lastError,
    };
  }

  /** Something may be ready. */
  wake(): void {
    this.#ready.forget();
    this.#dueTimes.lookSoon();
    this.#look();
  }

  async idle(): Promise<void> {
    this.wake();
    await new Promise<void>((resolve) => {
      this.#idleListeners.push(resolve);
    });
  }

  async drain(): Promise<void> {
    if (this.#state !== "active") return;
    this.#state = "draining";
    clearTimeout(this.#sweepTimer);
    clearTimeout(this.#lookTimer);
    this.#dueTimes.stop();
    clearInterval(this.#neighbourTimer);
    await this.#register().catch((error: unknown) => this.#failed(error));
    this.#active.request();
    const { drainMs = DEFAULT_DRAIN_MS } = this.#options;
    await this.#active.allEnded(drainMs);
    this.#active.cutOff(new Released());
    await this.#active.allEnded(CUT_OFF_MS);
    await this.#wakeUps.stop();
    await this.#host.store
      .transaction(() => deleteWorker(this.#host.ownerId), "normal")
      .catch((error: unknown) => this.#failed(error));
    this.#host.hasWorker = false;
    this.#state = "stopped";
    this.#tellIdle();
  }

  async #register(): Promise<void> {
    const host = this.#host;
    const { build, labels = {}, sharedRoot = false } = this.#options;
    await host.store.transaction(
      () =>
        saveWorker({
          ownerId: host.ownerId,
          name: `${hostname()}:${process.pid}`,
          build: build ?? null,
          labelsJson: JSON.stringify(labels),
          servesJson: JSON.stringify(this.#code.served),
          sharedRoot,
          concurrency: this.#concurrency,
          state: this.#state === "active" ? "active" : "draining",
          startedAtMs: this.#startedAtMs,
        }),
      "normal",
    );
  }

  get #hasRoom(): boolean {
    return this.#active.size < this.#concurrency;
  }

  #look(): void {
    this.#isAsked = true;
    this.#foundNothing = false;
    if (this.#isPumping || this.#state !== "active") return;
    this.#isPumping = true;
    void this.#pump().finally(() => {
      this.#isPumping = false;
      if (this.#isAsked && this.#state === "active" && this.#hasRoom) this.#look();
      else this.#tellIdle();
    });
  }

  async #pump(): Promise<void> {
    this.#isAsked = false;
    if (!this.#hasRoom) return;
    try {
      const found = await this.#ready.look((runId) => this.#active.has(runId));
      if (this.#state !== "active") return;
      this.#lastError = null;
      this.#foundNothing = found === 0;
      this.#lookIn(this.#ready.nextOwnInMs);
      while (this.#takeNext());
    } catch (error) {
      this.#failed(error);
      this.#sweepIn(RETRY_MS);
    }
  }

  /** `false` when it has no place, or has to look again. */
  #takeNext(): boolean {
    if (!this.#hasRoom || this.#state !== "active") return false;
    const run = this.#ready.next();
    if (run === undefined) return false;
    if (!this.#active.has(run.runId))
      this.#active.take(run, () => {
        // What the last look found is tried first; a wake-up looks again.
        if (!this.#takeNext()) this.wake();
      });
    return true;
  }

  #lookIn(ms: number): void {
    clearTimeout(this.#lookTimer);
    if (ms < Infinity) this.#lookTimer = setTimeout(() => this.#look(), ms).unref();
  }

  #failed(error: unknown): void {
    this.#lastError = messageOf(error);
  }

  /** The runs of this worker may belong to another one from now on. */
  #watchLease(): void {
    const signal = this.#host.fencedSignal();
    signal.addEventListener(
      "abort",
      () => {
        this.#active.cutOff(signal.reason as Error);
        if (this.#state !== "stopped") this.#watchLease();
      },
      { once: true },
    );
  }

  #sweepIn(ms: number): void {
    if (this.#state !== "active") return;
    clearTimeout(this.#sweepTimer);
    this.#nextSweepAt = performance.now() + ms;
    this.#sweepTimer = setTimeout(() => void this.#sweep(), ms).unref();
  }

  async #sweep(): Promise<void> {
    // Every lease that ends before the next sweep has been seen by then, with the time of its end.
    let nextMs = SWEEPS * this.#leaseMs;
    try {
      const swept = await sweep(this.#host, this.#takeovers);
      this.#neighbours = swept.neighbours;
      const { nextInMs } = await this.#dueTimes.fire();
      nextMs = Math.min(nextMs, swept.nextMs + LEAST_SWEEP_MS, nextInMs ?? Infinity);
      // Even when nothing was found: a wake-up may have been lost.
      this.#look();
      await this.#wakeUps.sweep();
      // Even if it has no place for another run, and so does not look for one.
      this.#lastError = null;
    } catch (error) {
      this.#failed(error);
      nextMs = RETRY_MS;
    }
    this.#sweepIn(Math.max(nextMs, LEAST_SWEEP_MS));
  }

  #tellIdle(): void {
    const isIdle = this.#active.size === 0 && (this.#foundNothing || this.#state === "stopped");
    if (!isIdle || this.#isPumping) return;
    for (const tell of this.#idleListeners.splice(0)) tell();
  }
}
