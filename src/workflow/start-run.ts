/** Starts a run, or goes on with one: claims it, drives it to where it can go, and writes down how it stands. */
import { randomUUID } from "node:crypto";
import { basename, dirname, resolve } from "node:path";
import type { ToolSettings } from "../definition/context.ts";
import { ToolwrightError } from "../errors.ts";
import type { Host, Limits } from "../invoke/host.ts";
import { decodeError, messageOf } from "../invoke/error-record.ts";
import { createRuntime, hostOf } from "../runtime/create-runtime.ts";
import { checkLimits, checkSettings, checkSignal, refusal } from "../runtime/options.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { readLoopEnds, readTasks, saveLoopEnd } from "../store/tasks.ts";
import { assertNotDeleted } from "../store/tombstones.ts";
import { endRun, readRun, type RunStatus, type WorkflowRunRow } from "../store/workflow-runs.ts";
import { decode } from "../util/encode.ts";
import { beginRun, changedError, shapeOf, takeOverRun, whileAtWork } from "./claim-run.ts";
import { createWorkflowContext, toRow } from "./context.ts";
import { createOutputViews } from "./output-views.ts";
import { createPlan } from "./plan.ts";
import { checkSameInput, parseInput } from "./run-input.ts";
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
  checkOptions(options);
  const host = await hostOf(runtime);
  const runId = options.runId ?? randomUUID();
  const known = await host.store.read(() => readRun(runId));
  if (known !== undefined && (options.resume ?? false) === false) {
    throw new ToolwrightError(
      "WORKFLOW_RUN_EXISTS",
      `A run "${runId}" is on record already; it is "${known.status}".`,
      {
        details: { runId, status: known.status },
      },
    );
  }
  if (known === undefined && options.resume === true) {
    await host.store.read(() => assertNotDeleted(runId));
    throw new ToolwrightError("TOOL_RUN_NOT_FOUND", `There is no run "${runId}" in this store.`, {
      details: { runId },
    });
  }
  if (known !== undefined && options.resume === "auto") await checkSameInput(workflow, known, options.input);
  if (known?.status === "finished")
    return resultOf(runId, known, (await loadStates(host, runId)).states, workflow);
  const input = known === undefined ? await parseInput(workflow, options.input) : decode(known.inputJson);
  const start = {
    ...(options.file === undefined ? {} : { rootDir: dirname(resolve(options.file)) }),
    ...(known === undefined ? {} : (decode(known.optionsJson) as StartOptions)),
    ...startOptionsOf(options),
  };
  const { maxConcurrency, limits, ...settings } = start;
  const shape = shapeOf(workflow, options.file);
  const name = known?.workflow ?? nameOf(workflow, runId, input, options.file);
  if (known !== undefined && known.shape !== shape && options.acceptChanges !== true)
    throw changedError(known);
  return whileAtWork(host, runId, async () => {
    const epoch =
      known === undefined
        ? await beginRun(host, { runId, name, shape, input, start, file: options.file })
        : await takeOverRun(host, known, { shape, start, file: options.file });
    for (const view of await createOutputViews(host.store, name, workflow.schemas)) {
      host.warnOnce(
        `view ${view}`,
        `another workflow stores other fields under that name; see the view "${view}".`,
      );
    }
    return drive({
      host,
      runtime,
      runId,
      name,
      epoch,
      workflow,
      input,
      settings,
      maxConcurrency,
      limits,
      options,
    });
  });
}

function checkOptions(options: RunWorkflowOptions): void {
  const { runId, resume, rootDir, maxConcurrency, signal } = options;
  if (![undefined, true, false, "auto"].includes(resume))
    throw refusal("resume", `must be true, false or "auto", not ${JSON.stringify(resume)}`);
  if (resume !== undefined && resume !== false && runId === undefined)
    throw refusal("runId", "is needed to resume a run");
  if (runId !== undefined && (typeof runId !== "string" || runId === ""))
    throw refusal("runId", "must be a text that is not empty");
  if (rootDir !== undefined && typeof rootDir !== "string") throw refusal("rootDir", "must be a text");
  if (maxConcurrency !== undefined && !(Number.isInteger(maxConcurrency) && maxConcurrency >= 1)) {
    throw refusal("maxConcurrency", `must be a whole number from 1, not ${String(maxConcurrency)}`);
  }
  checkSettings({ maxOutputBytes: options.maxOutputBytes, timeoutMs: options.toolTimeoutMs });
  checkLimits(options.limits);
  checkSignal(signal);
}

interface Drive {
  readonly host: Host;
  readonly runtime: Runtime;
  readonly runId: string;
  readonly name: string;
  readonly epoch: number;
  readonly workflow: WorkflowDefinition;
  readonly input: unknown;
  readonly settings: Partial<ToolSettings>;
  readonly maxConcurrency: number | undefined;
  readonly limits: Limits | undefined;
  readonly options: RunWorkflowOptions;
}

async function drive({
  host,
  runtime,
  runId,
  name,
  epoch,
  workflow,
  input,
  settings,
  maxConcurrency = DEFAULT_CONCURRENCY,
  limits,
  options,
}: Drive): Promise<WorkflowResult> {
  const { states, closedLoops, lastPosition } = await loadStates(host, runId);
  // After what is on record, also where the clock that wrote it was ahead of this one.
  let position = Math.max(Date.now() * 1_000, lastPosition);
  const cancelled = new AbortController();
  const signal =
    options.signal === undefined ? cancelled.signal : AbortSignal.any([options.signal, cancelled.signal]);
  const watch = watchForCancel(host, runId, cancelled);
  const run: RunState = {
    runId,
    workflow: name,
    epoch,
    runtime,
    host,
    states,
    settings,
    limits,
    signal,
    closedLoops,
    closeLoop: (place) => recordLoopEnd(host, runId, epoch, place),
    nextPosition: () => (position += 1),
    tell: (event) => {
      try {
        options.onProgress?.(event);
      } catch {
        // Whoever watches must not harm what is watched.
      }
    },
  };
  const end = await outcomeOf(run, workflow, input, maxConcurrency).finally(() => clearInterval(watch));
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
        `Task "${nodeId}" failed after ${attempt} ${attempt === 1 ? "attempt" : "attempts"}: ${error?.message ?? "unknown"}`,
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

const CANCEL_POLL_MS = 500;

/** Another process may ask for an end: it writes so, and this one looks. */
function watchForCancel(host: Host, runId: string, cancelled: AbortController): NodeJS.Timeout {
  const look = async (): Promise<void> => {
    const row = await host.store.read(() => readRun(runId));
    if (row?.isCancelRequested === true) cancelled.abort(new Error("the run was cancelled"));
  };
  // A look that fails says nothing; the next one, or the run itself, will.
  return setInterval(() => void look().catch(() => undefined), CANCEL_POLL_MS).unref();
}

async function loadStates(
  host: Host,
  runId: string,
): Promise<{ states: TaskStates; closedLoops: Set<string>; lastPosition: number }> {
  return host.store.read(function* () {
    const rows = yield* readTasks(runId);
    return {
      states: new TaskStates(rows.map(toTaskState)),
      closedLoops: yield* readLoopEnds(runId),
      lastPosition: rows.at(-1)?.position ?? 0,
    };
  });
}

async function recordLoopEnd(host: Host, runId: string, epoch: number, place: string): Promise<void> {
  const changes = await host.store.transaction(() => saveLoopEnd(runId, epoch, place), "normal");
  if (changes === 0)
    throw new ToolwrightError("TOOL_RUN_FENCED", `Another process has taken over run "${runId}".`);
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
    const context = createWorkflowContext({ runId, input, iteration: 0, states, keys, reads: new Set() });
    return createPlan(workflow.render(context)).name;
  } catch {
    return file === undefined ? "workflow" : basename(file);
  }
}

/** Options that are put on record: those that were given last hold for a resume. */
type StartOptions = Partial<ToolSettings> & { readonly maxConcurrency?: number; readonly limits?: Limits };

function startOptionsOf(options: RunWorkflowOptions): StartOptions {
  return {
    ...(options.rootDir === undefined ? {} : { rootDir: resolve(options.rootDir) }),
    ...(options.allowNetwork === undefined ? {} : { allowNetwork: options.allowNetwork }),
    ...(options.maxOutputBytes === undefined ? {} : { maxOutputBytes: options.maxOutputBytes }),
    ...(options.toolTimeoutMs === undefined ? {} : { timeoutMs: options.toolTimeoutMs }),
    ...(options.maxConcurrency === undefined ? {} : { maxConcurrency: options.maxConcurrency }),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
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
