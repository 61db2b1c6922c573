/** The runtime's reports about runs of every kind. The functions that read them are in src/operate. */
import type { CallStatus } from "../store/tables/calls.ts";
import type { RunKind, RunState } from "../store/run-words.ts";
import type { Labels } from "../store/tables/runs.ts";

export type RunStatus = RunState;

/** `interrupted`: the run is stored as running, and its owner is dead. */
export type ShownStatus = RunStatus | "interrupted";

export interface RunSummary {
  readonly runId: string;
  readonly kind: RunKind;
  /** The name of the workflow, agent or tool. */
  readonly name: string;
  readonly status: RunStatus;
  /** It is stored as running, and its owner is dead. */
  readonly interrupted: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly finishedAtMs: number | null;
  readonly tasks: number;
  readonly calls: number;
  readonly pendingApprovals: number;
  readonly labels: Labels;
  /** Why it has this status, in one sentence. */
  readonly why: string;
}

export interface RunFilter {
  /** `running` includes interrupted runs; `interrupted` selects only those. */
  readonly status?: ShownStatus | undefined;
  /** Whether the owner of a running run is dead. Default: either. */
  readonly interrupted?: boolean | undefined;
  readonly kind?: RunKind | undefined;
  /** The name of a workflow. */
  readonly workflow?: string | undefined;
  /** `key=value`. */
  readonly label?: string | undefined;
  /** Text in the id or the name. */
  readonly q?: string | undefined;
  /** The `next` of the previous page, or the id of its last run. */
  readonly before?: string | undefined;
  /** From 1 to 200. Default: 50. */
  readonly limit?: number | undefined;
}

export interface RunPage {
  /** Newest first. */
  readonly runs: readonly RunSummary[];
  /** Passed as `before`, it continues the list. `null` at the end. */
  readonly next: string | null;
}

export interface RunError {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** `pending`: has not started. `interrupted`: its process ended before the task did. */
export type NodeStatus =
  | "pending"
  | "running"
  | "interrupted"
  | "waiting"
  | "finished"
  | "failed"
  | "skipped";

export interface RunNode {
  /** Unique among the tasks of a workflow; a group has the name of its kind and a number. */
  readonly nodeId: string;
  /** `turn`: of an agent. */
  readonly kind: "task" | "turn" | "sequence" | "parallel" | "loop";
  readonly status: NodeStatus;
  /** `null` for a group, and for a task that has not started. */
  readonly attempt: number | null;
  readonly iteration: number;
  /** The passes of the loops around it, such as "1.0". */
  readonly path: string;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
  readonly error: RunError | null;
  readonly children: readonly RunNode[];
}

export interface RunCounts {
  /** The tasks of the tree, by status. */
  readonly tasks: Readonly<Record<NodeStatus, number>>;
  /** Calls whose owner is dead count as `unknown`. */
  readonly calls: Readonly<Record<CallStatus, number>>;
}

export interface RunLineage {
  /** The run that this one was forked from. */
  readonly parent: string | null;
  /** How it was forked. `null` for a run that is not a fork. */
  readonly fork: {
    /** The first task or call that runs in the fork. `null`: from the start, or from where the parent stopped. */
    readonly at: string | null;
    readonly effects: "ask" | "reuse" | "run";
    readonly madeAtMs: number;
  } | null;
  /** The runs that were forked from this one, oldest first. */
  readonly forks: readonly string[];
}

/** A task that waits for a time or a signal. */
export interface RunWait {
  readonly nodeId: string;
  /** The passes of the loops around it, such as "1.0". */
  readonly path: string;
  readonly kind: "timer" | "signal";
  /** The name of the signal. */
  readonly signal: string | null;
  /** When the wait times out or the sleep is over. */
  readonly dueAtMs: number | null;
  /** The time is up or the signal has arrived, and the run has not continued yet. */
  readonly isOver: boolean;
}

export interface RunDescription extends RunSummary {
  readonly error: RunError | null;
  /** What its tasks wait for, besides approvals. */
  readonly waits: readonly RunWait[];
  readonly tree: readonly RunNode[];
  readonly counts: RunCounts;
  readonly lineage: RunLineage;
  /** When its first revert began. `null`: its effects were not reverted. */
  readonly revertedAtMs: number | null;
}

/** A step that an operator can take, with the command that takes it. */
export interface RunStep {
  readonly action: string;
  readonly label: string;
  readonly command: string;
}

export interface RunExplanation {
  readonly runId: string;
  readonly status: RunStatus;
  readonly because: readonly string[];
  readonly next: readonly RunStep[];
}
