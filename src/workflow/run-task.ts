/** Runs one task to its end: attempt after attempt, each in a scope of its own, each on record before it counts. */
import { ToolwrightError } from "../errors.ts";
import { copyError, decodeError, encodeCleanError, wrapThrown } from "../invoke/error-record.ts";
import { scopeHere } from "../invoke/call-here.ts";
import { describeCapabilities, withCapabilities } from "../runtime/capabilities-file.ts";
import { runTaskScope } from "../runtime/create-runtime.ts";
import type { Transaction } from "../store/store.ts";
import { holdRun } from "../store/tables/workflow-runs.ts";
import { forgetReplayOfTask } from "../store/tables/retention.ts";
import { saveTask, type TaskRow } from "../store/tables/tasks.ts";
import { decode, encode } from "../util/encode.ts";
import { toShownText } from "../util/shown-value.ts";
import { limitAttempt } from "./attempt-limit.ts";
import { instructionsOf, runAgentTask } from "./agent-task.ts";
import { askAboutTask, decisionOf, endTask } from "./task-approval.ts";
import { readCachedOutput, writeCachedOutput } from "./task-cache.ts";
import { validateOutput } from "./task-output.ts";
import type { TaskStatus } from "../invoke/events.ts";
import type { TaskState } from "./task-state.ts";
import type { TaskProps } from "./components.ts";
import { attemptsOf, dependencyState, type TaskInstance } from "./walk-plan.ts";
import type { RunState } from "./run-state.ts";

const DEFAULT_DELAY_MS = 1_000;

/** How a task stands when it is left: done, failed for good, or waiting for a person. Rejects when it was cut off. */
export async function runTask(run: RunState, task: TaskInstance): Promise<TaskState> {
  const { props, loop } = task;
  const known = run.states.get(props.id, loop.join("."));
  if (props.skipIf === true) return record(run, task, { attempt: known?.attempt ?? 1, status: "skipped" });
  if (props.asks === true || props.needsApproval === true) {
    const answer = await permission(run, task, known?.attempt ?? 1);
    if (answer !== undefined) return answer;
  }
  const cached = await readCachedOutput(run, task);
  if (cached !== undefined)
    return record(run, task, { attempt: known?.attempt ?? 1, status: "finished", output: cached.output });
  // A failed attempt is over; one that was interrupted, or that waits, goes on.
  let attempt = known === undefined ? 1 : known.status === "failed" ? known.attempt + 1 : known.attempt;
  // A value that does not fit will not fit another time.
  const last = isValue(props) ? attempt : Math.max(attempt, attemptsOf(props));
  for (;;) {
    try {
      const result = await runAttempt(run, task, attempt);
      if (result.kind === "waiting") return await record(run, task, { attempt, status: "waiting" });
      const finished = await record(run, task, { attempt, status: "finished", output: result.output });
      await writeCachedOutput(run, task, finished.output);
      return finished;
    } catch (error) {
      run.signal.throwIfAborted();
      if (
        ToolwrightError.is(error) &&
        (error.code === "TOOL_STORE_FAILED" || error.code === "TOOL_RUN_FENCED")
      )
        throw error;
      // A call of the function waits for a person, and so does the task.
      if (ToolwrightError.is(error) && error.code === "TOOL_APPROVAL_PENDING")
        return await record(run, task, { attempt, status: "waiting" });
      const isLast = attempt >= last;
      const failed = await record(run, task, { attempt, status: "failed", error, isLast });
      if (isLast) return failed;
      await run.host.clock.sleep(delayOf(task, attempt), run.signal);
      attempt += 1;
    }
  }
}

function isValue(props: TaskProps): boolean {
  return props.agent === undefined && props.model === undefined && typeof props.children !== "function";
}

/** A text without an agent is the output itself, which is seldom what is meant where the output is no text. */
async function valueOf({ id, output, children }: TaskProps): Promise<unknown> {
  try {
    return await validateOutput(id, output, children);
  } catch (error) {
    if (typeof children !== "string" || !ToolwrightError.is(error)) throw error;
    throw copyError(error, {
      message: `Task "${id}" holds a text and has no agent, so the text itself is its output, and does not fit "${output?.key ?? ""}".`,
      hint: `If the text is a prompt, give the task an agent: <Task id=${JSON.stringify(id)} agent={…}>. Otherwise put the value there: {{ … }} or a function.`,
    });
  }
}

/** How a task stands that a person was asked about; `undefined` when it may begin. */
async function permission(
  run: RunState,
  task: TaskInstance,
  attempt: number,
): Promise<TaskState | undefined> {
  const { props } = task;
  const approval = await askAboutTask(run, task);
  if (approval.status === "pending") return record(run, task, { attempt, status: "waiting" });
  const isGiven = approval.status === "approved";
  if (isGiven && props.asks !== true) return undefined;
  if (isGiven || props.onDeny === "continue") {
    const output = await validateOutput(props.id, props.output, decisionOf(approval));
    return record(run, task, { attempt, status: "finished", output });
  }
  if (props.onDeny === "skip") return record(run, task, { attempt, status: "skipped" });
  const said = approval.comment === null ? "" : ` They said: ${approval.comment}`;
  const error = new ToolwrightError(
    "TOOL_APPROVAL_DENIED",
    `A person decided against task "${props.id}".${said}`,
  );
  return record(run, task, { attempt, status: "failed", error, isLast: true });
}

type AttemptResult = { readonly kind: "output"; readonly output: unknown } | { readonly kind: "waiting" };

async function runAttempt(run: RunState, task: TaskInstance, attempt: number): Promise<AttemptResult> {
  const { props, loop } = task;
  const iteration = loop.at(-1) ?? 0;
  run.emit({ type: "task-changed", nodeId: props.id, iteration, attempt, status: "running" });
  const isAgent = props.agent !== undefined || props.model !== undefined;
  if (isValue(props)) {
    return { kind: "output", output: await valueOf(props) };
  }
  const limit = limitAttempt(run, props);
  const { signal } = limit;
  const place = {
    runId: run.runId,
    nodeId: props.id,
    iteration,
    attempt,
    ...(loop.length === 0 ? {} : { loopPath: loop }),
  };
  const scope = { ...place, signal, settings: run.settings, limits: run.limits };
  const inScope = async (): Promise<AttemptResult> => {
    if (!isAgent) {
      const output: unknown = await (props.children as (deps: unknown) => unknown)(dependencies(run, task));
      return { kind: "output", output: await validateOutput(props.id, props.output, output) } as const;
    }
    const { prompt, instructions } = await beginningOf(run, task, attempt);
    return runAgentTask({
      props,
      attempt,
      prompt,
      instructions,
      signal,
      onDiverged: (position) => run.emit({ type: "replay-diverged", nodeId: props.id, position }),
      isWaiting: () => (scopeHere()?.root.waiting.size ?? 0) > 0,
    });
  };
  const guard = (): Transaction<void> => assertOwned(run);
  // Inside the scope: what goes on after its time keeps neither the scope open nor the runtime from closing.
  const work = (): Promise<AttemptResult> => limit.race(inScope());
  return runTaskScope(run.runtime, scope, work, { isLazy: !isAgent, guard });
}

/** A process that lost its run may not take its tasks either. */
function* assertOwned(run: RunState): Transaction<void> {
  if (yield* holdRun(run.runId, run.epoch)) return;
  throw new ToolwrightError("TOOL_RUN_FENCED", `Another process has taken over run "${run.runId}".`);
}

interface Beginning {
  readonly prompt: string;
  readonly instructions: unknown;
}

/** What this attempt began with, if it has: rendering anew may say something else by now. */
async function beginningOf(run: RunState, task: TaskInstance, attempt: number): Promise<Beginning> {
  const { props, loop } = task;
  const known = run.states.get(props.id, loop.join("."));
  if (known?.attempt === attempt && isBeginning(known.prompt)) return known.prompt;
  const child: unknown =
    typeof props.children === "function"
      ? (props.children as (deps: unknown) => unknown)(dependencies(run, task))
      : props.children;
  const asked = textOf(child).trim();
  const iteration = loop.at(-1) ?? 0;
  const place = {
    runId: run.runId,
    nodeId: props.id,
    iteration,
    attempt,
    ...(loop.length === 0 ? {} : { loopPath: loop }),
  };
  const warning = attempt === 1 ? "" : await run.runtime.retryWarning(place);
  const beginning = {
    prompt: warning === "" ? asked : `${warning}\n\n${asked}`,
    instructions: await instructionsFor(run, props),
  };
  await record(run, task, { attempt, status: "running", prompt: beginning });
  return beginning;
}

/** Where there is no agent of the author's, the system prompt is ours, and so it has the inventory of tools. */
async function instructionsFor(run: RunState, props: TaskProps): Promise<unknown> {
  if (props.agent !== undefined) return instructionsOf(props);
  const { host } = run;
  const rootDir = run.settings.rootDir ?? host.settings.rootDir;
  const part = await describeCapabilities(rootDir, (message) => host.warnOnce("capabilities", message));
  return withCapabilities(props.instructions, part);
}

function isBeginning(value: unknown): value is Beginning {
  return typeof value === "object" && value !== null && "prompt" in value && typeof value.prompt === "string";
}

export function dependencies(run: RunState, { props, loop }: TaskInstance): Record<string, unknown> {
  const ids = Object.keys(props.deps ?? {});
  return Object.fromEntries(ids.map((id) => [id, dependencyState(run.states, id, loop)?.output]));
}

function textOf(child: unknown): string {
  if (Array.isArray(child)) return child.map(textOf).join("");
  if (child === null || child === undefined || typeof child === "boolean") return "";
  return toShownText(child);
}

function delayOf({ props }: TaskInstance, attempt: number): number {
  const { backoff = "fixed", initialDelayMs = props.retryPolicy === undefined ? 0 : DEFAULT_DELAY_MS } =
    props.retryPolicy ?? {};
  if (backoff === "linear") return initialDelayMs * attempt;
  return backoff === "exponential" ? initialDelayMs * 2 ** (attempt - 1) : initialDelayMs;
}

interface TaskChange {
  readonly attempt: number;
  readonly status: TaskStatus;
  readonly output?: unknown;
  readonly error?: unknown;
  readonly prompt?: unknown;
  /** Of a failure: no further attempt follows. */
  readonly isLast?: boolean;
}

/** Puts a task's state on record, and only then into memory. */
async function record(run: RunState, { props, loop }: TaskInstance, change: TaskChange): Promise<TaskState> {
  const path = loop.join(".");
  const now = run.host.clock.now();
  const known = run.states.get(props.id, path);
  const isOver = change.status !== "running" && change.status !== "waiting";
  const prompt = change.prompt ?? (known?.attempt === change.attempt && !isOver ? known.prompt : undefined);
  const row: TaskRow = {
    nodeId: props.id,
    path,
    iteration: loop.at(-1) ?? 0,
    attempt: change.attempt,
    status: change.status,
    outputKey: change.status === "finished" ? (props.output?.key ?? null) : null,
    outputJson: change.status === "finished" ? encode(change.output) : null,
    errorJson:
      change.error === undefined
        ? null
        : encodeCleanError(wrapThrown(change.error, "WORKFLOW_TASK_FAILED", { hint: "" })),
    promptJson: prompt === undefined ? null : encode(prompt),
    position: run.nextPosition(),
    startedAtMs: now,
    finishedAtMs: isOver ? now : null,
  };
  const changes = await run.host.store.transaction(function* () {
    const saved = yield* saveTask(run.runId, run.epoch, row);
    // What an interrupted task needs to go on is not kept beyond its end.
    if (saved > 0 && change.status === "finished")
      yield* forgetReplayOfTask(run.runId, props.id, path === "" ? "0" : path);
    if (saved > 0 && isOver && (change.status !== "failed" || change.isLast === true))
      yield* endTask(run.runId, { props, loop }, change.status);
    return saved;
  }, "normal");
  if (changes === 0) {
    throw new ToolwrightError("TOOL_RUN_FENCED", `Another process has taken over run "${run.runId}".`);
  }
  const state = toTaskState(row);
  run.states.set(state);
  const { nodeId, iteration, attempt, status } = row;
  // That it runs was said when it began.
  if (status !== "running") run.emit({ type: "task-changed", nodeId, iteration, attempt, status });
  return state;
}

export function toTaskState(row: TaskRow): TaskState {
  return {
    nodeId: row.nodeId,
    path: row.path,
    iteration: row.iteration,
    attempt: row.attempt,
    status: row.status,
    outputKey: row.outputKey,
    output: row.outputJson === null ? undefined : decode(row.outputJson),
    error: row.errorJson === null ? undefined : decodeError(row.errorJson),
    prompt: row.promptJson === null ? undefined : decode(row.promptJson),
  };
}
