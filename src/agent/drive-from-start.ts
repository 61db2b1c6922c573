/** Puts together what a loop needs, and drives it from the start. */
import { sourceOf } from "../invoke/deliver-event.ts";
import type { Plan } from "../invoke/events.ts";
import { recordedResponsesOf } from "../loop/recorded-responses.ts";
import type { Scope } from "../invoke/scope.ts";
import { canonicalText } from "../util/canonical.ts";
import { bytesOfTokens, estimateTokens } from "../util/estimate-tokens.ts";
import { sha256 } from "../util/hash.ts";
import { AgentBudget } from "./budget.ts";
import { ContextWindow } from "./context/context-window.ts";
import { type AgentEnd, type AgentSetup, driveAgent } from "./drive-agent.ts";
import { History } from "./history.ts";
import type { Agent } from "./make-agent.ts";
import type { AgentMessage } from "../model/messages.ts";
import type { SmartAgentLimits, SmartAgentOptions } from "./options.ts";
import type { ContextState } from "./state.ts";
import { buildSystemPrompt } from "./system-prompt.ts";
import { emitterOf, type Watched, whileWatched } from "./agent-listeners.ts";
import { bindTools } from "./tools/agent-tools.ts";
import { PlanBook } from "./tools/todo-list.ts";

const MAX_CONTEXT_TOKENS = 128_000;
const TRIGGER_SHARE = 0.75;
/** One result may take this share of the window, where nobody says. */
const RESULT_SHARE = 0.25;

export interface DriveOptions {
  readonly scope: Scope;
  readonly messages: readonly AgentMessage[];
  readonly hash: string;
  readonly system: string;
  readonly plan: Plan;
  readonly context: ContextState | null;
  readonly runIds: readonly string[];
  readonly ownLimits: SmartAgentLimits;
  readonly firstPlace: number;
  readonly signal: AbortSignal | undefined;
  readonly watched: Watched;
}

export async function driveFromStart(
  agent: Agent,
  how: DriveOptions,
): Promise<{ end: AgentEnd; setup: AgentSetup }> {
  const { options, model } = agent;
  const { scope, messages, system, watched, signal } = how;
  const emit = emitterOf(scope.host, sourceOf(scope), watched);
  const { triggerTokens, maxResultChars } = roomOf(options);
  const { host } = scope;
  const source = {
    store: host.store,
    isOwnerAlive: (ownerId: string) => host.isOwnerAlive(ownerId),
    runIds: how.runIds,
    here: scope.identity,
    maxChars: maxResultChars,
  };
  const tools = bindTools(agent.tools, new PlanBook(how.plan), source);
  const sizeOf = await agent.sizeOf;
  const window = new ContextWindow(messages, {
    context: how.context,
    archive: agent.archive,
    sizeOf,
    overhead: estimateTokens([system, tools.offered]),
    trigger: triggerTokens,
  });
  const history = new History(messages, {
    tools: tools.byName,
    secret: host.store.secret,
    hash: how.hash,
    memory: agent.memory,
    listener: window,
  });
  const setup: AgentSetup = {
    options,
    scope,
    model,
    tools,
    system,
    requestHash: sha256(canonicalText([system, tools.offered])),
    responses: recordedResponsesOf(
      scope,
      (position) => emit({ type: "replay-diverged", position }),
      how.firstPlace,
    ),
    history,
    window,
    sizeOf,
    budget: new AgentBudget(scope, how.ownLimits),
    triggerTokens,
    maxResultChars,
    isStreamed: watched.isStreamed,
    signal,
    emit,
  };
  return { end: await whileWatched(watched, () => driveAgent(setup)), setup };
}

/** Made when an invoke begins, and on record with it. */
export function systemOf({ options, tools }: Agent, capabilities: string): string {
  const { name, systemPrompt } = options;
  return buildSystemPrompt({
    name,
    systemPrompt,
    hasPlan: tools.todoSpec !== undefined,
    hasOutput: tools.responseSpec !== undefined,
    capabilities,
  });
}

/** From how much on something is left out, and what one result may have at most. */
function roomOf(options: SmartAgentOptions): { triggerTokens: number; maxResultChars: number } {
  const { maxContextTokens = MAX_CONTEXT_TOKENS } = options.limits ?? {};
  const { summarization, toolResponses } = options;
  const asked = typeof summarization === "object" ? summarization.summaryTriggerTokens : undefined;
  return {
    triggerTokens: Math.min(asked ?? maxContextTokens * TRIGGER_SHARE, maxContextTokens),
    maxResultChars:
      toolResponses?.maxToolResponseChars ?? Math.floor(bytesOfTokens(maxContextTokens) * RESULT_SHARE),
  };
}
