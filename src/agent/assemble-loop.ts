/** Assembles what the loop of an agent needs, from its options and from the turn that it runs in. */
import { sourceOf } from "../invoke/deliver-event.ts";
import type { Plan } from "../invoke/events.ts";
import { recordedResponsesOf } from "../loop/recorded-responses.ts";
import type { Scope } from "../invoke/scope.ts";
import { canonicalText } from "../util/canonical.ts";
import { bytesOfTokens, estimateTokens } from "../model/estimate-tokens.ts";
import { sha256 } from "../util/hash.ts";
import { AgentBudget } from "./budget.ts";
import { ContextWindow } from "./context/context-window.ts";
import type { AgentSetup } from "./drive-agent.ts";
import { History } from "./history.ts";
import type { AgentResources } from "./agent-resources.ts";
import type { AgentMessage } from "../model/messages.ts";
import type { SmartAgentLimits, SmartAgentOptions } from "./options.ts";
import type { ContextState } from "./state.ts";
import { emitterOf, type Watched } from "./agent-listeners.ts";
import { bindTools } from "./tools/agent-tools.ts";
import { PlanBook } from "./tools/todo-list.ts";

const MAX_CONTEXT_TOKENS = 128_000;
const TRIGGER_SHARE = 0.75;
/** Default share of the context window that one result may take. */
const RESULT_SHARE = 0.25;

export interface LoopInput {
  readonly scope: Scope;
  readonly messages: readonly AgentMessage[];
  readonly hash: string;
  readonly system: string;
  readonly plan: Plan;
  readonly context: ContextState | null;
  readonly runIds: readonly string[];
  readonly ownLimits: SmartAgentLimits;
  readonly firstPosition: number;
  readonly signal: AbortSignal | undefined;
  readonly watched: Watched;
}

export async function assembleLoop(agent: AgentResources, input: LoopInput): Promise<AgentSetup> {
  const { options, model } = agent;
  const { scope, messages, system, watched, signal } = input;
  const emit = emitterOf(scope.host, sourceOf(scope), watched);
  const { triggerTokens, maxResultChars } = roomOf(options);
  const { host } = scope;
  const source = {
    store: host.store,
    isOwnerAlive: (ownerId: string) => host.isOwnerAlive(ownerId),
    runIds: input.runIds,
    here: scope.identity,
    maxChars: maxResultChars,
  };
  const tools = bindTools(agent.tools, new PlanBook(input.plan), source);
  const counter = await agent.counter;
  const window = new ContextWindow(messages, {
    context: input.context,
    archive: agent.archive,
    noteOf: agent.noteOf,
    counter,
    overhead: estimateTokens([system, tools.offered]),
    trigger: triggerTokens,
  });
  const history = new History(messages, {
    tools: tools.byName,
    secret: host.store.secret,
    hash: input.hash,
    memory: agent.memory,
    listener: window,
  });
  return {
    options,
    scope,
    model,
    tools,
    system,
    requestHash: sha256(canonicalText([system, tools.offered])),
    responses: recordedResponsesOf(
      scope,
      (position) => emit({ type: "replay-diverged", position }),
      input.firstPosition,
    ),
    history,
    window,
    sizeOf: counter.sizeOf,
    budget: new AgentBudget(scope, input.ownLimits),
    triggerTokens,
    maxResultChars,
    isStreamed: watched.isStreamed,
    signal,
    emit,
  };
}

/** Built when an invoke starts, and stored with its turn. */
export function systemOf({ options, tools }: AgentResources, capabilities: string): string {
  const { name, systemPrompt } = options;
  return [
    systemPrompt ?? (name === undefined ? "" : `You are ${name}.`),
    tools.todoSpec === undefined ? "" : "For work of several steps, keep a plan with manage_todo_list.",
    "Old or long results of tools are archived. get_tool_response returns them by the executionId that stands in their place.",
    tools.responseSpec === undefined
      ? ""
      : "When everything is done, call response once with the final answer.",
    capabilities,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** The size at which requests are shortened, and the limit for one result. */
function roomOf(options: SmartAgentOptions): { triggerTokens: number; maxResultChars: number } {
  const { maxContextTokens = MAX_CONTEXT_TOKENS } = options.limits ?? {};
  const { summarization, toolResponses } = options;
  const requested = typeof summarization === "object" ? summarization.summaryTriggerTokens : undefined;
  return {
    triggerTokens: Math.min(requested ?? maxContextTokens * TRIGGER_SHARE, maxContextTokens),
    maxResultChars:
      toolResponses?.maxToolResponseChars ?? Math.floor(bytesOfTokens(maxContextTokens) * RESULT_SHARE),
  };
}
