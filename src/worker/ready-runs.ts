/**
 * The ready runs that a worker may take, in order: the result of its last query, without runs that other workers must
 * take.
 */
import type { Host } from "../invoke/host.ts";
import { listReady, type ReadyRun, readyStatement, type Served } from "../store/tables/queue.ts";
import type { WorkerOptions } from "./options.ts";

/** Names may come from inputs: the statement must not grow without limit. */
const MOST_OTHER_NAMES = 100;

export class ReadyRuns {
  readonly #host: Host;
  readonly #options: WorkerOptions;
  readonly #served: readonly Served[];
  readonly #limit: number;
  #statement: string;
  /** Names of runs that have the code of a served workflow, and are of another workflow in the same file. */
  readonly #otherNames = new Set<string>();
  #found: ReadyRun[] = [];
  /** Runs that another worker has to take, and until when. */
  readonly #notMine = new Map<string, number>();
  #nextOwnAt = Infinity;

  constructor(host: Host, options: WorkerOptions, served: readonly Served[], limit: number) {
    this.#host = host;
    this.#options = options;
    this.#served = served;
    this.#limit = limit;
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
    this.#nextOwnAt = Infinity;
    this.#found = ready.filter(({ runId }) => !isAtWork(runId) && !this.#isNotMine(runId));
    return this.#found.length;
  }

  next(): ReadyRun | undefined {
    return this.#found.shift();
  }

  /**
   * In how many milliseconds this worker may take a ready run that its last look left to others. Until then nothing else
   * wakes it for that run: the notification may have come already.
   */
  get nextOwnInMs(): number {
    return Math.max(0, this.#nextOwnAt - performance.now());
  }

  /** Something has changed: the runs that were found may be out of order. */
  forget(): void {
    this.#found = [];
  }

  /** Leaves the run to other workers for that long. */
  skip(runId: string, ms: number): void {
    this.#notMine.set(runId, performance.now() + ms);
  }

  /** No workflow of this worker matches the run: it does not look for runs of this name again. */
  skipOther({ runId, name }: ReadyRun, ms: number): void {
    this.skip(runId, ms);
    if (this.#otherNames.size >= MOST_OTHER_NAMES) return;
    this.#otherNames.add(name);
    this.#statement = readyStatement(this.#served, this.#limit, this.#otherNames);
  }

  #isNotMine(runId: string): boolean {
    const until = this.#notMine.get(runId);
    if (until === undefined) return false;
    if (until <= performance.now()) {
      this.#notMine.delete(runId);
      return false;
    }
    this.#nextOwnAt = Math.min(this.#nextOwnAt, until);
    return true;
  }
}
