/** The implementation of a runtime on its store: its owner and its open scopes. */
import { describe } from "../definition/option-checks.ts";
import { checkOptions } from "../definition/option-table.ts";
import { currentAmbient } from "../invoke/ambient.ts";
import type { Approval } from "../invoke/approval.ts";
import { WaitGraph } from "../invoke/wait-graph.ts";
import { deliverEvent } from "../invoke/deliver-event.ts";
import type { EventListener } from "../invoke/events.ts";
import type { Host } from "../invoke/host.ts";
import { currentScope } from "../invoke/call-in-context.ts";
import { writeArguments } from "../invoke/call-text.ts";
import { invoke } from "../invoke/invoke.ts";
import type { Outcome } from "../invoke/outcome.ts";
import type { Scope } from "../invoke/scope.ts";
import type { AgentAbout } from "../invoke/telemetry.ts";
import { PlaceQueues } from "../invoke/place-queues.ts";
import type { Replay } from "../invoke/replay/replay.ts";
import { recordResult } from "../invoke/recording/record-result.ts";
import { recordActiveTime, RunBudgets } from "../invoke/run-budgets.ts";
import { FailedWrites } from "../invoke/failed-writes.ts";
import { warnAboutEarlierCalls } from "../invoke/journal/retry-warning.ts";
import type { ApprovalFilter } from "../store/tables/approvals.ts";
import { settleRun } from "../store/tables/runs.ts";
import { LazyStore } from "../store/lazy-store.ts";
import { RunStreams } from "../stream/run-streams.ts";
import { DEFAULT_STORE, isPostgresAddress, openStore, type StoreOption } from "../store/open-store.ts";
import type { Store, Transaction } from "../store/store.ts";
import { specOf } from "../tool/create-callable.ts";
import { specFrom, type ToolLike, toTools } from "../tool/from-tool.ts";
import { toTerminalLine } from "../terminal/terminal-text.ts";
import { systemClock, wholeClock } from "../util/clock.ts";
import { encode } from "../util/encode.ts";
import { type ApprovalDecision, decideApproval, readApprovals } from "./approvals.ts";
import { readWaiting } from "./read-waiting.ts";
import { finishAfterClose } from "./finish-after-close.ts";
import { type BareScope, BareScopes } from "./bare-scopes.ts";
import { createCapabilities } from "./capabilities.ts";
import { type CallFilter, type LoggedCall, readCallLog } from "../store/tables/call-log.ts";
import { deleteSecretsOfCall, deleteSecretsOfTask } from "./delete-secrets.ts";
import { readFullOutput } from "./full-output.ts";
import {
  APPROVALS_FILTER,
  CALL_OPTIONS,
  CALLS_FILTER,
  DECISION,
  RETRY_WARNING_OPTIONS,
} from "./method-options.ts";
import { refusal, REPLAY, type RuntimeOptions, settingsOf } from "./options.ts";
import { type OpenedScope, OpenScopes } from "./open-scopes.ts";
import { Ownership } from "./ownership.ts";
import {
  RUN_AS,
  type RunAs,
  type RuntimeCallOptions,
  type RunScopeOptions,
  type TaskIdentity,
} from "./runtime.ts";
import { failureOfOutcome, runInScope } from "./run-in-scope.ts";
import { createSnapshots } from "./snapshots.ts";
import { taskOver } from "./take-scope.ts";
import { traceRun } from "./trace-run.ts";
import { checkRunOptions, identityOf } from "./task-identity.ts";

export class StoreRuntime {
  readonly #host: Host;
  readonly #store: LazyStore;
  readonly #ownsStore: boolean;
  readonly #address: StoreOption;
  readonly #ownership: Ownership;
  readonly #listeners: ReadonlySet<EventListener>;
  readonly #warned = new Set<string>();
  readonly #scopes: OpenScopes;
  readonly #bareScopes: BareScopes;

  constructor(options: RuntimeOptions, listeners: ReadonlySet<EventListener>) {
    this.#listeners = listeners;
    const { store } = options;
    this.#address = store ?? DEFAULT_STORE;
    const clock = options.clock === undefined ? systemClock : wholeClock(options.clock);
    const isPostgres = typeof store === "string" ? isPostgresAddress(store) : store?.dialect === "postgres";
    this.#ownsStore = store === undefined || typeof store === "string";
    const telemetry = options.telemetry?.connect({
      warnOnce: (topic, message) => this.#warnOnce(topic, message),
      waiting: async () => (this.#store.isOpen ? readWaiting(this.#host) : undefined),
    });
    const open = async (): Promise<Store> => {
      const opened = await openStore(store);
      await this.#ownership.start(opened);
      return opened;
    };
    const dialect = isPostgres ? "postgres" : "sqlite";
    const onCommit = telemetry && ((ms: number) => telemetry.committed(ms));
    const watchCommits = telemetry && (() => (telemetry.isIdle() ? undefined : onCommit));
    this.#store = new LazyStore(dialect, open, {
      watchCommits,
      isAlwaysFull: options.durability === "power",
    });
    const failedWrites = new FailedWrites(this.#store);
    this.#ownership = new Ownership(async () => {
      await failedWrites.settle();
      await recordActiveTime(this.#host);
    });
    this.#host = {
      store: this.#store,
      streams: new RunStreams(this.#store),
      ownerId: this.#ownership.ownerId,
      clock,
      settings: settingsOf(options),
      limits: options.limits ?? {},
      durability: options.durability ?? "default",
      recording: options.recording ?? "off",
      trustMessageApprovals: options.trustMessageApprovals ?? false,
      approvalTtlMs: options.approvalTtlMs,
      models: { language: options.model, embedding: options.embeddingModel },
      tools: toTools(options.tools ?? []).map(specOf),
      calledTools: new Map(),
      telemetry,
      waitGraph: new WaitGraph(),
      leaders: new Map(),
      budgets: new RunBudgets(clock.monotonic),
      places: new PlaceQueues(),
      cutOff: new Set(),
      failedWrites,
      keyReaders: new Set(),
      activeRuns: new Set(),
      claimed: new Map(),
      boundHere: new Set(),
      recordedTools: new Map(),
      replay: (options as { readonly [REPLAY]?: Replay })[REPLAY],
      machine: this.#ownership.identity.host,
      isRootShared: false,
      hasWorker: false,
      becomeWorker: (leaseMs) => this.#becomeWorker(leaseMs),
      snapshotFor: createSnapshots(options.snapshots),
      capabilitiesFor: createCapabilities(options.capabilities, (topic, message) =>
        this.#host.warnOnce(topic, message),
      ),
      fencedSignal: () => this.#ownership.lostSignal(),
      renewLease: () => this.#ownership.renew(),
      leaseGeneration: () => this.#ownership.leaseGeneration(),
      isOwnerAlive: (ownerId) => this.#ownership.isAlive(ownerId),
      isOwnerHere: (ownerId) => this.#ownership.isHere(ownerId),
      isOpenHere: (runId) => this.#scopes.hasAny(runId),
      isWatched: () => this.#listeners.size > 0 || (telemetry !== undefined && !telemetry.isIdle()),
      emit: (event, span) => {
        telemetry?.notice(event, span);
        if (this.#listeners.size > 0) deliverEvent(this.#listeners, event, this.#host.warnOnce);
      },
      warnOnce: (topic, message) => this.#warnOnce(topic, message),
    };
    this.#scopes = new OpenScopes(this.#host);
    this.#bareScopes = new BareScopes(this.#host);
  }

  #warnOnce(topic: string, message: string): void {
    if (this.#warned.has(topic)) return;
    this.#warned.add(topic);
    console.warn(`toolwright: ${toTerminalLine(message)}`);
  }

  async call(tool: ToolLike, args: unknown, options: RuntimeCallOptions = {}): Promise<Outcome<never>> {
    checkOptions(CALL_OPTIONS, options);
    const spec = specFrom(tool, "runtime.call: the first argument");
    const { toolCallId, callKey, signal } = options;
    const { scope, close } = this.#scopeFor(options, spec.name, () => writeArguments(spec.name, args).text);
    let isWaiting = false;
    try {
      const outcome = await invoke(scope, spec, args, { toolCallId, callKey, signal });
      isWaiting = outcome.status === "pending";
      if (!scope.isOwned) await deleteSecretsOfCall(scope, spec, outcome);
      return outcome as Outcome<never>;
    } finally {
      // Usually the end of the call has done it, in its own transaction.
      if (isWaiting || scope.opensRun !== undefined) await this.#settle(scope);
      close(isWaiting);
    }
  }

  /** A bare call has ended without an outcome: it waits for approval, or was refused before it was logged. */
  async #settle(scope: Scope): Promise<void> {
    if (scope.isOwned || scope.root !== scope) return;
    scope.opensRun = undefined;
    const { runId } = scope.identity;
    const write = (): Transaction<number> => settleRun(runId, null, this.#host.clock.now());
    // The outcome stands. The write is retried until the store answers.
    await this.#store.transaction(write, "normal").catch(() => {
      this.#host.failedWrites.add(`run ${runId}`, write);
    });
  }

  async run<T>(
    task: RunScopeOptions & { readonly [RUN_AS]?: RunAs },
    work: () => T | PromiseLike<T>,
    turn?: AgentTurn<T>,
  ): Promise<T> {
    checkRunOptions(task, work);
    // A caller with budgets per turn opens a scope per turn itself.
    const hasTurns = turn === undefined && task.turn === undefined;
    const listed: RunAs = task[RUN_AS] ?? { kind: "program", name: task.name ?? task.nodeId ?? "program" };
    const { kind, name } = turn === undefined ? listed : { kind: "agent" as const, name: turn.name };
    const inputJson = turn === undefined ? inputOf(task) : inputOfTurn(turn);
    const run = async (link: () => Promise<void>): Promise<T> => {
      const opened = this.#scopes.open(task, { kind, name, budgetId: turn?.budgetId, hasTurns, inputJson });
      await opened.owned;
      await link();
      if (turn !== undefined)
        return runInScope(this.#host, turn.budgetId, () => opened, work, {
          ready: opened.scope.ready,
          failureOf: turn.failureOf,
          isRefusal: turn.isRefusal,
          storeResult: turn.storeResult,
        });
      const workThenForget = async (): Promise<T> => {
        const result = await work();
        if (kind === "program") await recordResult(opened.scope, result);
        await deleteSecretsOfTask(opened.scope);
        return result;
      };
      return runInScope(this.#host, task.runId, () => opened, workThenForget, {
        ready: opened.scope.ready,
        failureOf: kind === "tool" ? failureOfOutcome : undefined,
      });
    };
    return traceRun(this.#host, { task, kind, name, turn }, run);
  }

  /** The same for a task of a run that has its own owner, and that must not call any tool. */
  async runTask<T>(
    task: RunScopeOptions,
    work: () => T | PromiseLike<T>,
    options: TaskScopeOptions,
  ): Promise<T> {
    if (!options.isLazy) {
      const eager = this.#scopes.open(task, { kind: "workflow", guard: options.guard });
      await eager.owned;
      return runInScope(this.#host, task.runId, () => eager, work, { ready: eager.scope.ready });
    }
    let opened: OpenedScope | undefined;
    let isOver = false;
    const open = (): OpenedScope => {
      // Code that still runs after its task was interrupted must not open the task again.
      if (isOver && opened === undefined) throw taskOver(identityOf(task));
      return (opened ??= this.#scopes.open(task, { kind: "workflow", guard: options.guard }));
    };
    // An open scope shows operators that the task runs. Quick tasks do not pay for it.
    const timer = setTimeout(() => void open().owned.catch(() => undefined), SLOW_TASK_MS).unref();
    const closing = (): OpenedScope | undefined => {
      isOver = true;
      clearTimeout(timer);
      return opened;
    };
    return runInScope(this.#host, task.runId, open, work, { opened: closing });
  }

  async approvals(filter: ApprovalFilter = {}): Promise<Approval[]> {
    checkOptions(APPROVALS_FILTER, filter);
    return readApprovals(this.#host, filter);
  }

  async resolveToolApproval(id: string, decision: ApprovalDecision): Promise<Approval> {
    if (typeof id !== "string" || id === "")
      throw refusal("id", `must be the id of an approval request, a string, not ${describe(id)}`);
    checkOptions(DECISION, decision);
    return decideApproval(this.#host, id, decision);
  }

  async calls(filter: CallFilter = {}): Promise<LoggedCall[]> {
    checkOptions(CALLS_FILTER, filter);
    return readCallLog(this.#store, filter, (ownerId) => this.#host.isOwnerAlive(ownerId));
  }

  async fullOutput(key: string): Promise<unknown> {
    if (typeof key !== "string")
      throw refusal("key", `must be the key of a call, a string, not ${describe(key)}`);
    return readFullOutput(this.#host, key);
  }

  async retryWarning(task: TaskIdentity): Promise<string> {
    checkOptions(RETRY_WARNING_OPTIONS, task);
    const { identity, attempt } = identityOf(task);
    return warnAboutEarlierCalls(this.#host, identity, attempt);
  }

  async ready(): Promise<void> {
    await this.#store.opened();
  }

  async #becomeWorker(leaseMs: number): Promise<void> {
    (await this.#store.opened()).limitIdle?.(leaseMs);
    await this.#ownership.becomeWorker(leaseMs);
  }

  get host(): Host {
    return this.#host;
  }

  get address(): StoreOption {
    return this.#address;
  }

  /** Whether the current code runs inside a call or a run of this runtime. */
  isInside(): boolean {
    return currentAmbient()?.scope.host === this.#host;
  }

  /** Waits for calls in flight, then releases everything. */
  async dispose(): Promise<void> {
    const { waitGraph } = this.#host;
    while (waitGraph.size > 0) await Promise.all([...waitGraph.calls()].map(({ ended }) => ended.promise));
    this.#host.telemetry?.close();
    if (!this.#store.isOpen) return;
    const { cutOff, failedWrites } = this.#host;
    // The program may end right after this: a run whose end is not stored by then appears as interrupted.
    await failedWrites.settleWithin(this.#isInPlace() ? CLOSE_MS : 0);
    if (!failedWrites.isEmpty)
      this.#warnOnce(
        "close",
        "the runtime was closed, but the store did not accept the outcomes of some calls or runs. The writes are retried while this process lives; if it ends first, the runs are listed as interrupted.",
      );
    this.#ownership.stop(cutOff.size > 0);
    const isOver = cutOff.size === 0 && failedWrites.isEmpty;
    // Everything else is stored. If this delete fails, the lease expires.
    if (isOver) await this.#ownership.end().catch(() => undefined);
    if (this.#ownsStore) await this.#store.close();
    if (!isOver)
      void finishAfterClose(this.#host, this.#ownership, this.#ownsStore ? this.#address : undefined);
  }

  /** Nothing more can be stored in a file that was deleted. */
  #isInPlace(): boolean {
    try {
      this.#store.assertInPlace();
      return true;
    } catch {
      return false;
    }
  }

  /** The scope of the current call or run of this runtime, else a bare scope. */
  #scopeFor(options: RuntimeCallOptions, toolName: string, call: () => string): BareScope {
    const here = currentAmbient()?.scope;
    const isHere =
      here?.host === this.#host &&
      (options.runId === undefined || options.runId === here.identity.runId) &&
      (options.nodeId === undefined || options.nodeId === here.identity.nodeId) &&
      (options.iteration === undefined || options.iteration === here.identity.iteration) &&
      (options.attempt === undefined || options.attempt === here.attempt);
    const scope = isHere ? currentScope() : undefined;
    return scope === undefined
      ? this.#bareScopes.open(options, toolName, call)
      : { scope, close: () => undefined };
  }
}

/** A turn of an agent. */
export interface AgentTurn<T> {
  /** The id under which its budgets, cache and breakers are stored. */
  readonly budgetId: string;
  readonly name: string;
  /** What a worker that resumes the run needs. */
  readonly input?: unknown;
  /** For telemetry. */
  readonly about?: AgentAbout | undefined;
  readonly statusOf?: ((result: T) => string) | undefined;
  /** Why a turn failed that returned a result. */
  readonly failureOf?: ((result: T) => Error | undefined) | undefined;
  /** Whether the error says that the turn has not begun: another one runs, and the run has not failed. */
  readonly isRefusal?: ((error: unknown) => boolean) | undefined;
  /** Stores the result of a turn that has ended, in the transaction that closes its scope. */
  readonly storeResult?: (() => (() => Transaction<void>) | undefined) | undefined;
}

const SLOW_TASK_MS = 100;
/** How long a runtime that is closed waits for a store that fails. */
const CLOSE_MS = 5_000;

/** Without its own name, no worker knows the program: nothing is stored for one. */
function inputOf({ name, input }: RunScopeOptions): string | undefined {
  return name === undefined ? undefined : encode(input);
}

function inputOfTurn({ input }: Pick<AgentTurn<unknown>, "input">): string | undefined {
  return input === undefined ? undefined : encode(input);
}

export interface TaskScopeOptions {
  /** Opens the scope at the first call of a tool, or when the task turns out to be slow. */
  readonly isLazy: boolean;
  /** Throws if this process can no longer write to the run. */
  readonly guard: () => Transaction<void>;
}
