/** Starts a run, or goes on with one: finds it, and claims it for this process. */
import { randomUUID } from "node:crypto";
import { basename, dirname, resolve } from "node:path";
import { ToolwrightError } from "../errors.ts";
import type { Host } from "../invoke/host.ts";
import { createRuntime, hostOf } from "../runtime/create-runtime.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { assertNotDeleted } from "../store/tables/tombstones.ts";
import { readRun, type TakenRun, type WorkflowRunRow } from "../store/tables/workflow-runs.ts";
import { decode } from "../util/encode.ts";
import {
  beginRun,
  changedError,
  existsError,
  fileOf,
  hasChanged,
  type NewRun,
  shapeOf,
  takeOverRun,
  whileAtWork,
} from "./claim-run.ts";
import { createWorkflowContext } from "./context.ts";
import { isWorkflowDefinition, type WorkflowDefinition } from "./create-smithers.ts";
import { driveRun } from "./drive-run.ts";
import { createOutputViews } from "./output-views.ts";
import { createPlan } from "./plan.ts";
import { checkSameInput, parseInput } from "./run-input.ts";
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
    throw workflowError("runWorkflow", "was given something that smithers() did not make.");
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
    const known = await host.store.read(() => readRun(runId));
    const result = await startOrResume({ host, runtime, workflow, options, runId, known });
    // Another process began or took the run in between: look again, as if this one had come a moment later.
    if (result !== undefined) return result;
  }
}

interface Start {
  readonly host: Host;
  readonly runtime: Runtime;
  readonly workflow: WorkflowDefinition;
  readonly options: RunWorkflowOptions;
  readonly runId: string;
  readonly known: WorkflowRunRow | undefined;
}

/** `undefined` when `known` is no longer how the run stands. */
async function startOrResume(given: Start): Promise<WorkflowResult | undefined> {
  const { host, runtime, workflow, options, runId, known } = given;
  const resume = options.resume ?? false;
  if (known !== undefined && resume === false) throw existsError(known);
  if (known === undefined && resume === true) {
    await host.store.read(() => assertNotDeleted(runId));
    throw new ToolwrightError("TOOL_RUN_NOT_FOUND", `There is no run "${runId}" in this store.`, {
      details: { runId },
    });
  }
  if (known !== undefined && resume === "auto") await checkSameInput(workflow, known, options.input);
  if (known?.status === "finished") return recordedResult(given, known);
  const input = known === undefined ? await parseInput(workflow, options.input) : decode(known.inputJson);
  const start = {
    // Stored as well where nobody named it: a resume in another folder must not write into a second root.
    rootDir: options.file === undefined ? host.settings.rootDir : dirname(resolve(options.file)),
    ...(known === undefined ? {} : (decode(known.optionsJson) as StartOptions)),
    ...startOptionsOf(options),
  };
  const shape = shapeOf(workflow, fileOf(options, known));
  const name = known?.workflow ?? nameOf(workflow, runId, input, options.file);
  if (known !== undefined && options.acceptChanges !== true && hasChanged(known, workflow, shape))
    throw changedError(known);
  return whileAtWork(host, runId, async () => {
    const claim: TakenRun =
      known === undefined
        ? await begun(host, { runId, name, shape, input, start, file: options.file })
        : await takeOverRun(host, known, { shape, start, file: options.file });
    if (claim.kind === "lost") return undefined;
    if (claim.kind === "cancelled") return recordedResult(given, claim.run);
    for (const note of await createOutputViews(host.store, name, workflow.schemas)) host.warnOnce(note, note);
    const { epoch } = claim;
    return driveRun({ host, runtime, runId, name, epoch, workflow, input, start, options });
  });
}

async function begun(host: Host, run: NewRun): Promise<TakenRun> {
  const epoch = await beginRun(host, run);
  return epoch === undefined ? { kind: "lost" } : { kind: "taken", epoch };
}

async function recordedResult(
  { host, runId, workflow }: Start,
  run: WorkflowRunRow,
): Promise<WorkflowResult> {
  return resultOf(runId, run, (await loadStates(host, runId)).states, workflow);
}

/** What a tree that cannot be rendered is called does not matter: the run will say that it cannot. */
function nameOf(
  workflow: WorkflowDefinition,
  runId: string,
  input: unknown,
  file: string | undefined,
): string {
  try {
    const keys = Object.keys(workflow.schemas);
    const states = new TaskStates();
    const context = createWorkflowContext({ runId, input, at: [], states, keys, reads: new Set() });
    return createPlan(workflow.render(context)).name;
  } catch {
    return file === undefined ? "workflow" : basename(file);
  }
}
