/**
 * A worker at work: takes ready runs while it has free places, drives them, and gives them back when it drains or loses its
 * lease. It survives the loss of its database.
 */
import { hostname } from "node:os";
import { messageOf } from "../invoke/error-record.ts";
import type { Host } from "../invoke/host.ts";
import { Released, RunRelease } from "../invoke/run-release.ts";
import { ToolwrightError } from "../errors.ts";
import { hostOf } from "../runtime/create-runtime.ts";
import type { ProcessIdentity } from "../runtime/process-identity.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { listReady, parkRun, type ReadyRun, readyStatement, unparkRuns } from "../store/tables/queue.ts";
import type { RunKind } from "../store/run-words.ts";
import type { Labels } from "../store/tables/runs.ts";
import { deleteWorker, saveWorker } from "../store/tables/workers.ts";
import { listWorkers } from "../operate/list-workers.ts";
import { toTerminalLine } from "../terminal/terminal-text.ts";
import { claimForWorker } from "../workflow/claim-for-worker.ts";
import { runProgram } from "./claim-program.ts";
import { DueTimes } from "./due-times.ts";
import type { WorkerOptions } from "./options.ts";
import { loadServed, type ServedCode } from "./served.ts";
import { isAnyGone, sweep, sweepOrphans } from "./sweep.ts";
import type { WakeUps } from "./wake-up.ts";

export interface WorkerStatus {
  /** `null` before it has started. */
  readonly workerId: string | null;
  readonly state: "active" | "draining" | "stopped";
  /** What wakes it: `pg-boss` on PostgreSQL, `sqlite` on a file. */
  readonly engine: string | null;
  readonly build: string | null;
  readonly labels: Labels;
  readonly concurrency: number;
  readonly running: readonly { readonly runId: string; readonly kind: RunKind; readonly name: string }[];
  /** How many runs it has claimed since it started. */
  readonly claimed: number;
  /** The last failure of its store or queue. `null` once they work again. */
  readonly lastError: string | null;
}

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
/** Names may come from inputs: the statement must not grow without end. */
const MOST_OTHER_NAMES = 100;
/** Another worker was faster: its claim may not be visible yet. */
const LOST_MS = 250;

export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { runtime, leaseMs = DEFAULT_LEASE_MS } = options;
  const code = await loadServed(options);
  await runtime.ready();
  const host = await hostOf(runtime);
  const worker = new RunningWorker(options, host, code, await createWakeUps(host, leaseMs));
  await worker.start();
  return worker;
}

/** The queue engine is loaded only where it is needed. */
async function createWakeUps({ store }: Host, leaseMs: number): Promise<WakeUps> {
  if (store.dialect === "sqlite") {
    const { SqliteWakeUps } = await import("./sqlite-wake-ups.ts");
    return new SqliteWakeUps(store);
  }
  const address = store.connectionString;
  if (address === undefined)
    throw new ToolwrightError(
      "TOOL_STORE_FAILED",
      "A worker needs a PostgreSQL store that knows its address.",
      {
        hint: 'Open the store with createRuntime({ store: "postgres://…" }) or openPostgresStore.',
      },
    );
  const { PostgresWakeUps } = await import("./postgres-wake-ups.ts");
  return new PostgresWakeUps(store, address, leaseMs);
}

interface AtWork {
  readonly run: ReadyRun;
  readonly release: RunRelease;
  readonly ended: Promise<void>;
}

export class RunningWorker {
  readonly #options: WorkerOptions;
  readonly #runtime: Runtime;
  readonly #host: Host;
  readonly #code: ServedCode;
  readonly #wakeUps: WakeUps;
  readonly #concurrency: number;
  readonly #leaseMs: number;
  #statement: string;
  /** Names of runs that have the code of a served workflow, and are of another workflow in the same file. */
  readonly #otherNames = new Set<string>();
  readonly #atWork = new Map<string, AtWork>();
  /** What the last look has found and no place was free for, in order. */
  #next: ReadyRun[] = [];
  /** Runs that another worker has to take, and until when. */
  readonly #notMine = new Map<string, number>();
  #state: WorkerStatus["state"] = "active";
  #claimed = 0;
  #lastError: string | null = null;
  #isPumping = false;
  #isAsked = false;
  #sweepTimer: NodeJS.Timeout | undefined;
  #nextSweepAt = Infinity;
  readonly #dueTimes: DueTimes;
  #neighbourTimer: NodeJS.Timeout | undefined;
  #neighbours: readonly ProcessIdentity[] = [];
  #idleListeners: (() => void)[] = [];
  /** Nothing was ready when it last looked. */
  #foundNothing = false;

  constructor(options: WorkerOptions, host: Host, code: ServedCode, wakeUps: WakeUps) {
    this.#options = options;
    this.#runtime = options.runtime;
    this.#host = host;
    this.#code = code;
    this.#wakeUps = wakeUps;
    this.#concurrency = options.concurrency ?? DEFAULT_CONCURRENCY;
    this.#leaseMs = options.leaseMs ?? DEFAULT_LEASE_MS;
    this.#dueTimes = new DueTimes(
      host.store,
      (inMs) => {
        if (performance.now() + inMs < this.#nextSweepAt) this.#sweepIn(inMs);
      },
      (error) => this.#failed(error),
    );
    this.#statement = this.#readyStatement();
  }

  #readyStatement(): string {
    return readyStatement(this.#code.served, 2 * this.#concurrency + 4, this.#otherNames);
  }

  async start(): Promise<void> {
    const { store } = this.#host;
    this.#host.isRootShared = this.#options.sharedRoot === true;
    await this.#host.becomeWorker(this.#leaseMs);
    await this.#register();
    this.#watchLease();
    await sweepOrphans(this.#host);
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
      running: [...this.#atWork.values()].map(({ run: { runId, kind, name } }) => ({ runId, kind, name })),
      claimed: this.#claimed,
      lastError: this.#lastError,
    };
  }

  /** Something may be ready. */
  wake(): void {
    this.#next = [];
    this.#dueTimes.lookSoon();
    this.#look();
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
    this.#dueTimes.stop();
    clearInterval(this.#neighbourTimer);
    await this.#register().catch((error: unknown) => this.#failed(error));
    for (const { release } of this.#atWork.values()) release.request();
    const { drainMs = DEFAULT_DRAIN_MS } = this.#options;
    await this.#allEnded(drainMs);
    for (const { release } of this.#atWork.values()) release.now(new Released());
    await this.#allEnded(CUT_OFF_MS);
    await this.#wakeUps.stop();
    await this.#host.store
      .transaction(() => deleteWorker(this.#host.ownerId), "normal")
      .catch((error: unknown) => this.#failed(error));
    this.#state = "stopped";
    this.#tellIdle();
  }

  get #hasRoom(): boolean {
    return this.#atWork.size < this.#concurrency;
  }

  async #allEnded(ms: number): Promise<void> {
    if (this.#atWork.size === 0) return;
    const over = Promise.withResolvers<void>();
    const timer = setTimeout(over.resolve, ms);
    await Promise.race([Promise.all([...this.#atWork.values()].map(({ ended }) => ended)), over.promise]);
    clearTimeout(timer);
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

  readonly #startedAtMs = Date.now();

  async #pump(): Promise<void> {
    this.#isAsked = false;
    if (!this.#hasRoom) return;
    try {
      const ready = await this.#listReady();
      if (this.#state !== "active") return;
      this.#next = ready.filter(({ runId }) => !this.#atWork.has(runId) && !this.#isNotMine(runId));
      this.#lastError = null;
      this.#foundNothing = this.#next.length === 0;
      while (this.#takeNext());
    } catch (error) {
      this.#failed(error);
      this.#sweepIn(RETRY_MS);
    }
  }

  /** `false` when it has no place, or has to look again. */
  #takeNext(): boolean {
    if (!this.#hasRoom || this.#state !== "active") return false;
    const run = this.#next.shift();
    if (run === undefined) return false;
    if (!this.#atWork.has(run.runId)) this.#take(run);
    return true;
  }

  #listReady(): Promise<ReadyRun[]> {
    const traits = {
      host: this.#host.machine,
      build: this.#options.build ?? null,
      sharedRoot: this.#options.sharedRoot === true,
    };
    return this.#host.store.read(() => listReady(this.#statement, traits));
  }

  #isNotMine(runId: string): boolean {
    const until = this.#notMine.get(runId);
    if (until === undefined) return false;
    if (until > performance.now()) return true;
    this.#notMine.delete(runId);
    return false;
  }

  #skip(runId: string, ms: number): void {
    this.#notMine.set(runId, performance.now() + ms);
  }

  #take(run: ReadyRun): void {
    const release = new RunRelease();
    const ended = this.#drive(run, release)
      .catch((error: unknown) => this.#runFailed(run, error))
      .then(() => this.#dueTimes.fireAfter(run.runId))
      .finally(() => {
        this.#atWork.delete(run.runId);
        // What the last look found is tried first; a wake-up looks again.
        if (!this.#takeNext()) this.wake();
      });
    this.#atWork.set(run.runId, { run, release, ended });
  }

  async #drive(run: ReadyRun, release: RunRelease): Promise<void> {
    const host = this.#host;
    const { runId } = run;
    let isClaimed = false;
    const onClaimed = (): void => {
      isClaimed = true;
      this.#claimed += 1;
    };
    const found = this.#code.find(run);
    const common = { host, runtime: this.#runtime, runId, release, onClaimed };
    if (found !== undefined && found.kind !== "workflow") {
      await runProgram({ ...common, program: found.program });
      if (!isClaimed) this.#skip(runId, LOST_MS);
      return;
    }
    const own = { release };
    host.claimed.set(runId, own);
    try {
      const build = this.#options.build ?? null;
      const isByCode = found === undefined;
      for (const candidate of isByCode ? this.#code.findByCode(run) : [found]) {
        if (candidate.kind !== "workflow") continue;
        const claim = await claimForWorker({ ...common, ...candidate.workflow, build, isByCode });
        if (claim.kind === "other") continue;
        if (claim.kind === "changed") await this.#leave(run, claim.run.shape);
        else if (!isClaimed) this.#skip(runId, LOST_MS);
        return;
      }
      this.#isOther(run);
    } finally {
      if (host.claimed.get(runId) === own) host.claimed.delete(runId);
    }
  }

  /** No workflow of this worker is that of the run: it does not look for runs of this name again. */
  #isOther({ runId, name }: ReadyRun): void {
    this.#skip(runId, this.#leaseMs);
    if (this.#otherNames.size >= MOST_OTHER_NAMES) return;
    this.#otherNames.add(name);
    this.#statement = this.#readyStatement();
  }

  /** The code of the run has changed: a worker with the old code may take it. If there is none, the run is parked. */
  async #leave({ runId, name }: ReadyRun, shape: string): Promise<void> {
    const { store, ownerId } = this.#host;
    const workers = await listWorkers(store);
    const isServed = workers.some(
      ({ workerId, status, serves }) =>
        workerId !== ownerId &&
        status === "active" &&
        serves.some(
          (one) =>
            one.kind === "workflow" && (one.code === shape || (one.name === name && one.code === undefined)),
        ),
    );
    this.#skip(runId, this.#leaseMs);
    if (!isServed) await store.transaction(() => parkRun(runId, "changed"), "normal");
  }

  #runFailed({ runId }: ReadyRun, error: unknown): void {
    if (error instanceof Released) return;
    if (ToolwrightError.is(error) && (error.code === "TOOL_RUN_FENCED" || error.code === "TOOL_RUN_CONFLICT"))
      return;
    this.#failed(error);
    console.error(`toolwright: worker: run ${toTerminalLine(runId)}: ${toTerminalLine(messageOf(error))}`);
    // The run is released as soon as the store answers. Do not take it again and again before that.
    this.#skip(runId, RETRY_MS);
    this.#sweepIn(RETRY_MS);
  }

  #failed(error: unknown): void {
    this.#lastError = messageOf(error);
  }

  /** What this worker is at work on may belong to another one from now on. */
  #watchLease(): void {
    const signal = this.#host.fencedSignal();
    signal.addEventListener(
      "abort",
      () => {
        for (const { release } of this.#atWork.values()) release.now(signal.reason as Error);
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
      const swept = await sweep(this.#host);
      this.#neighbours = swept.neighbours;
      const { nextInMs } = await this.#dueTimes.fire();
      nextMs = Math.min(nextMs, swept.nextMs + LEAST_SWEEP_MS, nextInMs ?? Infinity);
      // Also when nothing was found: a wake-up may have been lost.
      this.#look();
      await this.#wakeUps.sweep();
    } catch (error) {
      this.#failed(error);
      nextMs = RETRY_MS;
    }
    this.#sweepIn(Math.max(nextMs, LEAST_SWEEP_MS));
  }

  #tellIdle(): void {
    const isIdle = this.#atWork.size === 0 && (this.#foundNothing || this.#state === "stopped");
    if (!isIdle || this.#isPumping) return;
    for (const tell of this.#idleListeners.splice(0)) tell();
  }
}
