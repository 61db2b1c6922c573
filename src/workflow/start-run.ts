/**
 * Starts or resumes a run: finds it, checks its input, claims it for this process, and creates the views of its
 * outputs.
 */
import { randomUUID } from "node:crypto";
import { basename, dirname, resolve } from "node:path";
import { describe } from "../definition/option-checks.ts";
import { ToolwrightError } from "../errors.ts";
import type { Host } from "../invoke/host.ts";
import { createRuntime, hostOf } from "../runtime/create-runtime.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { assertNotDeleted } from "../store/tables/tombstones.ts";
import { assertResumable } from "../store/tables/reverts.ts";
import { readRun, type TakenRun, type WorkflowRunRow } from "../store/tables/workflow-runs.ts";
import { canonicalText } from "../util/canonical.ts";
import { decode } from "../util/encode.ts";
import {
  insertNewRun,
  changedError,
  existsError,
  fileOf,
  hasChanged,
  type NewRun,
  shapeOf,
  takeOverRun,
  withRunLock,
} from "./claim-run.ts";
import { createWorkflowContext } from "./context.ts";
import { isWorkflowDefinition, type WorkflowDefinition } from "./create-workflows.ts";
import { driveRun } from "./drive-run.ts";
import { ensureOutputViews } from "./output-views.ts";
import { parseInput } from "./parse-input.ts";
import { createPlan, type Plan } from "./plan.ts";
import { checkRunOptions, startOptionsOf, type StartOptions } from "./run-options.ts";
import { loadStates, resultOf } from "./run-result.ts";
import type { RunWorkflowOptions, WorkflowResult } from "./run-workflow.ts";
import { TaskStates } from "./task-state.ts";
import { workflowError } from "./workflow-error.ts";

export async function startRun(
  workflow: WorkflowDefinition,
  options: RunWorkflowOptions,
): Promise<WorkflowResult> {
  if (!isWorkflowDefinition(workflow)) {
    throw workflowError(
      "runWorkflow",
      `needs what workflow() returned as its first argument, not ${describe(workflow)}.`,
      'Pass the default export of the workflow file: workflow((ctx) => <Workflow name="…">…</Workflow>).',
    );
  }
  checkRunOptions(options);
  if (options.runtime !== undefined) return runIn(options.runtime, workflow, options);
  const { store, dbPath } = workflow.options;
  const runtime = createRuntime({ store: store ?? dbPath });
  try {
    return await runIn(runtime, workflow, options);
  } finally {
    await runtime[Symbol.asyncDispose]();
  }
}

async function runIn(
  runtime: Runtime,
  workflow: WorkflowDefinition,
  options: RunWorkflowOptions,
): Promise<WorkflowResult> {
  const host = await hostOf(runtime);
  const runId = options.runId ?? randomUUID();
  for (;;) {
    const stored = await host.store.read(() => readRun(runId));
    const result = await startOrResume({ host, runtime, workflow, options, runId, stored });
    // Another process started or took over the run in the meantime: read it again.
    if (result !== undefined) return result;
  }
}

interface Start {
  readonly host: Host;
  readonly runtime: Runtime;
  readonly workflow: WorkflowDefinition;
  readonly options: RunWorkflowOptions;
  readonly runId: string;
  readonly stored: WorkflowRunRow | undefined;
}

/** `undefined` when `stored` is out of date. */
async function startOrResume(given: Start): Promise<WorkflowResult | undefined> {
  const { host, runtime, workflow, options, runId, stored } = given;
  const resume = options.resume ?? false;
  if (stored !== undefined && resume === false) throw existsError(stored);
  if (stored === undefined && resume === true) {
    await host.store.read(() => assertNotDeleted(runId));
    throw new ToolwrightError("TOOL_RUN_NOT_FOUND", `There is no run "${runId}" in this store.`, {
      details: { runId },
    });
  }
  if (stored !== undefined) await host.store.read(() => assertResumable(runId));
  if (stored !== undefined && resume === "auto") await checkSameInput(workflow, stored, options.input);
  if (stored?.status === "finished") {
    host.warnOnce(
      "recorded answer",
      `run "${runId}" has ended, so this is its recorded answer; no task was run. Use another runId to start over.`,
    );
    return storedResult(given, stored);
  }
  // An enqueued run has its input as it was given.
  const unparsed = stored === undefined ? options.input : decode(stored.inputJson);
  const isNew = stored === undefined || isUnparsed(stored);
  const input = isNew ? await parseInput(workflow, unparsed) : unparsed;
  const start = {
    // The default is stored too: a resume from another folder must use the same root.
    rootDir: options.file === undefined ? host.settings.rootDir : dirname(resolve(options.file)),
    ...(stored === undefined ? {} : (decode(stored.optionsJson) as StartOptions)),
    ...startOptionsOf(options),
  };
  const file = fileOf(options, stored);
  const shape = shapeOf(workflow, file);
  const name = stored?.workflow ?? planOf(workflow, runId, input, options.file).name;
  const isChanged = stored !== undefined && hasChanged(stored, workflow, shape, file);
  if (isChanged && options.acceptChanges !== true) throw changedError(stored);
  return withRunLock(host, runId, async () => {
    const claim: TakenRun =
      stored === undefined
        ? await startNewRun(host, {
            runId,
            name,
            shape,
            input,
            start,
            file: options.file,
            labels: options.labels,
          })
        : await takeOverRun(host, stored, { shape, start, file: options.file, isAccepted: isChanged });
    if (claim.kind === "lost") return undefined;
    if (claim.kind !== "taken") return storedResult(given, claim.run);
    const { epoch, sagaJson, takeovers } = claim;
    await ensureOutputViews({ host, runId, epoch }, name, workflow.schemas);
    return driveRun({
      host,
      runtime,
      runId,
      name,
      epoch,
      sagaJson,
      workflow,
      input,
      start,
      options,
      takeovers,
    });
  });
}

/** An enqueued run, or a fork with another input: the schema has not parsed its input. */
export function isUnparsed({ shape, optionsJson }: WorkflowRunRow): boolean {
  return shape === "" && (decode(optionsJson) as StartOptions).isInputParsed !== true;
}

async function startNewRun(host: Host, run: NewRun): Promise<TakenRun> {
  const epoch = await insertNewRun(host, run);
  return epoch === undefined ? { kind: "lost" } : { kind: "taken", epoch, sagaJson: undefined };
}

async function storedResult({ host, runId, workflow }: Start, run: WorkflowRunRow): Promise<WorkflowResult> {
  return resultOf(runId, run, (await loadStates(host, runId)).states, workflow);
}

/** A tree that fails to render gets a default name; the run itself reports the error. */
export function planOf(
  workflow: WorkflowDefinition,
  runId: string,
  input: unknown,
  file: string | undefined,
): Pick<Plan, "name" | "onChange"> {
  try {
    const keys = Object.keys(workflow.schemas);
    const states = new TaskStates();
    const context = createWorkflowContext({ runId, input, loopPasses: [], states, keys, reads: new Set() });
    return createPlan(workflow.render(context));
  } catch {
    return { name: file === undefined ? "workflow" : basename(file), onChange: undefined };
  }
}

/** With `resume: "auto"`, a program that restarts passes the same input. A different input means another run. */
async function checkSameInput(
  workflow: WorkflowDefinition,
  run: WorkflowRunRow,
  input: unknown,
): Promise<void> {
  const given = canonicalText(await parseInput(workflow, input));
  if (given === canonicalText(decode(run.inputJson))) return;
  throw new ToolwrightError(
    "WORKFLOW_RUN_EXISTS",
    `Run "${run.runId}" already exists with a different input.`,
    {
      details: { runId: run.runId, status: run.status },
      hint: "Use another runId, or pass resume: true to resume with the stored input.",
    },
  );
}
