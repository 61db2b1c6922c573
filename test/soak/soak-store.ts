/** A soak of one store: processes, jobs and faults, then quiet, then the audit. */
import { setTimeout as sleep } from "node:timers/promises";
import { createRuntime } from "../../src/index.ts";
import type { Random } from "../random.ts";
import { Approver } from "./approver.ts";
import { audit } from "./audit.ts";
import type { BuiltPrograms } from "./build-programs.ts";
import type { Database } from "./database.ts";
import { type JobHost, runJob, STEADY } from "./jobs.ts";
import type { Ledger } from "./ledger.ts";
import { type Job, type JobKind, LEASE_MS, planFault, planJob, type Role } from "./plan.ts";
import { Slot } from "./slot.ts";
import type { Tally } from "./tally.ts";

/** How many processes and jobs there are at a time. */
export interface Scale {
  readonly workers: number;
  readonly lanes: Readonly<Record<JobKind, number>>;
}

export interface SoakStoreOptions {
  readonly database: Database;
  readonly random: Random;
  readonly scale: Scale;
  readonly programs: BuiltPrograms;
  readonly ledger: Ledger;
  readonly modelUrl: string;
  readonly rootDir: string;
  readonly tally: Tally;
  /** Aborted when the faults end. */
  readonly faultsOver: AbortSignal;
}

/** Without faults something happens all the time, even on a slow machine, until every job has ended. */
const LONGEST_QUIET_MS = 120_000;
const LONGEST_DRAIN_MS = 120_000;
/** Never stopped, so its lease ends only if the machine is very slow. */
const STEADY_LEASE_MS = 30_000;

export async function soakStore(options: SoakStoreOptions): Promise<void> {
  const { database, tally, scale, ledger } = options;
  await using runtime = createRuntime({ store: database.directAddress, rootDir: options.rootDir });
  await runtime.ready();
  const slot = (role: Role, number: number, more: { suffix?: string; leaseMs?: number } = {}): Slot =>
    new Slot({
      store: database.name,
      role,
      number,
      file: options.programs.fileOf(role),
      random: options.random,
      input: {
        store: database.address,
        modelUrl: options.modelUrl,
        rootDir: options.rootDir,
        suffix: "",
        leaseMs: LEASE_MS,
        runId: "",
        steps: [],
        ...more,
      },
      ledger,
      tally,
      limitsPages: database.limitsPages,
    });
  const chat = slot("chat", 1);
  const server = slot("server", 1);
  const workers = Array.from({ length: scale.workers }, (_, n) => slot("worker", n + 1));
  const steady = slot("steady-worker", 1, { suffix: STEADY, leaseMs: STEADY_LEASE_MS });
  const kept = [chat, server, steady, ...workers];
  const scripts = Array.from({ length: scale.lanes.script }, (_, n) => slot("script", n + 1));
  const cut = new AbortController();
  const host: JobHost = {
    runtime,
    chat,
    server,
    tally,
    signal: cut.signal,
  };
  const approver = new Approver({ runtime, server, ledger, tally });
  const lanes = new Lanes(options, host, scripts);
  try {
    for (const one of kept) one.start();
    approver.start();
    const running = lanes.run();
    await suffer(options);
    for (const one of [...kept, ...scripts]) one.quiet();
    tally.trace(`${database.name} database is quiet`);
    await untilStill(running, tally);
    await lanes.reportOpen();
    cut.abort();
    await approver.stop();
    await Promise.all(kept.map((one) => one.end(LONGEST_DRAIN_MS)));
    const { jobs } = lanes;
    await audit({ store: database.name, runtime, jobs, ledger, tally, answered: approver.answered });
  } finally {
    cut.abort();
    for (const one of [...kept, ...scripts]) one.kill();
    await approver.stop();
  }
}

/** Resolves when the jobs have ended, or when none of them has made progress for a long time. */
async function untilStill(running: Promise<void>, tally: Tally): Promise<void> {
  for (let before = -1; before !== tally.progress;) {
    before = tally.progress;
    const end = await Promise.race([running, sleep(LONGEST_QUIET_MS, "late", { ref: false })]);
    if (end !== "late") return;
  }
}

/** Brings the planned faults on the database, until they are over. */
async function suffer({ database, random, tally, faultsOver }: SoakStoreOptions): Promise<void> {
  for (let n = 1; !faultsOver.aborted; n += 1) {
    const planned = planFault(random.fork(`${database.name} fault ${n}`), database.name);
    await sleep(planned.afterMs, undefined, { signal: faultsOver }).catch(() => undefined);
    if (faultsOver.aborted) return;
    tally.trace(`${database.name} database suffers ${planned.fault}`);
    const hasHappened = await database.suffer(planned);
    if (hasHappened) tally.count(planned.fault);
    tally.trace(`${database.name} database is back`);
  }
}

/** Jobs, several at a time: each lane does one after the other. */
class Lanes {
  readonly jobs: Job[] = [];
  readonly #open = new Set<Job>();
  readonly #options: SoakStoreOptions;
  readonly #host: JobHost;
  readonly #scripts: readonly Slot[];

  constructor(options: SoakStoreOptions, host: JobHost, scripts: readonly Slot[]) {
    this.#options = options;
    this.#host = host;
    this.#scripts = scripts;
  }

  async run(): Promise<void> {
    const kinds = Object.entries(this.#options.scale.lanes) as [JobKind, number][];
    const lanes = kinds.flatMap(([kind, count]) =>
      Array.from({ length: count }, (_, n) => this.#lane(kind, n + 1)),
    );
    await Promise.all(lanes);
  }

  /** The jobs that have not ended. */
  async reportOpen(): Promise<void> {
    const { tally, database } = this.#options;
    for (const { runId } of this.#open) {
      const described = await this.#host.runtime.describeRun(runId).catch((error: unknown) => String(error));
      tally.fail({
        kind: "stuck",
        store: database.name,
        about: runId,
        message: `made no progress for ${LONGEST_QUIET_MS} ms without faults`,
        evidence: { described, trace: tally.linesAbout(database.name, runId) },
      });
    }
  }

  async #lane(kind: JobKind, lane: number): Promise<void> {
    const { random, database, faultsOver, tally } = this.#options;
    const script = this.#scripts[kind === "script" ? lane - 1 : 0];
    for (let n = 1; n === 1 || !faultsOver.aborted; n += 1) {
      // The ledger is shared by the stores.
      const name = `${database.name}-${lane}-${n}`;
      const job = planJob(random.fork(`${kind} ${name}`), kind, name);
      this.jobs.push(job);
      this.#open.add(job);
      tally.count("jobs");
      try {
        if (script !== undefined) await runJob(job, this.#host, script);
        tally.count("jobs done");
      } catch (error) {
        if (this.#host.signal.aborted) return;
        tally.fail({
          kind: "failed",
          store: database.name,
          about: job.runId,
          message: String(error),
          evidence: { trace: tally.linesAbout(database.name, job.runId) },
        });
      }
      this.#open.delete(job);
    }
  }
}
