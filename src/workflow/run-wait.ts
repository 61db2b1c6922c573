/** Runs a `<Sleep>` and a `<Signal>`: tasks that wait. What they wait for is stored, so that any process can continue the run. */
import { z } from "zod";
import { toOutputJsonSchema } from "../definition/json-schema.ts";
import { ToolwrightError } from "../errors.ts";
import { type OpenSignal, readNextSignal, settleSignal } from "../store/tables/signals.ts";
import { beginWait, type BegunWait, type NewWait } from "../store/tables/waits.ts";
import { holdRun } from "../store/tables/workflow-runs.ts";
import { systemClock } from "../util/clock.ts";
import { decode } from "../util/encode.ts";
import type { TaskProps } from "./components.ts";
import { parseDuration, toMoment } from "./duration.ts";
import { fencedError, recordTask } from "./record-task.ts";
import type { RunState } from "./run-state.ts";
import { instanceName, type TaskInstance } from "./task-instance.ts";
import { validateOutput } from "./task-output.ts";
import type { TaskState } from "./task-state.ts";
import { workflowError } from "./workflow-error.ts";

export function isWait({ sleeps, awaits }: TaskProps): boolean {
  return sleeps !== undefined || awaits !== undefined;
}

/** Resolves when the wait is over, or with the state "waiting". */
export async function runWait(run: RunState, task: TaskInstance, attempt: number): Promise<TaskState> {
  const { props } = task;
  for (;;) {
    const begun = await begin(run, task);
    const { dueAtMs, kind } = begun.wait;
    if (props.awaits !== undefined) {
      const state = await takeSignal(run, task, attempt);
      if (state === "again") continue;
      if (state !== undefined) return state;
    }
    if (dueAtMs !== null && dueAtMs <= begun.nowMs) {
      const state = await endOfTime(run, task, attempt);
      if (state === "again") continue;
      return state;
    }
    const leftMs = dueAtMs === null ? undefined : dueAtMs - begun.nowMs;
    run.waits.set(instanceName(props.id, task.loop), { kind, leftMs });
    const stored = run.states.get(props.id, task.loop.join("."));
    if (stored?.status === "waiting" && stored.attempt === attempt) return stored;
    return recordTask(run, task, { attempt, status: "waiting" });
  }
}

async function begin(run: RunState, task: TaskInstance): Promise<BegunWait> {
  const { host, runId, epoch } = run;
  const wait = waitOf(task);
  const clockMs = host.clock === systemClock ? null : host.clock.now();
  const begun = await host.store.transaction(() => beginWait(runId, epoch, wait, clockMs), "normal");
  if (begun === undefined) throw fencedError(runId);
  return begun;
}

function waitOf({ props, loop }: TaskInstance): NewWait {
  const at = { nodeId: props.id, path: loop.join(".") };
  const { sleeps, awaits, output } = props;
  if (awaits !== undefined) {
    const schema = awaits.schema ?? output?.schema;
    const totalMs = awaits.timeoutMs === undefined ? null : Math.ceil(awaits.timeoutMs);
    const schemaJson = schema === undefined ? null : JSON.stringify(toInputSchema(schema));
    return { ...at, kind: "signal", signal: awaits.name, schemaJson, totalMs, dueAtMs: null };
  }
  const totalMs = parseDuration(sleeps?.for) ?? null;
  const dueAtMs = toMoment(sleeps?.until) ?? null;
  if (totalMs === null && dueAtMs === null)
    throw workflowError(
      `<Sleep id="${props.id}">`,
      "begins, and its for or until has no value.",
      "Compute it in a task before the sleep, or set skipIf.",
    );
  return { ...at, kind: "timer", signal: null, schemaJson: null, totalMs, dueAtMs };
}

/** What JSON Schema cannot express is checked when the task uses the signal. */
function toInputSchema(schema: z.ZodType): object {
  try {
    return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  } catch {
    return toOutputJsonSchema(schema);
  }
}

/** Another task of the run used the signal first, or a signal has just arrived. */
const CHANGED = new Error("the signals have changed");

async function unlessChanged(recorded: Promise<TaskState>): Promise<TaskState | "again"> {
  return recorded.catch((error: unknown) => {
    if (error === CHANGED) return "again";
    throw error;
  });
}

/** `undefined` when there is no signal; "again" when one was refused or another task took it. */
async function takeSignal(
  run: RunState,
  task: TaskInstance,
  attempt: number,
): Promise<TaskState | "again" | undefined> {
  const { props, loop } = task;
  const { name = "" } = props.awaits ?? {};
  const signal = await run.host.store.read(() => readNextSignal(run.runId, name));
  if (signal === undefined) return undefined;
  const at = { nodeId: props.id, path: loop.join(".") };
  const { output, problem } = await checkPayload(props, signal);
  if (problem !== undefined) {
    await run.host.store.transaction(function* () {
      if (!(yield* holdRun(run.runId, run.epoch))) throw fencedError(run.runId);
      yield* settleSignal(signal.position, { ...at, refusedBecause: problem });
    }, "normal");
    run.emit({ type: "signal-refused", nodeId: props.id, iteration: loop.at(-1) ?? 0, name, problem });
    return "again";
  }
  const also = function* () {
    if ((yield* settleSignal(signal.position, { ...at, refusedBecause: null })) === 0) throw CHANGED;
  };
  return unlessChanged(recordTask(run, task, { attempt, status: "finished", output, also }));
}

type CheckedPayload =
  | { readonly output: unknown; readonly problem?: undefined }
  | { readonly output?: undefined; readonly problem: string };

async function checkPayload(
  { id, output, awaits }: TaskProps,
  { payloadJson }: OpenSignal,
): Promise<CheckedPayload> {
  let value = decode(payloadJson);
  const parsed = await awaits?.schema?.safeParseAsync(value);
  if (parsed?.success === false) return { problem: z.prettifyError(parsed.error) };
  if (parsed !== undefined) value = parsed.data;
  try {
    return { output: await validateOutput(id, output, value) };
  } catch (error) {
    if (!ToolwrightError.is(error)) throw error;
    return { problem: error.message };
  }
}

/** A sleep is over, or no signal arrived in time. A signal that arrives before this is stored is used. */
function endOfTime(run: RunState, task: TaskInstance, attempt: number): Promise<TaskState | "again"> {
  const { props } = task;
  const { awaits } = props;
  if (awaits === undefined) return recordTask(run, task, { attempt, status: "finished" });
  const also = function* () {
    if ((yield* readNextSignal(run.runId, awaits.name)) !== undefined) throw CHANGED;
  };
  if (awaits.onTimeout === "continue")
    return unlessChanged(recordTask(run, task, { attempt, status: "skipped", also }));
  const error = new ToolwrightError(
    "WORKFLOW_SIGNAL_TIMEOUT",
    `Task "${props.id}" waited ${awaits.timeoutMs} ms for the signal "${awaits.name}", and it did not arrive.`,
    { details: { task: props.id, signal: awaits.name } },
  );
  return unlessChanged(recordTask(run, task, { attempt, status: "failed", error, isLast: true, also }));
}
