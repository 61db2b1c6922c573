/** Runs a workflow. A failed run resolves; what rejects is a workflow that cannot be run at all. */
import type { ToolSettings } from "../definition/context.ts";
import type { ToolwrightError } from "../errors.ts";
import type { Limits } from "../invoke/host.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { RunStatus } from "../store/tables/workflow-runs.ts";
import type { WorkflowDefinition } from "./create-smithers.ts";
import type { Schemas } from "./output-token.ts";
import type { WorkflowEvent } from "./run-state.ts";
import { lazyModule } from "../util/lazy.ts";

export interface RunWorkflowOptions {
  readonly input?: unknown;
  readonly runId?: string | undefined;
  /** Go on with the run of this id. `"auto"`: where it is on record, with this input; else it is started. */
  readonly resume?: boolean | "auto" | undefined;
  readonly runtime?: Runtime | undefined;
  /** The file that the workflow came from. Put on record, so that it can be found again; its folder is the default `rootDir`. */
  readonly file?: string | undefined;
  /** Go on with a run whose workflow has changed since it was started. */
  readonly acceptChanges?: boolean | undefined;
  /** Default: the folder of `file`, else the runtime's root. Stored: a resume works in the same root unless it is given again. */
  readonly rootDir?: string | undefined;
  readonly allowNetwork?: boolean | undefined;
  readonly maxOutputBytes?: number | undefined;
  readonly toolTimeoutMs?: number | undefined;
  readonly isolation?: ToolSettings["isolation"] | undefined;
  /** Tasks at a time. Default 4. */
  readonly maxConcurrency?: number | undefined;
  readonly limits?: Limits | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((event: WorkflowEvent) => void) | undefined;
}

export interface WorkflowResult {
  readonly runId: string;
  readonly status: Exclude<RunStatus, "running">;
  /** The row of the schema key "output", else of the last task. */
  readonly output: unknown;
  /** Each schema key with its rows. */
  readonly outputs: Readonly<Record<string, readonly unknown[]>>;
  readonly error: ToolwrightError | undefined;
}

const runs = lazyModule(() => import("./start-run.ts"));

/** What runs it is loaded when it is first used. */
export async function runWorkflow<S extends Schemas>(
  workflow: WorkflowDefinition<S>,
  options: RunWorkflowOptions = {},
): Promise<WorkflowResult> {
  const { startRun } = await runs.get();
  return startRun(workflow, options);
}
