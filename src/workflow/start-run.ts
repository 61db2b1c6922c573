/** Starts a run, or goes on with one: claims it, drives it to where it can go, and writes down how it stands. */
import { randomUUID } from "node:crypto";
import { basename, dirname, resolve } from "node:path";
import { z } from "zod";
import type { ToolSettings } from "../definition/context.ts";
import { ToolwrightError } from "../errors.ts";
import type { Host } from "../invoke/host.ts";
import { decodeError, messageOf } from "../invoke/error-record.ts";
import { createRuntime, hostOf } from "../runtime/create-runtime.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readTasks } from "../store/tasks.ts";
import {
  endRun,
  insertRun,
  readRun,
  type RunStatus,
  takeRun,
  type WorkflowRunRow,
} from "../store/workflow-runs.ts";
import { decode, encode } from "../util/encode.ts";
import { sha256 } from "../util/hash.ts";
import { createWorkflowContext, toRow } from "./context.ts";
import { createPlan } from "./plan.ts";
import { isWorkflowDefinition, type WorkflowDefinition } from "./create-smithers.ts";
import { toTaskState } from "./run-task.ts";
import type { RunState } from "./run-state.ts";
import { schedule } from "./schedule.ts";
import { TaskStates } from "./task-state.ts";
import type { RunWorkflowOptions, WorkflowResult } from "./run-workflow.ts";
import { workflowError } from "./workflow-error.ts";

const DEFAULT_CONCURRENCY = 4;

export async function startRun(
  workflow: WorkflowDefinition,
  options: RunWorkflowOptions,
): Promise<WorkflowResult> {
  if (!isWorkflowDefinition(workflow)) {
    throw workflowError("runWorkflow", "was given something that smithers() did not make.");
  }
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
  const known = await host.store.read(() => readRun(runId));
  if (known !== undefined && options.resume !== true) {
    throw new ToolwrightError(
      "WORKFLOW_RUN_EXISTS",
      `A run "${runId}" is on record already; it is "${known.status}".`,
      {
        details: { runId, status: known.status },
      },
    );
  }
  if (known === undefined && options.resume === true) {
    throw new ToolwrightError("TOOL_RUN_NOT_FOUND", `There is no run "${runId}" in this store.`, {
      details: { runId },
    });
  }
  if (known?.status === "finished") return resultOf(runId, known, await loadStates(host, runId), workflow);
  const input = known === undefined ? await parseInput(workflow, options.input) : decode(known.inputJson);
  const start = {
    ...(options.file === undefined ? {} : { rootDir: dirname(resolve(options.file)) }),
    ...(known === undefined ? {} : (decode(known.optionsJson) as StartOptions)),
    ...startOptionsOf(options),
  };
  const { maxConcurrency, ...settings } = start;
  const epoch =
    known === undefined
      ? await begin(host, runId, workflow, input, start, options.file)
      : await takeOver(host, known, workflow);
  return drive({ host, runtime, runId, epoch, workflow, input, settings, maxConcurrency, options });
}

interface Drive {
  readonly host: Host;
  readonly runtime: Runtime;
  readonly runId: string;
  readonly epoch: number;
  readonly workflow: WorkflowDefinition;
  readonly input: unknown;
  readonly settings: Partial<ToolSettings>;
  readonly maxConcurrency: number | undefined;
  readonly options: RunWorkflowOptions;
}

async function drive({
  host,
  runtime,
  runId,
  epoch,
  workflow,
  input,
  settings,
  maxConcurrency = DEFAULT_CONCURRENCY,
  options,
}: Drive): Promise<WorkflowResult> {
  const states = await loadStates(host, runId);
  let position = Date.now() * 1_000;
  const signal = options.signal ?? new AbortController().signal;
  const run: RunState = {
    runId,
    epoch,
    runtime,
    host,
    states,
    settings,
    limits: options.limits,
    signal,
    nextPosition: () => (position += 1),
    tell: (event) => {
      try {
        options.onProgress?.(event);
      } catch {
        // Whoever watches must not harm what is watched.
      }
    },
  };
  const end = await outcomeOf(run, workflow, input, maxConcurrency);
  const errorJson =
    end.error === undefined
      ? null
      : JSON.stringify({ code: end.error.code, message: end.error.message, hint: end.error.hint });
  await host.store.transaction(
    () => endRun(runId, epoch, { status: end.status, errorJson, nowMs: host.clock.now() }),
    "normal",
  );
  const row = await host.store.read(() => readRun(runId));
  if (row === undefined || row.epoch !== epoch)
    throw new ToolwrightError("TOOL_RUN_FENCED", `Another process has taken over run "${runId}".`);
  return resultOf(runId, row, states, workflow);
}

async function outcomeOf(
  run: RunState,
  workflow: WorkflowDefinition,
  input: unknown,
  maxConcurrency: number,
): Promise<{ status: Exclude<RunStatus, "running">; error?: ToolwrightError }> {
  try {
    const end = await schedule(run, { workflow, input, maxConcurrency });
    if (end.status !== "failed") return { status: end.status };
    const { nodeId, error, attempt } = end.task;
    return {
      status: "failed",
      error: new ToolwrightError(
        "WORKFLOW_TASK_FAILED",
        `Task "${nodeId}" failed after ${attempt} attempts: ${error?.message ?? "unknown"}`,
        {
          details: { task: nodeId, code: error?.code },
        },
      ),
    };
  } catch (error) {
    if (run.signal.aborted) return { status: "cancelled" };
    if (ToolwrightError.is(error) && (error.code === "TOOL_STORE_FAILED" || error.code === "TOOL_RUN_FENCED"))
      throw error;
    const known = ToolwrightError.is(error)
      ? error
      : workflowError("the tree", `could not be rendered: ${messageOf(error)}`);
    return { status: "failed", error: known };
  }
}

async function begin(
  host: Host,
  runId: string,
  workflow: WorkflowDefinition,
  input: unknown,
  start: StartOptions,
  file: string | undefined,
): Promise<number> {
  const inserted = await host.store.transaction(
    () =>
      insertRun({
        runId,
        workflow: nameOf(workflow, runId, input) ?? (file === undefined ? "workflow" : basename(file)),
        file: file === undefined ? null : resolve(file),
        shape: shapeOf(workflow),
        inputJson: encode(input),
        optionsJson: encode(start),
        ownerId: host.ownerId,
        createdAtMs: host.clock.now(),
      }),
    "normal",
  );
  if (inserted === 1) return 1;
  throw new ToolwrightError("WORKFLOW_RUN_EXISTS", `A run "${runId}" is on record already.`, {
    details: { runId },
  });
}

/** A live owner is never robbed; a dead one is replaced at once. */
async function takeOver(host: Host, run: WorkflowRunRow, workflow: WorkflowDefinition): Promise<number> {
  if (run.ownerId !== null && (await host.isOwnerAlive(run.ownerId))) {
    throw new ToolwrightError(
      "TOOL_RUN_CONFLICT",
      `Run "${run.runId}" is running in another process that is alive.`,
      {
        details: { runId: run.runId },
      },
    );
  }
  const epoch = await host.store.transaction(
    () => takeRun(run, host.ownerId, shapeOf(workflow), host.clock.now()),
    "normal",
  );
  if (epoch > 0) return epoch;
  throw new ToolwrightError("TOOL_RUN_CONFLICT", `Run "${run.runId}" was taken by another process just now.`);
}

function shapeOf(workflow: WorkflowDefinition): string {
  return sha256(String(workflow.render) + Object.keys(workflow.schemas).join(","));
}

async function loadStates(host: Host, runId: string): Promise<TaskStates> {
  const rows = await host.store.read(() => readTasks(runId));
  return new TaskStates(rows.map(toTaskState));
}

async function parseInput(workflow: WorkflowDefinition, input: unknown): Promise<unknown> {
  const schema = workflow.schemas["input"];
  if (schema === undefined) return input ?? {};
  const parsed = await schema.safeParseAsync(input ?? {});
  if (parsed.success) return parsed.data;
  throw new ToolwrightError(
    "WORKFLOW_INPUT_INVALID",
    `The input does not fit the workflow: ${z.prettifyError(parsed.error)}`,
  );
}

/** What a tree that cannot be rendered is called is found out when it is run. */
function nameOf(workflow: WorkflowDefinition, runId: string, input: unknown): string | undefined {
  try {
    const keys = Object.keys(workflow.schemas);
    const states = new TaskStates();
    const context = createWorkflowContext({ runId, input, iteration: 0, states, keys, reads: new Set() });
    return createPlan(workflow.render(context)).name;
  } catch {
    return undefined;
  }
}

/** Options that are put on record: those of the start hold for a resume. */
type StartOptions = Partial<ToolSettings> & { readonly maxConcurrency?: number };

function startOptionsOf(options: RunWorkflowOptions): StartOptions {
  return {
    ...(options.rootDir === undefined ? {} : { rootDir: resolve(options.rootDir) }),
    ...(options.allowNetwork === undefined ? {} : { allowNetwork: options.allowNetwork }),
    ...(options.maxOutputBytes === undefined ? {} : { maxOutputBytes: options.maxOutputBytes }),
    ...(options.toolTimeoutMs === undefined ? {} : { timeoutMs: options.toolTimeoutMs }),
    ...(options.maxConcurrency === undefined ? {} : { maxConcurrency: options.maxConcurrency }),
  };
}

function resultOf(
  runId: string,
  row: WorkflowRunRow,
  states: TaskStates,
  workflow: WorkflowDefinition,
): WorkflowResult {
  const rowsOf = (key: string): unknown[] => states.ofKey(key).map((state) => toRow(runId, state));
  const last = states.ofKey("output").at(-1) ?? states.last;
  return {
    runId,
    status: row.status === "running" ? "failed" : row.status,
    output: last === undefined ? undefined : toRow(runId, last),
    outputs: Object.fromEntries(Object.keys(workflow.schemas).map((key) => [key, rowsOf(key)])),
    error: row.errorJson === null ? undefined : decodeError(row.errorJson),
  };
}
