/** The input or output of a run, or the output of one of its tasks, piece by piece. Only workflows have them. */
import type { Store } from "../store/store.ts";
import { readOutputJson } from "../store/tables/tasks.ts";
import { readRun } from "../store/tables/workflow-runs.ts";
import { requireRun } from "./describe-run.ts";
import { type CallPiece, toPiece } from "./read-call-part.ts";

export interface RunValue {
  readonly runId: string;
  readonly part: "input" | "output";
  /** Default: the run itself. */
  readonly task?: { readonly nodeId: string; readonly path: string } | undefined;
  readonly offset?: number | undefined;
}

/** Without text if the run has no such value. @throws TOOL_OPTION_INVALID, TOOL_RUN_NOT_FOUND, TOOL_RUN_DELETED */
export async function readRunValue(
  store: Store,
  { runId, part, task, offset = 0 }: RunValue,
): Promise<CallPiece> {
  const { summary } = await requireRun(store, runId);
  if (part === "input") return toPiece((await store.read(() => readRun(runId)))?.inputJson ?? null, offset);
  // A run that has not ended has no output, though some of its tasks do.
  const isOpen = task === undefined && summary.status !== "finished";
  return toPiece(isOpen ? null : await store.read(() => readOutputJson(runId, task)), offset);
}
