/** A worker in the process of the server. A store that cannot be opened yet is tried again. */
import { ToolwrightError } from "../errors.ts";
import { messageOf } from "../invoke/error-record.ts";
import { toTerminalLine } from "../terminal/terminal-text.ts";
import { createWorker, type Worker } from "../worker/create-worker.ts";
import type { Backend } from "./backend.ts";
import type { ServedWorkflows } from "./workflow-runs.ts";

const RETRY_MS = 5_000;

export class ServerWorker {
  readonly #backend: Backend;
  readonly #workflows: ServedWorkflows;
  #worker: Worker | undefined;
  #starting: Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(backend: Backend, workflows: ServedWorkflows) {
    this.#backend = backend;
    this.#workflows = workflows;
    this.#starting = this.#start();
  }

  /** Gives the runs in progress back. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#starting;
    await this.#worker?.drain();
  }

  async #start(): Promise<void> {
    try {
      await this.#backend.use(async ({ runtime }) => {
        const worker = createWorker({ runtime, workflows: this.#workflows });
        await worker.start();
        this.#worker = worker;
      });
    } catch (error) {
      const hint = ToolwrightError.is(error) ? ` ${error.hint}` : "";
      console.error(
        `toolwright: the worker of the server cannot start: ${toTerminalLine(messageOf(error) + hint)}`,
      );
      if (this.#isClosed) return;
      this.#timer = setTimeout(() => {
        this.#starting = this.#start();
      }, RETRY_MS).unref();
    }
  }
}
