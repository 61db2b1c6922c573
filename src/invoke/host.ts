/** What the pipeline needs from the runtime that it runs in. */
import type { ToolSettings } from "../definition/context.ts";
import type { Models } from "../definition/models.ts";
import type { ToolSpec } from "../definition/tool-spec.ts";
import type { CommitLevel, Store, Transaction } from "../store/store.ts";
import type { MeasuringClock } from "../util/clock.ts";
import type { Call } from "./call.ts";
import type { CallsAtWork } from "./calls-at-work.ts";
import type { RuntimeEvent } from "./events.ts";
import type { RunBudgets } from "./run-budgets.ts";
import type { Unsettled } from "./unsettled.ts";

export interface Limits {
  readonly maxToolCalls?: number | undefined;
  readonly maxParallelTools?: number | undefined;
  readonly maxWallClockMs?: number | undefined;
  readonly maxTotalOutputBytes?: number | undefined;
  readonly maxCostUsd?: number | undefined;
  /** What the models of agents may say. Calls of tools use none of it. */
  readonly maxTotalOutputTokens?: number | undefined;
}

/** Capabilities for one call, and what to do with them after it. */
export interface CallCapabilities {
  readonly values: Readonly<Record<string, unknown>>;
  dispose(): Promise<void>;
}

/** One of several equal calls, whose answer the others wait for. */
export interface Lead {
  readonly call: Call;
  /** Resolves when it has ended, or has to wait itself. */
  readonly over: Promise<void>;
}

export interface Host {
  readonly store: Store;
  /** Identifies this runtime among all that share the store. */
  readonly ownerId: string;
  readonly clock: MeasuringClock;
  readonly settings: ToolSettings;
  readonly limits: Limits;
  readonly durability: "default" | "process" | "power";
  /** A decision in a message history counts as one. Off unless the author of the program says so. */
  readonly trustMessageApprovals: boolean;
  readonly approvalTtlMs: number | undefined;
  readonly models: Models;
  /** The project's tools, as far as the runtime was told. */
  readonly tools: readonly ToolSpec[];
  /** Calls of this runtime that are running now, by key and attempt. */
  readonly inFlight: Map<string, Call>;
  /** The same calls by key, and which of them wait for which. */
  readonly atWork: CallsAtWork;
  /** Pure calls whose answer equal ones wait for, by cache key. */
  readonly leads: Map<string, Lead>;
  readonly budgets: RunBudgets;
  /** Tries that were cut off and have not settled. */
  readonly cutOff: Set<Promise<void>>;
  /** What could not be committed, and is written as soon as the store answers. */
  readonly unsettled: Unsettled;
  /** Tools of which a logged call has read its idempotency key. */
  readonly keyReaders: Set<string>;
  /** Workflow runs that this runtime is at work on: it may own others, whose work ended with their record. */
  readonly runsAtWork: Set<string>;
  /** Fires when this runtime has lost its lease. */
  fencedSignal(): AbortSignal;
  /** Whether anybody listens: events are not made for nobody. */
  isWatched(): boolean;
  emit(event: RuntimeEvent): void;
  /** For a person who reads the program's standard error; each `topic` once. */
  readonly warnOnce: (topic: string, message: string) => void;
  /** The snapshot hook for a call, where the runtime takes snapshots. */
  snapshotFor:
    | ((call: Call, settings: ToolSettings) => (name: string, toolUseId: string) => Promise<unknown>)
    | undefined;
  capabilitiesFor: ((call: { runId: string; toolName: string }) => Promise<CallCapabilities>) | undefined;
  /** Before a call begins: makes sure that the lease has time left. */
  renewLease(): Promise<void> | undefined;
  /** Grows each time the lease is found to have lapsed: another process may have taken over since. */
  leaseGeneration(): number;
  isOwnerAlive(ownerId: string): Promise<boolean>;
}

/** Commits before it returns, where the store can: the tool may be killed in its next statement. */
export function commitAtOnce<T>({ store }: Host, work: () => Transaction<T>): Promise<T> {
  return store.commitAtOnce?.(work, "normal") ?? store.transaction(work, "normal");
}

/** How hard a commit is: the intent of what must not happen twice survives a loss of power. */
export function commitLevel(host: Host, isIntentOfUnrepeatable: boolean): CommitLevel {
  if (host.durability === "power") return "full";
  return host.durability === "default" && isIntentOfUnrepeatable ? "full" : "normal";
}
