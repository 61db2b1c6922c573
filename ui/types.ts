/** What the server sends: the parts of the contract that the page reads. */

import { RUN_KINDS, RUN_STATES, type RunKind, type RunState } from "../src/store/run-words.ts";

export { RUN_KINDS, RUN_STATES };

export interface RunSummary {
  readonly runId: string;
  readonly kind: RunKind;
  readonly name: string;
  readonly status: RunState;
  readonly interrupted: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly finishedAtMs: number | null;
  readonly tasks: number;
  readonly calls: number;
  readonly pendingApprovals: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly why: string;
}

export interface RunPage {
  readonly runs: readonly RunSummary[];
  readonly next: string | null;
}

export interface RunNode {
  readonly nodeId: string;
  readonly kind: string;
  readonly status: string;
  readonly attempt: number | null;
  readonly iteration: number;
  readonly path: string;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
  readonly error: { readonly message?: string } | null;
  readonly children: readonly RunNode[];
}

export interface NextStep {
  readonly action: string;
  readonly label: string;
  readonly command: string;
}

export interface CallRow {
  readonly key: string;
  readonly attempt: number;
  readonly seq: number;
  readonly nodeId: string;
  readonly path: string;
  readonly parentKey: string | null;
  readonly toolName: string;
  readonly status: string;
  readonly startedAtMs: number;
  readonly durationMs: number | null;
  readonly tries: number;
  readonly replayed: boolean;
  readonly fromCache: boolean;
  readonly isolation: string | null;
  readonly approvalId: string | null;
  readonly inputPreview: string | null;
  readonly outputPreview: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface CallPage {
  readonly calls: readonly CallRow[];
  readonly next: string | null;
}

export interface Approval {
  readonly id: string;
  readonly kind: string;
  readonly status: "pending" | "approved" | "denied" | "expired" | "void";
  readonly runId: string;
  readonly nodeId: string;
  readonly toolName: string;
  readonly args: unknown;
  readonly argsHash: string;
  readonly prompt: string;
  readonly schema: object | null;
  readonly outputSchema: object | null;
  readonly requestedAtMs: number;
  readonly expiresAtMs: number | null;
  readonly decidedAtMs: number | null;
  readonly decidedBy: string | null;
  readonly comment: string | null;
  /** Edited arguments that were approved. */
  readonly approvedArgs: unknown;
  /** The answer about an interrupted call. */
  readonly resolution: "happened" | "run-again" | "give-up" | null;
}

export interface Explanation {
  readonly because: readonly string[];
  readonly next: readonly NextStep[];
  /** This server can resume it. */
  readonly resumesHere: boolean;
}

/** What the event stream of a run sends. */
export interface LiveRun extends RunSummary {
  readonly revertedAtMs: number | null;
  readonly error: { readonly message?: string; readonly hint?: string } | null;
  readonly tree: readonly RunNode[];
  readonly waits: readonly RunWait[];
  readonly lineage: { readonly parent: string | null; readonly forks: readonly string[] };
  readonly recentCalls: CallPage;
  readonly approvals: readonly Approval[];
}

/** What a task waits for, besides approvals. */
export interface RunWait {
  readonly nodeId: string;
  readonly path: string;
  readonly kind: "timer" | "signal";
  readonly signal: string | null;
  readonly dueAtMs: number | null;
  readonly isOver: boolean;
}

export interface Schedule {
  readonly name: string;
  readonly workflow: string;
  readonly cron: string | null;
  readonly everyMs: number | null;
  readonly tz: string;
  readonly overlap: string;
  readonly catchUp: string;
  readonly paused: boolean;
  readonly nextAtMs: number | null;
  readonly lastRunId: string | null;
  readonly queued: number;
  readonly skipped: number;
}

export interface Worker {
  readonly workerId: string;
  readonly name: string;
  readonly status: "active" | "draining" | "dead";
  readonly build: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly serves: readonly { readonly kind: string; readonly name: string }[];
  readonly concurrency: number;
  readonly runs: number;
  readonly startedAtMs: number;
  readonly seenAtMs: number;
}

export interface ForkAnswer {
  /** The run id of the fork. */
  readonly runId: string;
  readonly copied: { readonly tasks: number; readonly calls: number };
  readonly rerun: readonly string[];
  readonly reverted: readonly string[];
  readonly dryRun: boolean;
  readonly message: string;
  readonly command: string | null;
}

export interface RevertEntry {
  readonly tool: string;
  readonly key: string;
  readonly nodeId: string;
  readonly attempt: number;
  readonly effectStatus: "succeeded" | "unknown";
  readonly reason: string | null;
}

export interface RevertAnswer {
  readonly dryRun: boolean;
  readonly reverted: readonly RevertEntry[];
  readonly left: readonly RevertEntry[];
  readonly failed: readonly RevertEntry[];
  readonly pending: readonly RevertEntry[];
}

export interface CallPart {
  readonly text: string;
  readonly offset: number;
  readonly nextOffset: number | null;
  readonly totalChars: number;
}

export interface Session {
  readonly name: string;
  readonly scopes: readonly ("read" | "decide" | "operate")[];
  readonly readOnly: boolean;
}
