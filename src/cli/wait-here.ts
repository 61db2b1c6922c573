/** `up --wait` and `resume --wait`: stay until a waiting run can continue, and continue it here. */
import { describeRun } from "../operate/describe-run.ts";
import { isOver } from "../operate/run-status.ts";
import { describeWaits } from "../operate/run-waits.ts";
import { waitForRun } from "../operate/wait-for-run.ts";
import { hostOf } from "../runtime/create-runtime.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { stopOnSignals } from "../terminal/stop-on-signals.ts";
import { toTerminalName } from "../terminal/terminal-text.ts";
import type { WorkflowResult } from "../workflow/run-workflow.ts";
import { ToolwrightError } from "../errors.ts";
import { EXIT } from "./command.ts";
import type { Screen } from "./screen.ts";

/**
 * @param resume continues the run
 * @returns the result once the run has ended, or a waiting result after Ctrl-C
 */
export async function waitHere(
  screen: Screen,
  runtime: Runtime,
  waiting: WorkflowResult,
  resume: () => Promise<WorkflowResult>,
): Promise<WorkflowResult> {
  let result = waiting;
  const { store } = await hostOf(runtime);
  while (!isOver(result.status)) {
    const { runId } = result;
    const waits = await describeWaits(store, runId);
    const what = result.status === "waiting-approval" ? ["It waits for approval."] : [];
    const status = await stay((signal) => {
      // Printed now that a signal ends the waiting: the reader may press Ctrl-C immediately.
      for (const line of [...what, ...waits]) screen.print(`waiting ${toTerminalName(runId)}: ${line}`);
      return waitForRun(store, runId, signal);
    });
    if (status === undefined) return result;
    if (isOver(status) && status !== "finished") return endedElsewhere(runtime, result);
    result = (await resume().catch(unlessTaken)) ?? result;
  }
  return result;
}

/** A signal ends the waiting, not the run. */
async function stay<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  using stop = stopOnSignals({
    onFirst: () => process.stderr.write("\n"),
    onOverdue: () => undefined,
    exitCode: () => EXIT.waiting,
  });
  return await work(stop.signal);
}

/** A worker was faster: wait for what it does. */
function unlessTaken(error: unknown): undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code !== "TOOL_RUN_CONFLICT" && code !== "TOOL_RUN_FENCED") throw error;
  return undefined;
}

async function endedElsewhere(runtime: Runtime, before: WorkflowResult): Promise<WorkflowResult> {
  const { store } = await hostOf(runtime);
  const { status, error } = await describeRun(store, before.runId);
  return {
    ...before,
    status: status === "cancelled" ? "cancelled" : "failed",
    error:
      error === null
        ? undefined
        : new ToolwrightError("WORKFLOW_TASK_FAILED", error.message, {
            hint: error.hint,
            details: error.details,
          }),
  };
}
