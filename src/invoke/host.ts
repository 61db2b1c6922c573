/** The pipeline's interface to the runtime that it runs in. */
import type { ToolSettings } from "../definition/tool-settings.ts";
import type { Models } from "../definition/models.ts";
import type { ToolSpec } from "../definition/tool-spec.ts";
import type { CommitLevel, Store, Transaction } from "../store/store.ts";
import type { RecordedTask } from "../store/tables/recorded-responses.ts";
import type { MeasuringClock } from "../util/clock.ts";
import type { Call } from "./call.ts";
import type { WaitGraph } from "./wait-graph.ts";
import type { RuntimeEvent } from "./events.ts";
import type { PlaceQueues } from "./place-queues.ts";
import type { RunBudgets } from "./run-budgets.ts";
import type { FailedWrites } from "./failed-writes.ts";
import type { Replay } from "./replay/replay.ts";
import type { RunRelease } from "./run-release.ts";
import type { RunStreams } from "../stream/run-streams.ts";
import type { CallSpan, Telemetry } from "./telemetry.ts";

export interface Limits {
  readonly maxToolCalls?: number | undefined;
  readonly maxParallelTools?: number | undefined;
  readonly maxWallClockMs?: number | undefined;
  readonly maxTotalOutputBytes?: number | undefined;
  readonly maxCostUsd?: number | undefined;
  /** Output tokens of the models of agents. Tool calls use none of it. */
  readonly maxTotalOutputTokens?: number | undefined;
}

/** The capabilities of one call, and how to dispose them. */
export interface CallCapabilities {
  readonly values: Readonly<Record<string, unknown>>;
  dispose(): Promise<void>;
}

/** The first of several equal pure calls: the others wait for its result. */
export interface Leader {
  readonly call: Call;
  /** Resolves when the leader has ended, or must wait itself. */
  readonly over: Promise<void>;
}

/** A run that a worker has taken. */
export interface ClaimedByWorker {
  readonly release: RunRelease;
  /** The epoch of the claim, for a run that is not a workflow: its scopes check it. */
  readonly epoch?: number | undefined;
  /** For a program: its tasks that have ended and hold secrets, which are deleted when the program has. */
  readonly ended?: RecordedTask[] | undefined;
}

export interface Host {
  readonly store: Store;
  /** What models say, for the readers of runs. */
  readonly streams: RunStreams;
  /** Opens spans and counts, if the runtime has telemetry. */
  readonly telemetry: Telemetry | undefined;
  /** Identifies this runtime among all that share the store. */
  readonly ownerId: string;
  readonly clock: MeasuringClock;
  readonly settings: ToolSettings;
  readonly limits: Limits;
  readonly durability: "default" | "process" | "power";
  /** `"keep"`: runs that start here keep the data for a replay, redacted, after their end. */
  readonly recording: "keep" | "off";
  /** Whether an approval in a message history counts. Off by default. */
  readonly trustMessageApprovals: boolean;
  readonly approvalTtlMs: number | undefined;
  readonly models: Models;
  /** The project's tools, if they were passed to the runtime. */
  readonly tools: readonly ToolSpec[];
  /** Tools with a `revert` that this runtime has called, by name. */
  readonly calledTools: Map<string, ToolSpec>;
  /** The calls of this runtime that are in flight, and which of them wait for which. */
  readonly waitGraph: WaitGraph;
  /** Pure calls whose result equal calls wait for, by cache key. */
  readonly leaders: Map<string, Leader>;
  readonly budgets: RunBudgets;
  /** Calls that wait under a limit of their tool across processes. */
  readonly places: PlaceQueues;
  /** Interrupted tries that have not settled. */
  readonly cutOff: Set<Promise<void>>;
  /** Writes that could not be committed, and are retried until the store answers. */
  readonly failedWrites: FailedWrites;
  /** Tools of which a logged call has read its idempotency key. */
  readonly keyReaders: Set<string>;
  /** Workflow runs that are active in this runtime. It may own others whose work has ended. */
  readonly activeRuns: Set<string>;
  /** Runs that a worker has taken for this runtime. */
  readonly claimed: Map<string, ClaimedByWorker>;
  /** Set in a replay: nothing runs, and every call and response comes from a fixture. */
  readonly replay: Replay | undefined;
  /** Tools whose definitions are stored with a recorded run, by run. */
  readonly recordedTools: Map<string, Set<string>>;
  /** Runs that are stored as bound to this host: their tools have used files here. */
  readonly boundHere: Set<string>;
  /** Where this process runs: boot and pid namespace, as for owners. */
  readonly machine: string;
  /** The root is the same on every host that takes runs. */
  isRootShared: boolean;
  /** A worker uses this runtime. The worker shares the owner's row, so there is one worker at a time. */
  hasWorker: boolean;
  /** The owner becomes a worker: its lease has this length, and it alone decides whether the owner is alive. */
  becomeWorker(leaseMs: number): Promise<void>;
  /** Fires when this runtime has lost its lease. */
  fencedSignal(): AbortSignal;
  /** Whether there is a listener or telemetry; otherwise no event is created. */
  isWatched(): boolean;
  /** @param span of the call that the event is about, for telemetry */
  emit(event: RuntimeEvent, span?: CallSpan): void;
  /** Writes a warning to standard error, once per `topic`. */
  readonly warnOnce: (topic: string, message: string) => void;
  /** Creates the snapshot hook of a call, if the runtime takes snapshots. */
  snapshotFor:
    | ((call: Call, settings: ToolSettings) => (name: string, toolUseId: string) => Promise<unknown>)
    | undefined;
  capabilitiesFor: ((call: { runId: string; toolName: string }) => Promise<CallCapabilities>) | undefined;
  /** Before a call begins: renews the lease if little time is left. */
  renewLease(): Promise<void> | undefined;
  /** Increases each time the lease has lapsed: another process may have taken over since. */
  leaseGeneration(): number;
  isOwnerAlive(ownerId: string): Promise<boolean>;
  /** Whether the owner is a runtime of this thread, this one or another. */
  isOwnerHere(ownerId: string): boolean;
  /** Whether this runtime has a task of the run open. */
  isOpenHere(runId: string): boolean;
}

/** Commits before it returns, if the store can: the process may be killed in the tool's next statement. */
export function commitAtOnce<T>({ store }: Host, work: () => Transaction<T>): Promise<T> {
  return store.commitAtOnce?.(work, "normal") ?? store.transaction(work, "normal");
}

/** Commits a step of a call. Calls in flight share a commit, which waits for the others; a call that is alone need not wait. */
export function commitCall<T>(host: Host, work: () => Transaction<T>, level: CommitLevel): Promise<T> {
  return host.store.transaction(work, level, host.waitGraph.size <= 1);
}

/** The durability of a commit: the intent of an unrepeatable effect must survive a power loss. */
export function commitLevel(host: Host, isIntentOfUnrepeatable: boolean): CommitLevel {
  return host.durability === "default" && isIntentOfUnrepeatable ? "full" : "normal";
}
