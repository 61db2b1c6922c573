/** A worker's report about itself. */
import type { RunKind } from "../store/run-words.ts";
import type { Labels } from "../store/tables/runs.ts";

export interface WorkerStatus {
  /** `null` before it has started. */
  readonly workerId: string | null;
  readonly state: "active" | "draining" | "stopped";
  /** What wakes it: `pg-boss` on PostgreSQL, `sqlite` on a file. */
  readonly engine: string | null;
  readonly build: string | null;
  readonly labels: Labels;
  readonly concurrency: number;
  readonly running: readonly { readonly runId: string; readonly kind: RunKind; readonly name: string }[];
  /** How many runs it has claimed since it started. */
  readonly claimed: number;
  /** The last failure of its store or queue. `null` once they work again. */
  readonly lastError: string | null;
}
