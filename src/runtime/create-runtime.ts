/** Makes a runtime. The parts that need a store are loaded when it is first used. */
import type { Approval } from "../invoke/approval.ts";
import type { EventListener } from "../invoke/events.ts";
import type { Outcome } from "../invoke/outcome.ts";
import type { ApprovalFilter } from "../store/approvals.ts";
import type { ToolLike } from "../tool/from-tool.ts";
import { ToolwrightError } from "../errors.ts";
import { Lazy } from "../util/lazy.ts";
import type { ApprovalDecision } from "./approvals.ts";
import type { CallFilter, LoggedCall } from "./log.ts";
import { checkRuntimeOptions, type RuntimeOptions } from "./options.ts";
import type { Runtime, RuntimeCallOptions, RunScopeOptions, TaskIdentity } from "./runtime.ts";
import type { StoreRuntime } from "./store-runtime.ts";

/**
 * A runtime: one store, one set of limits, one owner. Tools called in it are on record, and their effects happen once.
 *
 * @example
 * await using runtime = createRuntime({ store: "app.db" });
 * const outcome = await runtime.call(placeOrder, { sku: "apple" }, { runId: "monday" });
 */
export function createRuntime(options: RuntimeOptions = {}): Runtime {
  checkRuntimeOptions(options);
  return new LazyRuntime(options);
}

class LazyRuntime implements Runtime {
  readonly #listeners = new Set<EventListener>();
  readonly #inner: Lazy<StoreRuntime>;
  #closed = false;

  constructor(options: RuntimeOptions) {
    this.#inner = new Lazy(async () => {
      const { StoreRuntime } = await import("./store-runtime.ts");
      return new StoreRuntime(options, this.#listeners);
    });
  }

  async call(tool: ToolLike, args: unknown, options: RuntimeCallOptions = {}): Promise<Outcome<never>> {
    return (this.#ready() ?? (await this.#inner.get())).call(tool, args, options);
  }

  async run<T>(task: RunScopeOptions, work: () => T | PromiseLike<T>): Promise<T> {
    return (this.#ready() ?? (await this.#inner.get())).run(task, work);
  }

  async approvals(filter: ApprovalFilter = {}): Promise<Approval[]> {
    return (this.#ready() ?? (await this.#inner.get())).approvals(filter);
  }

  async resolveToolApproval(id: string, decision: ApprovalDecision): Promise<Approval> {
    return (this.#ready() ?? (await this.#inner.get())).resolveToolApproval(id, decision);
  }

  async calls(filter: CallFilter = {}): Promise<LoggedCall[]> {
    return (this.#ready() ?? (await this.#inner.get())).calls(filter);
  }

  async fullOutput(key: string): Promise<unknown> {
    return (this.#ready() ?? (await this.#inner.get())).fullOutput(key);
  }

  async retryWarning(task: TaskIdentity): Promise<string> {
    return (this.#ready() ?? (await this.#inner.get())).retryWarning(task);
  }

  async ready(): Promise<void> {
    return (this.#ready() ?? (await this.#inner.get())).ready();
  }

  subscribe(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#inner.isAsked) await (await this.#inner.get()).dispose();
  }

  #ready(): StoreRuntime | undefined {
    if (this.#closed) {
      throw new ToolwrightError("TOOL_RUNTIME_CLOSED", "This runtime was disposed and takes no more calls.", {
        effect: "none",
      });
    }
    return this.#inner.value;
  }
}
