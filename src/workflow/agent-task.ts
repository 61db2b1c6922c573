/**
 * A task that an agent does. Its loop is driven from the start each time; responses and calls that are on record are
 * handed back in their places, and from the first thing that is not, it is live.
 */
import { refusePlanted } from "../sandbox/files/code-folders.ts";
import { ToolwrightError } from "../errors.ts";
import { isLanguageModel, resolveLanguageModel } from "../model/sdk-model.ts";
import { toAISDKTools } from "../adapters/ai-sdk/to-ai-sdk-tools.ts";
import type { TaskProps, WorkflowAgent } from "./components.ts";
import { journalModel } from "../adapters/ai-sdk/recorded-model.ts";
import { describeOutput, invalid, outputOfAgent, validateOutput } from "./task-output.ts";

/** How often an answer that does not fit is sent back in one attempt. */
const CORRECTIONS = 2;

export interface AgentTurn {
  readonly props: TaskProps;
  readonly attempt: number;
  readonly prompt: string;
  /** Those that the attempt began with. */
  readonly instructions: unknown;
  readonly signal: AbortSignal;
  readonly onDiverged: (position: number) => void;
  /** Whether a call of this attempt was told to wait for a person. */
  readonly isWaiting: () => boolean;
}

export type AgentResult =
  | { readonly kind: "output"; readonly output: unknown }
  | { readonly kind: "waiting" };

export async function runAgentTask(turn: AgentTurn): Promise<AgentResult> {
  const { props, signal, isWaiting } = turn;
  const agent = await agentFor(props, turn.attempt);
  const options = callOptions(agent, props, turn);
  const text = turn.prompt + describeOutput(props.id, props.output);
  let messages: unknown[] = [{ role: "user", content: text }];
  for (let corrections = 0; ; corrections += 1) {
    let result: unknown;
    try {
      result = await generate(props, () =>
        agent.generate(questionFor(agent, { ...options, messages, abortSignal: signal }) as never),
      );
      if (isWaiting()) return { kind: "waiting" };
      const output = outputOfAgent(props.id, props.output, result);
      return { kind: "output", output: await validateOutput(props.id, props.output, output) };
    } catch (error) {
      const isMisfit = ToolwrightError.is(error) && error.code === "WORKFLOW_OUTPUT_INVALID";
      if (!isMisfit || corrections >= CORRECTIONS) throw error;
      const answer = result === undefined ? misfitText(error) : responseMessages(result);
      messages = [...messages, ...answer, { role: "user", content: `${error.message}\nCorrect it.` }];
    }
  }
}

/**
 * An agent that was made by hand reads `prompt`, as agents of Smithers do: what is asked now. `messages` is the conversation
 * up to it. The AI SDK refuses to have both, so `prompt` is not enumerable: an agent that passes `{ ...options }` on to
 * `generateText` passes the messages.
 */
function questionFor<Options extends { readonly messages: readonly unknown[] }>(
  agent: WorkflowAgent,
  options: Options,
): Options {
  const { version } = agent as { readonly version?: unknown };
  if (typeof version === "string" && version.startsWith("agent-")) return options;
  const last = options.messages.at(-1) as { readonly content: unknown };
  return Object.defineProperty(options, "prompt", {
    value: last.content,
    configurable: true,
    writable: true,
  });
}

/** What the agent said where the AI SDK threw it away. */
function misfitText(error: ToolwrightError): unknown[] {
  const text = (error.cause as { text?: unknown } | undefined)?.text;
  return typeof text === "string" ? [{ role: "assistant", content: text }] : [];
}

/** A structured output that does not fit is thrown by the AI SDK: it is sent back like any other. */
async function generate(props: TaskProps, ask: () => PromiseLike<unknown>): Promise<unknown> {
  try {
    return await ask();
  } catch (error) {
    const isMisfit =
      error instanceof Error && error.name === "AI_NoObjectGeneratedError" && props.output !== undefined;
    if (isMisfit) throw invalid(props.id, props.output, error.message, error);
    throw error;
  }
}

/** The instructions of an agent as they are now. */
export function instructionsOf(props: TaskProps): unknown {
  if (props.instructions !== undefined) return props.instructions;
  const [first] = Array.isArray(props.agent) ? (props.agent as unknown[]) : [props.agent];
  return (first as { settings?: { instructions?: unknown } } | undefined)?.settings?.instructions;
}

/** The agent of this attempt: further attempts go to the next one, where there are several. */
async function agentFor(props: TaskProps, attempt: number): Promise<WorkflowAgent> {
  const { agent, model } = props;
  if (agent !== undefined) {
    const agents: readonly WorkflowAgent[] = Array.isArray(agent)
      ? (agent as readonly WorkflowAgent[])
      : [agent as WorkflowAgent];
    const chosen = agents[Math.min(attempt, agents.length) - 1];
    if (chosen !== undefined && typeof chosen.generate === "function") return chosen;
    throw new ToolwrightError(
      "WORKFLOW_INVALID",
      `Workflow: task "${props.id}" needs an agent with a generate method.`,
    );
  }
  try {
    refusePlanted("ai");
    const { ToolLoopAgent } = await import("ai");
    return new ToolLoopAgent({
      model: model as never,
      ...(props.instructions === undefined ? {} : { instructions: props.instructions }),
    });
  } catch (cause) {
    throw new ToolwrightError(
      "WORKFLOW_INVALID",
      `Workflow: task "${props.id}" has a model, which needs the package "ai".`,
      {
        hint: "Run: npm install ai",
        cause,
      },
    );
  }
}

/** What a call brings of its own: a model whose responses are on record, and the task's tools beside the agent's. */
function callOptions(agent: WorkflowAgent, props: TaskProps, turn: AgentTurn): Record<string, unknown> {
  const settings = (agent as { settings?: { model?: unknown; tools?: Record<string, unknown> } }).settings;
  const options: Record<string, unknown> = {};
  const model = resolveLanguageModel(settings?.model);
  if (isLanguageModel(model)) options["model"] = journalModel(model, turn.onDiverged);
  if (props.tools !== undefined) {
    // Under names that every provider takes; the log has their own.
    options["tools"] = { ...settings?.tools, ...toAISDKTools(props.tools) };
  }
  if (turn.instructions !== undefined) options["instructions"] = turn.instructions;
  return options;
}

function responseMessages(result: unknown): unknown[] {
  const record = result as {
    responseMessages?: unknown[];
    response?: { messages?: unknown[] };
    text?: string;
  };
  const messages = record.responseMessages ?? record.response?.messages;
  return messages ?? [{ role: "assistant", content: record.text ?? "" }];
}
