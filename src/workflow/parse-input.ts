/** Checks the input of a run against the schema of its workflow. */
import { describeIssues } from "../definition/describe-issues.ts";
import { ToolwrightError } from "../errors.ts";
import type { WorkflowDefinition } from "./create-workflows.ts";

/** @throws WORKFLOW_INPUT_INVALID */
export async function parseInput(workflow: WorkflowDefinition, input: unknown): Promise<unknown> {
  const schema = workflow.schemas["input"];
  if (schema === undefined) return input ?? {};
  const parsed = await schema.safeParseAsync(input ?? {});
  if (parsed.success) return parsed.data;
  throw new ToolwrightError(
    "WORKFLOW_INPUT_INVALID",
    `The input does not match the workflow's input schema: ${describeIssues(parsed.error, "the input")}.`,
  );
}
