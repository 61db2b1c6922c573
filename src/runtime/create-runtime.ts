/** Creates a runtime. The parts that need a store are loaded on first use. */
import type { Ambient } from "../invoke/ambient.ts";
import type { Approval } from "../invoke/approval.ts";
import type { EventListener } from "../invoke/events.ts";
import type { Host } from "../invoke/host.ts";
import type { Outcome } from "../invoke/outcome.ts";
import type { Telemetry } from "../invoke/telemetry.ts";
import type { ApprovalFilter } from "../store/tables/approvals.ts";
import type { ToolLike } from "../tool/from-tool.ts";
import { ToolwrightError } from "../errors.ts";
import { getAmbient } from "../definition/context.ts";
import { assertSameVersion, MADE_BY, OWN_COPY } from "../definition/package-copy.ts";
import { Lazy, lazyModule } from "../util/lazy.ts";
import type { ApprovalDecision } from "./approvals.ts";
import type { GcOptions, GcReport } from "./collect-garbage.ts";
import type { CallFilter, LoggedCall } from "../store/tables/call-log.ts";
import type { Schedules } from "./schedules.ts";
import type { SentSignal, SignalOptions } from "./signals.ts";
import type { RunDescription, RunExplanation, RunFilter, RunPage } from "./runs.ts";
import { checkId, checkRuntimeOptions, REPLAY, type RuntimeOptions } from "./options.ts";
import type {
  EnqueuedRun,
  EnqueueOptions,
  ForkedRun,
  ForkOptions,
  RevertOptions,
  Runtime,
  RuntimeCallOptions,
  RunScopeOptions,
  StreamOptions,
  TaskIdentity,
} from "./runtime.ts";
import type { RevertReport } from "./revert/revert-report.ts";
import type { StreamReadOptions } from "../stream/read-stream.ts";
import type { StreamPart } from "../stream/stream-part.ts";
import type { StoreRuntime, TaskScopeOptions } from "./store-runtime.ts";

/**
 * Creates a runtime: one store, one set of limits, one owner. Its calls are logged, and their effects happen once.
 *
 * @example
 * await using runtime = createRuntime({ store: "app.db" });
 * const outcome = await runtime.call(placeOrder, { sku: "apple" }, { runId: "monday" });
 */
export function createRuntime(options: RuntimeOptions = {}): Runtime {
  checkNodeVersion();
  checkRuntimeOptions(options);
  return new LazyRuntime(options);
}

const OLDEST_NODE = [22, 13] as const;

function checkNodeVersion(): void {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  throw new ToolwrightError(
    "TOOL_PLATFORM_UNSUPPORTED",
    `Toolwright needs Node ${OLDEST_NODE.join(".")} or later; this is ${process.versions.node}.`,
    { hint: "Install a newer Node." },
  );
}

// A registered symbol: another copy of the package with the same version can use these runtimes too.
const USE = Symbol.for("toolwright.runtime.use");
const READ = Symbol.for("toolwright.runtime.read stream");
const RUN_TASK = Symbol.for("toolwright.runtime.run task");

/** `runtime.run` for a task of a workflow. Not for users. */
export async function runTaskScope<T>(
  runtime: Runtime,
  task: RunScopeOptions,
  work: () => T | PromiseLike<T>,
  options: TaskScopeOptions,
): Promise<T> {
  return asLazyRuntime(runtime)[RUN_TASK](task, work, options);
}

/** `runtime.stream` that may also end, without a part `ended`, in the given states. Not for users. */
export function readRunStream(
  runtime: Runtime,
  runId: string,
  options: StreamOptions,
  more: Pick<StreamReadOptions, "until" | "onReady">,
): AsyncGenerator<StreamPart, void, void> {
  return asLazyRuntime(runtime)[READ](runId, options, more);
}

/** The internals of a runtime: its store, owner and clock. Not for users. */
export async function hostOf(runtime: Runtime): Promise<Host> {
  return useRuntime(runtime, async ({ host }) => host);
}

/** The telemetry of a runtime. `undefined` for a runtime that a user has written, too. Not for users. */
export async function telemetryOf(runtime: Runtime): Promise<Telemetry | undefined> {
  return USE in runtime ? (await hostOf(runtime)).telemetry : undefined;
}

/** A runtime that stays open as long as it is used. */
export type OpenRuntime = Pick<StoreRuntime, "host" | "run" | "address">;

/** Disposing of the runtime waits until `work` has ended. Not for users. */
export async function useRuntime<T>(runtime: Runtime, work: (opened: OpenRuntime) => Promise<T>): Promise<T> {
  return asLazyRuntime(runtime)[USE](work);
}

/** @throws TOOL_PACKAGE_CONFLICT, TOOL_OPTION_INVALID */
function asLazyRuntime(runtime: Runtime): LazyRuntime {
  if (typeof runtime !== "object" || runtime === null || !(USE in runtime)) {
    throw new ToolwrightError("TOOL_OPTION_INVALID", "Option runtime must be a runtime from createRuntime.");
  }
  const lazy = runtime as LazyRuntime;
  assertSameVersion(lazy[MADE_BY], "The runtime");
  return lazy;
}

const storeRuntime = lazyModule(() => import("./store-runtime.ts"));
// The only import that points up: a runtime is a face of the operator's functions, and loads them on first use.
const operations = lazyModule(() => import("../operate/runtime-operations.ts"));
const signals = lazyModule(() => import("./signals.ts"));
const schedules = lazyModule(() => import("./change-schedules.ts"));
const reading = lazyModule(() => import("./read-run-stream.ts"));
const garbage = lazyModule(() => import("./collect-garbage.ts"));

class LazyRuntime implements Runtime {
  readonly [MADE_BY] = OWN_COPY;
  readonly #listeners = new Set<EventListener>();
  readonly #inner: Lazy<StoreRuntime>;
  #active = 0;
  #onIdle: (() => void) | undefined;
  #closing: Promise<void> | undefined;
  /** Ends the streams that are read. */
  readonly #closed = new AbortController();

  readonly #replay: unknown;

  constructor(options: RuntimeOptions) {
    this.#replay = (options as { readonly [REPLAY]?: unknown })[REPLAY];
    this.#inner = new Lazy(async () => {
      const { StoreRuntime } = await storeRuntime.get();
      return new StoreRuntime(options, this.#listeners);
    });
  }

  call(tool: ToolLike, args: unknown, options: RuntimeCallOptions = {}): Promise<Outcome<never>> {
    return this.#use((inner) => inner.call(tool, args, options));
  }

  run<T>(task: RunScopeOptions, work: () => T | PromiseLike<T>): Promise<T> {
    return this.#use((inner) => inner.run(task, work));
  }

  approvals(filter: ApprovalFilter = {}): Promise<Approval[]> {
    return this.#use((inner) => inner.approvals(filter));
  }

  resolveToolApproval(id: string, decision: ApprovalDecision): Promise<Approval> {
    return this.#use((inner) => inner.resolveToolApproval(id, decision));
  }

  calls(filter: CallFilter = {}): Promise<LoggedCall[]> {
    return this.#use((inner) => inner.calls(filter));
  }

  runs(filter: RunFilter = {}): Promise<RunPage> {
    return this.#use(async ({ host }) => (await operations.get()).listRuns(host.store, filter));
  }

  describeRun(runId: string): Promise<RunDescription> {
    return this.#use(async ({ host }) => {
      checkId("runId", runId);
      return (await operations.get()).describeRun(host.store, runId);
    });
  }

  explainRun(runId: string): Promise<RunExplanation> {
    return this.#use(async ({ host, address }) => {
      checkId("runId", runId);
      const { explainRun, syntaxFor } = await operations.get();
      return explainRun(host.store, runId, syntaxFor(address));
    });
  }

  signal(runId: string, name: string, payload?: unknown, options: SignalOptions = {}): Promise<SentSignal> {
    return this.#use(async ({ host }) => {
      const { sendSignal } = await signals.get();
      return sendSignal(host.store, runId, name, payload, options);
    });
  }

  revert(options: RevertOptions): Promise<RevertReport> {
    return this.#use(async (inner) => {
      await inner.ready();
      const { revertRun, syntaxFor } = await operations.get();
      return revertRun(inner.host, options, syntaxFor(inner.address));
    });
  }

  fork(options: ForkOptions): Promise<ForkedRun> {
    return this.#use(async (inner) => {
      await inner.ready();
      return (await operations.get()).forkRun(inner.host, options);
    });
  }

  readonly schedules: Schedules = {
    set: (schedule) =>
      this.#use(async ({ host }) => (await schedules.get()).setSchedule(host.store, schedule)),
    list: () => this.#use(async ({ host }) => (await schedules.get()).listSchedules(host.store)),
    pause: (name) => this.#use(async ({ host }) => (await schedules.get()).pauseSchedule(host.store, name)),
    resume: (name) => this.#use(async ({ host }) => (await schedules.get()).resumeSchedule(host.store, name)),
    remove: (name) => this.#use(async ({ host }) => (await schedules.get()).removeSchedule(host.store, name)),
  };

  enqueue(name: string, options: EnqueueOptions = {}): Promise<EnqueuedRun> {
    return this.#use(async (inner) => {
      await inner.ready();
      return (await operations.get()).enqueueRun(inner.host, name, options);
    });
  }

  stream(runId: string, options: StreamOptions = {}): AsyncGenerator<StreamPart, void, void> {
    return this[READ](runId, options);
  }

  async *[READ](
    runId: string,
    options: StreamOptions,
    more: Pick<StreamReadOptions, "until" | "onReady"> = {},
  ): AsyncGenerator<StreamPart, void, void> {
    const { host, readStream } = await this.#use(async (inner) => {
      const { checkStreamOptions, readStream: read } = await reading.get();
      checkStreamOptions(runId, options);
      await inner.ready();
      return { host: inner.host, readStream: read };
    });
    const closed = this.#closed.signal;
    const signal = options.signal === undefined ? closed : AbortSignal.any([options.signal, closed]);
    yield* readStream(host.store, host.streams, runId, { ...options, ...more, signal });
  }

  fullOutput(key: string): Promise<unknown> {
    return this.#use((inner) => inner.fullOutput(key));
  }

  retryWarning(task: TaskIdentity): Promise<string> {
    return this.#use((inner) => inner.retryWarning(task));
  }

  gc(options: GcOptions = {}): Promise<GcReport> {
    return this.#use(async (inner) => {
      const { collectGarbage } = await garbage.get();
      await inner.ready();
      return collectGarbage(inner.host, options);
    });
  }

  ready(): Promise<void> {
    return this.#use((inner) => inner.ready());
  }

  [RUN_TASK]<T>(
    task: RunScopeOptions,
    work: () => T | PromiseLike<T>,
    options: TaskScopeOptions,
  ): Promise<T> {
    return this.#use((inner) => inner.runTask(task, work, options));
  }

  /** For the layers above, which write to the same store. */
  [USE]<T>(work: (opened: OpenRuntime) => Promise<T>): Promise<T> {
    return this.#use(work);
  }

  subscribe(listener: EventListener): () => void {
    if (typeof listener !== "function")
      throw new ToolwrightError("TOOL_OPTION_INVALID", "runtime.subscribe: the listener must be a function.");
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Waits for all calls that have begun, and for the calls that they make. */
  async #close(): Promise<void> {
    this.#closed.abort();
    if (this.#active > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    if (this.#inner.isRequested) await (await this.#inner.get()).dispose();
  }

  /** A replay has no effects, and another runtime would have some. */
  #assertOfReplay(): void {
    const replay = (getAmbient() as Ambient | undefined)?.replay;
    if (replay === undefined || replay === this.#replay) return;
    throw new ToolwrightError(
      "TOOL_REPLAY_DIFFERS",
      "The replayed code uses a different runtime from the replay's. Nothing was run.",
      {
        hint: "Use the runtime that the code receives, or no runtime: tools find the one around them.",
        effect: "none",
      },
    );
  }

  async #use<T>(work: (inner: StoreRuntime) => Promise<T>): Promise<T> {
    this.#assertOfReplay();
    // A call in flight may still make inner calls.
    if (this.#closing !== undefined && this.#inner.value?.isInside() !== true) {
      throw new ToolwrightError("TOOL_RUNTIME_CLOSED", "This runtime was closed and accepts no more calls.", {
        effect: "none",
      });
    }
    this.#active += 1;
    try {
      return await work(this.#inner.value ?? (await this.#inner.get()));
    } finally {
      this.#active -= 1;
      if (this.#active === 0) this.#onIdle?.();
    }
  }
}
