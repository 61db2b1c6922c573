/** The runs that a worker has taken. It claims each one, drives it, and can give all of them back. */
import { messageOf } from "../invoke/error-record.ts";
import { emitTakeover } from "../invoke/emit-takeover.ts";
import type { Host } from "../invoke/host.ts";
import { Released, RunRelease } from "../invoke/run-release.ts";
import { ToolwrightError } from "../errors.ts";
import { listWorkers } from "../operate/list-workers.ts";
import { parkRun, type ReadyRun } from "../store/tables/queue.ts";
import { toTerminalLine } from "../terminal/terminal-text.ts";
import { claimForWorker } from "../workflow/claim-for-worker.ts";
import { runProgram } from "./claim-program.ts";
import type { WorkerOptions } from "./options.ts";
import type { ServedCode } from "./served.ts";
import type { WorkerStatus } from "./worker-status.ts";

/** Another worker was faster: its claim may not be visible yet. */
const LOST_MS = 250;

export interface TakingWorker {
  readonly host: Host;
  readonly options: WorkerOptions;
  readonly code: ServedCode;
  readonly leaseMs: number;
  /** Leaves the run to other workers for that long. */
  readonly skip: (runId: string, ms: number) => void;
  /** The run was found by its code, and belongs to another workflow in the same file. */
  readonly onOther: (run: ReadyRun) => void;
  /** The run could not be driven: the store failed. */
  onFailed(runId: string, error: unknown): void;
  /** A place is free. Must not reject. */
  onEnded(runId: string): Promise<void>;
}

interface ActiveRun {
  readonly run: ReadyRun;
  readonly release: RunRelease;
  readonly ended: Promise<void>;
}

export class ActiveRuns {
  readonly #worker: TakingWorker;
  readonly #active = new Map<string, ActiveRun>();
  #claimed = 0;

  constructor(worker: TakingWorker) {
    this.#worker = worker;
  }

  get size(): number {
    return this.#active.size;
  }

  /** How many runs were claimed so far. */
  get claimed(): number {
    return this.#claimed;
  }

  has(runId: string): boolean {
    return this.#active.has(runId);
  }

  list(): WorkerStatus["running"] {
    return [...this.#active.values()].map(({ run: { runId, kind, name } }) => ({ runId, kind, name }));
  }

  take(run: ReadyRun, onFree: () => void): void {
    const release = new RunRelease();
    const { telemetry } = this.#worker.host;
    const drive = (): Promise<void> => this.#drive(run, release);
    // Each activation is a separate trace, whatever started the worker or woke it up.
    const ended = (telemetry === undefined ? drive() : telemetry.apart(drive))
      .catch((error: unknown) => this.#runFailed(run, error))
      .then(() => this.#worker.onEnded(run.runId))
      .finally(() => {
        this.#active.delete(run.runId);
        onFree();
      });
    this.#active.set(run.runId, { run, release, ended });
  }

  /** Gives every run back between two of its calls. */
  request(): void {
    for (const { release } of this.#active.values()) release.request();
  }

  /** Gives every run back immediately. */
  cutOff(reason: Error): void {
    for (const { release } of this.#active.values()) release.now(reason);
  }

  async allEnded(ms: number): Promise<void> {
    if (this.#active.size === 0) return;
    const over = Promise.withResolvers<void>();
    const timer = setTimeout(over.resolve, ms);
    await Promise.race([Promise.all([...this.#active.values()].map(({ ended }) => ended)), over.promise]);
    clearTimeout(timer);
  }

  async #drive(run: ReadyRun, release: RunRelease): Promise<void> {
    const { host, options, code, skip } = this.#worker;
    const { runId } = run;
    let isClaimed = false;
    const onClaimed = (takeovers?: number): void => {
      isClaimed = true;
      this.#claimed += 1;
      emitClaim(host, run);
      emitTakeover(host, { ...run, takeovers });
    };
    const found = code.find(run);
    const common = { host, runtime: options.runtime, runId, release, onClaimed };
    if (found !== undefined && found.kind !== "workflow") {
      await runProgram({ ...common, program: found.program });
      if (!isClaimed) skip(runId, LOST_MS);
      return;
    }
    const own = { release };
    host.claimed.set(runId, own);
    try {
      const build = options.build ?? null;
      const isByCode = found === undefined;
      for (const candidate of isByCode ? code.findByCode(run) : [found]) {
        if (candidate.kind !== "workflow") continue;
        const claim = await claimForWorker({ ...common, ...candidate.workflow, build, isByCode });
        if (claim.kind === "other") continue;
        if (claim.kind === "changed") await this.#leave(run, claim.run.shape);
        else if (!isClaimed) skip(runId, LOST_MS);
        return;
      }
      this.#worker.onOther(run);
    } finally {
      if (host.claimed.get(runId) === own) host.claimed.delete(runId);
    }
  }

  /** The code of the run has changed: a worker with the old code may take it. If there is none, the run is parked. */
  async #leave({ runId, name }: ReadyRun, shape: string): Promise<void> {
    const { host, leaseMs, skip } = this.#worker;
    const { store, ownerId } = host;
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
    skip(runId, leaseMs);
    if (!isServed) await store.transaction(() => parkRun(runId, "changed"), "normal");
  }

  #runFailed({ runId }: ReadyRun, error: unknown): void {
    if (error instanceof Released) return;
    if (ToolwrightError.is(error) && (error.code === "TOOL_RUN_FENCED" || error.code === "TOOL_RUN_CONFLICT"))
      return;
    console.error(`toolwright: worker: run ${toTerminalLine(runId)}: ${toTerminalLine(messageOf(error))}`);
    this.#worker.onFailed(runId, error);
  }
}

function emitClaim(host: Host, { runId, kind, waitedMs, listedMs }: ReadyRun): void {
  if (!host.isWatched()) return;
  const waited = Math.round(waitedMs + performance.now() - listedMs);
  host.emit({ type: "run-claimed", at: host.clock.now(), runId, kind, waitedMs: waited });
}
