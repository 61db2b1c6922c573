/** The outputs that a fork was given instead of its parent's, as the schemas of their tasks parse them. */
import { describeIssues } from "../definition/describe-issues.ts";
import { ToolwrightError } from "../errors.ts";
import { replaceOutput } from "../store/tables/copy-run.ts";
import { saveRunOptions } from "../store/tables/workflow-runs.ts";
import { encode } from "../util/encode.ts";
import type { WorkflowDefinition } from "./create-workflows.ts";
import { fencedError } from "./record-task.ts";
import type { RunState } from "./run-state.ts";
import type { TaskState } from "./task-state.ts";

/**
 * For a fork that starts, before anything runs: only then is the workflow loaded. Once, since a schema may change a value.
 * @throws WORKFLOW_OUTPUT_INVALID
 */
export async function parseReplacedOutputs(run: RunState, workflow: WorkflowDefinition): Promise<void> {
  const { outline, states, host, runId, epoch } = run;
  const { replacedOutputs = [], ...options } = outline.options;
  if (replacedOutputs.length === 0) return;
  const parsed: TaskState[] = [];
  for (const { nodeId, path } of replacedOutputs) {
    const state = states.get(nodeId, path);
    // In a fork of the fork it may run again.
    if (state?.status === "finished") parsed.push({ ...state, output: await parseOutput(workflow, state) });
  }
  await host.store.transaction(function* () {
    const changes = yield* saveRunOptions(runId, epoch, encode(options));
    if (changes === 0) throw fencedError(runId);
    for (const state of parsed) yield* replaceOutput(runId, state, encode(state.output));
  }, "normal");
  for (const state of parsed) states.replace(state);
  outline.options = options;
}

async function parseOutput(
  { schemas }: WorkflowDefinition,
  { nodeId, outputKey, output }: TaskState,
): Promise<unknown> {
  const schema = outputKey === null ? undefined : schemas[outputKey];
  if (schema === undefined) return output;
  const parsed = await schema.safeParseAsync(output);
  if (parsed.success) return parsed.data;
  throw new ToolwrightError(
    "WORKFLOW_OUTPUT_INVALID",
    `The output that the fork was given for task "${nodeId}" does not match the schema of "${outputKey}": ${describeIssues(parsed.error, "the output")}. Nothing was run.`,
    {
      details: { task: nodeId, output: outputKey },
      effect: "none",
      hint: "Fork the run again, with an output that the task could return.",
    },
  );
}
