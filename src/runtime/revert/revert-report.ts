/** Reports the result of a revert for each effect of a run. */
import type { PlannedRevert } from "./plan-reverts.ts";

/** One effect of a run. */
export interface RevertEntry {
  readonly tool: string;
  /** The key of the call that had the effect. */
  readonly key: string;
  readonly nodeId: string;
  readonly iteration: number;
  readonly attempt: number;
  readonly seq: number;
  /** `"unknown"`: it is not known whether the effect happened. */
  readonly effectStatus: "succeeded" | "unknown";
  /** Why it was left, failed or waits. */
  readonly reason: string | null;
  readonly errorCode: string | null;
  /** The request that the revert waits for. */
  readonly approvalId: string | null;
  /** It was reverted before, and not now. */
  readonly already: boolean;
  /** It happened after its first revert. */
  readonly late: boolean;
}

export interface RevertReport {
  readonly runId: string;
  /** A dry run: the report shows what a revert would do. */
  readonly dryRun: boolean;
  readonly reverted: readonly RevertEntry[];
  /** Effects without a `revert`, and those whose revert was denied. */
  readonly left: readonly RevertEntry[];
  readonly failed: readonly RevertEntry[];
  /** Reverts that wait for approval. */
  readonly pending: readonly RevertEntry[];
}

export type RevertGroup = "reverted" | "left" | "failed" | "pending";

export class RevertReportBuilder {
  readonly #groups: Record<RevertGroup, RevertEntry[]> = { reverted: [], left: [], failed: [], pending: [] };

  add(group: RevertGroup, planned: PlannedRevert, more: Partial<RevertEntry> = {}): void {
    const { effect, isLate } = planned;
    const { toolName: tool, key, nodeId, iteration, attempt, seq, status } = effect;
    this.#groups[group].push({
      tool,
      key,
      nodeId,
      iteration,
      attempt,
      seq,
      effectStatus: status === "success" ? "succeeded" : "unknown",
      reason: null,
      errorCode: null,
      approvalId: null,
      already: false,
      late: isLate,
      ...more,
    });
  }

  build(runId: string, dryRun: boolean): RevertReport {
    return { runId, dryRun, ...this.#groups };
  }
}
