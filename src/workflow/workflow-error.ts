/** Faults of a workflow's own definition. Each names the node that it is about. */
import { ToolwrightError } from "../errors.ts";

export function workflowError(node: string, problem: string, hint?: string): ToolwrightError {
  return new ToolwrightError("WORKFLOW_INVALID", `Workflow: ${node} ${problem}`, {
    details: { node },
    ...(hint === undefined ? {} : { hint }),
  });
}
