/** Errors in the definition of a workflow. Each names the node that causes it. */
import { ToolwrightError } from "../errors.ts";

export function workflowError(node: string, problem: string, hint?: string): ToolwrightError {
  return new ToolwrightError("WORKFLOW_INVALID", `Workflow: ${node} ${problem}`, {
    details: { node },
    ...(hint === undefined ? {} : { hint }),
  });
}
