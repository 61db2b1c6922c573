/** The ready runs that a worker may take, in order: what its last look has found, without those that are not its own. */
import type { Host } from "../invoke/host.ts";
import { listReady, type ReadyRun, readyStatement, type Served } from "../store/tables/queue.ts";
import type { WorkerOptions } from "./options.ts";

export class ReadyRuns {
  readonly #host: Host;
  readonly #options: WorkerOptions;
  readonly #statement: string;
  #found: ReadyRun[] = [];
  /** Runs that another worker has to take, and until when. */
  readonly #notMine = new Map<string, number>();

  constructor(host: Host, options: WorkerOptions, served: readonly Served[], limit: number) {
    this.#host = host;
    this.#options = options;
    this.#statement = readyStatement(served, limit);
  }

  /** Reads the queue. Returns how many runs were found. */
  async look(isAtWork: (runId: string) => boolean): Promise<number> {
    const traits = {
      host: this.#host.machine,
      build: this.#options.build ?? null,
      sharedRoot: this.#options.sharedRoot === true,
    };
    const ready = await this.#host.store.read(() => listReady(this.#statement, traits));
    this.#found = ready.filter(({ runId }) => !isAtWork(runId) && !this.#isNotMine(runId));
    return this.#found.length;
  }

  next(): ReadyRun | undefined {
    return this.#found.shift();
  }

  /** Something has changed: what was found may be out of order. */
  forget(): void {
    this.#found = [];
  }

  /** Leaves the run to other workers for so long. */
  skip(runId: string, ms: number): void {
    this.#notMine.set(runId, performance.now() + ms);
  }

  #isNotMine(runId: string): boolean {
    const until = this.#notMine.get(runId);
    if (until === undefined) return false;
    if (until > performance.now()) return true;
    this.#notMine.delete(runId);
    return false;
  }
}
