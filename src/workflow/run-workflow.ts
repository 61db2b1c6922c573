/** Runs a workflow. The promise resolves for a failed run, and rejects only if the run cannot start or be stored. */
import type { ToolSettings } from "../definition/tool-settings.ts";
import type { ToolwrightError } from "../errors.ts";
import type { Limits } from "../invoke/host.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { EndStatus } from "../store/tables/workflow-runs.ts";
import type { WorkflowDefinition } from "./create-workflows.ts";
import type { Schemas } from "./output-token.ts";
import type { WorkflowEvent } from "./run-state.ts";
import { lazyModule } from "../util/lazy.ts";

export interface RunWorkflowOptions {
  readonly input?: unknown;
  readonly runId?: string | undefined;
  /** Resume the run with this id. `"auto"`: resume it if it exists with this input, else start it. */
  readonly resume?: boolean | "auto" | undefined;
  readonly runtime?: Runtime | undefined;
  /** The file that exports the workflow. It is stored for later resumes; its folder is the default `rootDir`. */
  readonly file?: string | undefined;
  /** Resume a run whose workflow has changed since it started. */
  readonly acceptChanges?: boolean | undefined;
  /**
   * Default: the folder of `file`, else the runtime's root. Stored: a resume uses the same root unless it is passed
   * again.
   */
  readonly rootDir?: string | undefined;
  readonly allowNetwork?: boolean | undefined;
  readonly maxOutputBytes?: number | undefined;
  readonly toolTimeoutMs?: number | undefined;
  readonly isolation?: ToolSettings["isolation"] | undefined;
  /** How many tasks run at the same time. Default 4. */
  readonly maxConcurrency?: number | undefined;
  readonly limits?: Limits | undefined;
  /** For filters of `runtime.runs`. Those of the start count. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((event: WorkflowEvent) => void) | undefined;
}

export interface WorkflowResult {
  readonly runId: string;
  readonly status: EndStatus;
  /** The row of the schema key "output", else of the last task. */
  readonly output: unknown;
  /** Each schema key with its rows. */
  readonly outputs: Readonly<Record<string, readonly unknown[]>>;
  readonly error: ToolwrightError | undefined;
}

const runs = lazyModule(() => import("./start-run.ts"));

/** The scheduler is loaded on first use. */
export async function runWorkflow<S extends Schemas>(
  workflow: WorkflowDefinition<S>,
  options: RunWorkflowOptions = {},
): Promise<WorkflowResult> {
  const { startRun } = await runs.get();
  return startRun(workflow, options);
}
