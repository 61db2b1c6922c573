/** The input of a run: parsed when it starts, and compared when it is started again. */
import { z } from "zod";
import { ToolwrightError } from "../errors.ts";
import type { WorkflowRunRow } from "../store/tables/workflow-runs.ts";
import { canonicalText } from "../util/canonical.ts";
import { decode } from "../util/encode.ts";
import type { WorkflowDefinition } from "./create-smithers.ts";

export async function parseInput(workflow: WorkflowDefinition, input: unknown): Promise<unknown> {
  const schema = workflow.schemas["input"];
  if (schema === undefined) return input ?? {};
  const parsed = await schema.safeParseAsync(input ?? {});
  if (parsed.success) return parsed.data;
  throw new ToolwrightError(
    "WORKFLOW_INPUT_INVALID",
    `The input does not fit the workflow: ${z.prettifyError(parsed.error)}`,
  );
}

/** A program that is started again says the same again. Where it does not, another run was meant. */
export async function checkSameInput(
  workflow: WorkflowDefinition,
  run: WorkflowRunRow,
  input: unknown,
): Promise<void> {
  const given = canonicalText(await parseInput(workflow, input));
  if (given === canonicalText(decode(run.inputJson))) return;
  throw new ToolwrightError(
    "WORKFLOW_RUN_EXISTS",
    `A run "${run.runId}" is on record already, with another input.`,
    {
      details: { runId: run.runId, status: run.status },
      hint: "Use another runId, or resume: true to go on with the input on record.",
    },
  );
}
