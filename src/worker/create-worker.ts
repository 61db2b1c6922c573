/** Creates a worker. What it needs is loaded when it starts. */
import { ToolwrightError } from "../errors.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { lazyModule } from "../util/lazy.ts";
import { checkWorkerOptions, type WorkerOptions } from "./options.ts";
import type { RunningWorker } from "./running-worker.ts";
import type { WorkerStatus } from "./worker-status.ts";

const running = lazyModule(() => import("./running-worker.ts"));

export interface Worker extends AsyncDisposable {
  /**
   * Registers the worker and starts to take runs. Rejects if the store or the queue cannot be used, if the runtime has another
   * worker, and after `drain`.
   */
  start(): Promise<void>;
  status(): WorkerStatus;
  /** Resolves when nothing is ready for this worker, and nothing is running. */
  idle(): Promise<void>;
  /**
   * Takes no more runs, and gives its runs back between two calls. Calls in flight have `drainMs` to end. The runtime
   * stays open.
   */
  drain(): Promise<void>;
}

/**
 * A worker takes runs that are ready: enqueued, interrupted, or woken by a decision, a signal or a timer. Any number of
 * workers can share a store.
 *
 * @example
 * const worker = createWorker({ runtime, workflows: { order: orderWorkflow } });
 * await worker.start();
 * process.once("SIGTERM", () => void worker.drain());
 */
export function createWorker(options: WorkerOptions): Worker {
  checkWorkerOptions(options);
  return new LazyWorker(options);
}

class LazyWorker implements Worker {
  readonly #options: WorkerOptions;
  #starting: Promise<RunningWorker> | undefined;
  #worker: RunningWorker | undefined;
  #draining: Promise<void> | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    if (this.#draining !== undefined)
      throw new ToolwrightError("TOOL_RUNTIME_CLOSED", "The worker was drained, and cannot start again.", {
        hint: "Create another worker with createWorker.",
      });
    this.#starting ??= this.#start();
    try {
      await this.#starting;
    } catch (error) {
      // The next start tries again: a database that was down may be back.
      this.#starting = undefined;
      throw error;
    }
  }

  status(): WorkerStatus {
    return this.#worker?.status() ?? notStarted(this.#options);
  }

  async idle(): Promise<void> {
    await (await this.#starting)?.idle();
  }

  drain(): Promise<void> {
    return (this.#draining ??= this.#drain());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.drain();
  }

  async #start(): Promise<RunningWorker> {
    const { startWorker } = await running.get();
    this.#worker = await startWorker(this.#options);
    return this.#worker;
  }

  async #drain(): Promise<void> {
    const worker = await this.#starting?.catch(() => undefined);
    await worker?.drain();
  }
}

function notStarted({
  concurrency = 4,
  build,
  labels = {},
}: { readonly runtime: Runtime } & WorkerOptions): WorkerStatus {
  return {
    workerId: null,
    state: "stopped",
    engine: null,
    build: build ?? null,
    labels,
    concurrency,
    running: [],
    claimed: 0,
    lastError: null,
  };
}
