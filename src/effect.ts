/** `runWorkflow` as an Effect. If the workflow cannot be run, the Effect fails with a ToolwrightError. */
import "./load/peers/effect.ts";
import { Effect } from "effect";
import { ToolwrightError } from "./errors.ts";
import { messageOf } from "./invoke/error-record.ts";
import type { WorkflowDefinition } from "./workflow/create-workflows.ts";
import type { Schemas } from "./workflow/output-token.ts";
import { checkRunOptions } from "./workflow/run-options.ts";
import {
  runWorkflow as runAsPromise,
  type RunWorkflowOptions,
  type WorkflowResult,
} from "./workflow/run-workflow.ts";

/**
 * Each execution of the Effect starts a new run, unless `runId` names one. If interrupted, it leaves a run that can
 * be resumed.
 */
export function runWorkflow<S extends Schemas>(
  workflow: WorkflowDefinition<S>,
  options: RunWorkflowOptions = {},
): Effect.Effect<WorkflowResult, ToolwrightError> {
  return Effect.suspend(() => {
    const interrupted = new AbortController();
    // A copy of the options has only their fields, so check them first. The signal of the fiber is added to the copy.
    const refusal = refusalOf(options);
    if (refusal !== undefined) return Effect.fail(refusal);
    const { signal } = options;
    const run = runAsPromise(workflow, {
      ...options,
      signal:
        signal === undefined
          ? interrupted.signal
          : signal instanceof AbortSignal
            ? AbortSignal.any([signal, interrupted.signal])
            : signal,
    });
    // The fiber ends only after the run has stored its state.
    const stop = Effect.promise(async () => {
      interrupted.abort(new Error("the fiber was interrupted"));
      await run.catch(() => undefined);
    });
    return Effect.tryPromise({ try: () => run, catch: toError }).pipe(Effect.onInterrupt(() => stop));
  });
}

function refusalOf(options: RunWorkflowOptions): ToolwrightError | undefined {
  try {
    checkRunOptions(options);
    return undefined;
  } catch (error) {
    return toError(error);
  }
}

function toError(cause: unknown): ToolwrightError {
  if (ToolwrightError.is(cause)) return cause;
  return new ToolwrightError("WORKFLOW_INVALID", `The workflow could not be run: ${messageOf(cause)}`, {
    cause,
  });
}
