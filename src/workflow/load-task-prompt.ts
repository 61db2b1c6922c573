/**
 * The prompt and instructions of an agent task. They are stored when an attempt starts: a resume must send the same
 * text, and rendering may produce another one by then.
 */
import { describeCapabilities, withCapabilities } from "../runtime/capabilities-file.ts";
import { toShownText } from "../util/shown-value.ts";
import type { TaskProps } from "./components.ts";
import { recordTask } from "./record-task.ts";
import { attemptId, type RunState } from "./run-state.ts";
import { dependencyOutputs, type TaskInstance } from "./task-instance.ts";

interface TaskPrompt {
  readonly prompt: string;
  readonly instructions: unknown;
}

export async function loadTaskPrompt(
  run: RunState,
  task: TaskInstance,
  attempt: number,
): Promise<TaskPrompt> {
  const { props, loop } = task;
  const stored = run.states.get(props.id, loop.join("."));
  if (stored?.attempt === attempt && isTaskPrompt(stored.prompt)) return stored.prompt;
  const child: unknown =
    typeof props.children === "function"
      ? (props.children as (deps: unknown) => unknown)(dependencyOutputs(run.states, task))
      : props.children;
  const text = textOf(child).trim();
  const warning = attempt === 1 ? "" : await run.runtime.retryWarning(attemptId(run, task, attempt));
  const loaded = {
    prompt: warning === "" ? text : `${warning}\n\n${text}`,
    instructions: await loadInstructions(run, props),
  };
  await recordTask(run, task, { attempt, status: "running", prompt: loaded });
  return loaded;
}

/** A task with a model has no agent with its own instructions, so the tool inventory is added. */
async function loadInstructions(run: RunState, props: TaskProps): Promise<unknown> {
  if (props.agent !== undefined) return agentInstructions(props);
  const { host } = run;
  const rootDir = run.settings.rootDir ?? host.settings.rootDir;
  const part = await describeCapabilities(rootDir, (message) => host.warnOnce("capabilities", message));
  return withCapabilities(props.instructions, part);
}

function agentInstructions(props: TaskProps): unknown {
  if (props.instructions !== undefined) return props.instructions;
  const [first] = Array.isArray(props.agent) ? (props.agent as unknown[]) : [props.agent];
  return (first as { settings?: { instructions?: unknown } } | undefined)?.settings?.instructions;
}

function isTaskPrompt(value: unknown): value is TaskPrompt {
  return typeof value === "object" && value !== null && "prompt" in value && typeof value.prompt === "string";
}

function textOf(child: unknown): string {
  if (Array.isArray(child)) return child.map(textOf).join("");
  if (child === null || child === undefined || typeof child === "boolean") return "";
  return toShownText(child);
}
