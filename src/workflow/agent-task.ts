/**
 * Runs a task with an agent. Each resume drives the agent's loop from the start: logged responses and calls are
 * replayed in order, and the first one that is not logged is live.
 */
import { importPeer, peerHint } from "../load/import-peer.ts";
import { ToolwrightError } from "../errors.ts";
import { replayedTools } from "../adapters/ai-sdk/replayed-tools.ts";
import { toAISDKTools } from "../adapters/ai-sdk/to-ai-sdk-tools.ts";
import { currentScope } from "../invoke/call-in-context.ts";
import { askAgent } from "./ask-agent.ts";
import type { TaskProps, WorkflowAgent } from "./components.ts";
import { answerRequests } from "../adapters/ai-sdk/answer-requests.ts";
import { isSdkAgent, recordedAgent } from "../adapters/ai-sdk/recorded-agent.ts";
import { createJournal } from "../adapters/ai-sdk/recorded-model.ts";
import { noteDriven } from "../tool/approval-checks.ts";
import { describeOutput, invalidOutput, outputOfAgent, validateOutput } from "./task-output.ts";

/** How often one attempt sends an invalid answer back to the agent. */
const MAX_CORRECTIONS = 2;

export interface AgentTaskOptions {
  readonly props: TaskProps;
  readonly attempt: number;
  readonly prompt: string;
  /** As stored when the attempt started. */
  readonly instructions: unknown;
  readonly signal: AbortSignal;
  readonly onDiverged: (position: number) => void;
  /** Whether a call of this attempt waits for approval. */
  readonly isWaiting: () => boolean;
}

export type AttemptResult =
  | { readonly kind: "output"; readonly output: unknown }
  | { readonly kind: "waiting" };

export async function runAgentTask(task: AgentTaskOptions): Promise<AttemptResult> {
  const { props, signal, isWaiting } = task;
  const { agent, options } = await prepareAgent(task);
  const text = task.prompt + describeOutput(props.id, props.output);
  let messages: unknown[] = [{ role: "user", content: text }];
  for (let corrections = 0; ;) {
    let result: unknown;
    try {
      result = await generate(props, () =>
        askAgent(agent, withPrompt(agent, { ...options, messages, abortSignal: signal })),
      );
      if (isWaiting()) return { kind: "waiting" };
      const continued = await continuedMessages(agent, options, messages, result);
      if (isWaiting()) return { kind: "waiting" };
      if (continued !== undefined) {
        messages = continued;
        continue;
      }
      const output = outputOfAgent(props.id, props.output, result);
      return { kind: "output", output: await validateOutput(props.id, props.output, output) };
    } catch (error) {
      const isInvalid = ToolwrightError.is(error) && error.code === "WORKFLOW_OUTPUT_INVALID";
      if (!isInvalid || corrections >= MAX_CORRECTIONS) throw error;
      corrections += 1;
      const answer = result === undefined ? invalidAnswer(error) : responseMessages(result);
      messages = [...messages, ...answer, { role: "user", content: `${error.message}\nCorrect it.` }];
    }
  }
}

/**
 * A custom agent reads `prompt`, as agents of Smithers do: the latest user message. `messages` is the whole
 * conversation. The AI SDK rejects options with both, so `prompt` is not enumerable: an agent that passes `{
 * ...options }` to `generateText` passes only the messages.
 */
function withPrompt<Options extends { readonly messages: readonly unknown[] }>(
  agent: WorkflowAgent,
  options: Options,
): Options {
  if (isSdkAgent(agent)) return options;
  const messages = options.messages as readonly { readonly role: unknown; readonly content: unknown }[];
  return Object.defineProperty(options, "prompt", {
    value: messages.findLast(({ role }) => role === "user")?.content,
    configurable: true,
    writable: true,
  });
}

/** The agent's text, which the AI SDK attaches to the error when it rejects a structured output. */
function invalidAnswer(error: ToolwrightError): unknown[] {
  const text = (error.cause as { text?: unknown } | undefined)?.text;
  return typeof text === "string" ? [{ role: "assistant", content: text }] : [];
}

/**
 * The AI SDK throws when a structured output is invalid. It is sent back for correction like any other invalid
 * output.
 */
async function generate(props: TaskProps, request: () => PromiseLike<unknown>): Promise<unknown> {
  try {
    return await request();
  } catch (error) {
    const isInvalid =
      error instanceof Error && error.name === "AI_NoObjectGeneratedError" && props.output !== undefined;
    if (isInvalid) throw invalidOutput(props.id, props.output, error.message, error);
    throw error;
  }
}

/** In a list of agents, each retry uses the next one. */
export function chosenAgent({ agent }: TaskProps, attempt: number): WorkflowAgent | undefined {
  const agents: readonly WorkflowAgent[] = Array.isArray(agent)
    ? (agent as readonly WorkflowAgent[])
    : [agent as WorkflowAgent];
  return agents[Math.min(attempt, agents.length) - 1];
}

async function agentFor(props: TaskProps, attempt: number): Promise<WorkflowAgent> {
  const { model } = props;
  if (props.agent !== undefined) {
    const chosen = chosenAgent(props, attempt);
    if (chosen !== undefined && typeof chosen.generate === "function") return chosen;
    throw new ToolwrightError(
      "WORKFLOW_INVALID",
      `Workflow: the agent of task "${props.id}" has no generate method.`,
    );
  }
  try {
    const { ToolLoopAgent } = await importPeer("ai", () => import("ai"));
    return new ToolLoopAgent({
      model: model as never,
      ...(props.instructions === undefined ? {} : { instructions: props.instructions }),
    });
  } catch (cause) {
    throw new ToolwrightError(
      "WORKFLOW_INVALID",
      `Workflow: task "${props.id}" has a model, which requires the package "ai".`,
      {
        hint: peerHint("ai", cause),
        cause,
      },
    );
  }
}

interface PreparedAgent {
  readonly agent: WorkflowAgent;
  readonly options: Record<string, unknown>;
}

/** Replaces the agent's models by ones that log their responses, and adds the tools of the task. */
async function prepareAgent(task: AgentTaskOptions): Promise<PreparedAgent> {
  const { props, instructions } = task;
  const given = await agentFor(props, task.attempt);
  const own = toolsOf(given);
  const scope = currentScope();
  // Another library's agent may return no messages, so telemetry stores its requests.
  if (scope !== undefined && isSdkAgent(given)) noteDriven(scope);
  const { agent, model } = await recordedAgent(given, createJournal(task.onDiverged));
  const options: Record<string, unknown> = model === undefined ? {} : { model };
  if (props.tools !== undefined) {
    // `toAISDKTools` converts names to a form that every provider accepts; the log has the original names.
    options["tools"] = { ...own, ...toAISDKTools(props.tools) };
  }
  if (instructions !== undefined) options["instructions"] = instructions;
  const replay = scope?.host.replay;
  if (replay === undefined) return { agent, options };
  const tools = replayedTools({ ...own, ...(options["tools"] as object) }, replay);
  return { agent, options: { ...options, tools } };
}

function toolsOf(agent: WorkflowAgent): Readonly<Record<string, unknown>> | undefined {
  return (agent as { settings?: { tools?: Readonly<Record<string, unknown>> } }).settings?.tools;
}

/** `undefined` if the loop has ended, or waits. */
async function continuedMessages(
  agent: WorkflowAgent,
  options: Readonly<Record<string, unknown>>,
  messages: readonly unknown[],
  result: unknown,
): Promise<unknown[] | undefined> {
  const scope = currentScope();
  if (scope === undefined) return undefined;
  const tools = (options["tools"] ?? toolsOf(agent) ?? {}) as Readonly<Record<string, unknown>>;
  return answerRequests({ scope, tools, messages, said: responseMessages(result) });
}

function responseMessages(result: unknown): unknown[] {
  // Another library's agent may return anything.
  const record = (result ?? {}) as {
    responseMessages?: unknown;
    response?: { messages?: unknown } | null;
    text?: string;
  };
  const messages = record.responseMessages ?? record.response?.messages;
  return Array.isArray(messages) ? messages : [{ role: "assistant", content: record.text ?? "" }];
}
