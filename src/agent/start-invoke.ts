/** Where an invoke counts: in a turn of its own under its run id, or, inside a tool or a task, in that. */
import { getToolContext } from "../definition/context.ts";
import { scopeHere } from "../invoke/call-here.ts";
import { messageOf } from "../invoke/error-record.ts";
import { recordedResponsesOf } from "../invoke/recorded-responses.ts";
import type { Scope } from "../invoke/scope.ts";
import { createRuntime, type OpenRuntime, useRuntime } from "../runtime/create-runtime.ts";
import { runTurn } from "../runtime/run-turn.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { turnOf } from "../store/turns.ts";
import { canonicalText } from "../util/canonical.ts";
import { bytesOfTokens, estimateTokens } from "../util/estimate-tokens.ts";
import { sha256 } from "../util/hash.ts";
import { AgentBudget } from "./budget.ts";
import { retentionRules } from "./context/archived-form.ts";
import { ContextWindow } from "./context/context-window.ts";
import { createMessageCounter } from "./context/count-tokens.ts";
import { type AgentEnd, type AgentSetup, driveAgent } from "./drive-agent.ts";
import type { SmartAgentEvent, Tell } from "./events.ts";
import { History } from "./history.ts";
import { type KeptResult, toKept } from "./kept-result.ts";
import { AGENT_TURN, type Began, type LocatedTurn, locateTurn } from "./locate-turn.ts";
import type { AgentMessage } from "./messages.ts";
import type { AgentModel } from "./model/agent-model.ts";
import type { InvokeOptions, InvokeResult, SmartAgentLimits, SmartAgentOptions } from "./options.ts";
import { readState, type StatePlace } from "./read-state.ts";
import type { AgentInput, ContextState, Plan } from "./state.ts";
import { buildSystemPrompt } from "./system-prompt.ts";
import { bindTools, type ToolSet } from "./tools/agent-tools.ts";
import { PlanBook, NO_PLAN, planIn } from "./tools/todo-list.ts";
import { withContent, chainHashes } from "./messages.ts";

/** An agent that is made. */
export interface Agent {
  readonly options: SmartAgentOptions;
  readonly model: AgentModel;
  readonly tools: ToolSet;
}

/** Loops that are driven inside of one call have places for so many answers each. */
const ANSWERS_PER_LOOP = 1_000_000;
const MAX_CONTEXT_TOKENS = 128_000;
const TRIGGER_SHARE = 0.75;
/** One result may take this share of the window, where nobody says. */
const RESULT_SHARE = 0.25;

export async function startInvoke(
  agent: Agent,
  input: AgentInput,
  invoked: InvokeOptions,
  given: OpenRuntime | undefined,
): Promise<InvokeResult> {
  const here = scopeHere();
  // Who names a run of its own, or another runtime, wants no part of what goes on around it.
  const isInside = input.runId === undefined && (given === undefined || given.host === here?.host);
  if (here !== undefined && isInside) return invokeInside(agent, here, input, invoked);
  if (given !== undefined && agent.options.runtime !== undefined) {
    return invokeOwn(agent, given, agent.options.runtime, input, invoked);
  }
  await using runtime = createRuntime();
  return await useRuntime(runtime, (opened) => invokeOwn(agent, opened, runtime, input, invoked));
}

async function invokeOwn(
  agent: Agent,
  opened: OpenRuntime,
  runtime: Runtime,
  input: AgentInput,
  invoked: InvokeOptions,
): Promise<InvokeResult> {
  const { host } = opened;
  await runtime.ready();
  const { signal } = invoked;
  const located = await locateTurn(host.store, input);
  const { runId, inputHash, began, follows } = located;
  const tell = tellerOf(agent, invoked, (topic, message) => host.warnOnce(topic, message));
  const stopListening = runtime.subscribe((event) => (event.runId === runId ? tell(event) : undefined));
  try {
    const { number, kept, pending } = await runTurn(
      opened,
      {
        runId,
        kind: AGENT_TURN,
        inputHash,
        began: { ...began, system: systemOf(agent) },
        follows,
        hasOwnBudget: true,
        limits: runLimits(agent.options.limits ?? {}),
        signal,
      },
      async (turn) => {
        const { system, plan, context, ancestors } = turn.began as Began & { system: string };
        const { end, setup } = await drive(agent, {
          scope: turn.scope,
          messages: located.messages,
          hash: inputHash,
          system,
          plan,
          context,
          runIds: [...ancestors, runId],
          ownLimits: {},
          firstPlace: 0,
          signal,
          tell,
          isStreamed: invoked.stream === true,
        });
        const made = toKept(end, setup);
        if (made.status !== "waiting") await turn.end(made);
        return { number: turn.number, kept: made, pending: end.pending ?? [] };
      },
      (result, turn) => ({ number: turn, kept: result as KeptResult, pending: [] }),
    );
    const place = await placeOf(opened, located, number, input);
    return await finish({ ...place, pending }, kept, tell);
  } catch (error) {
    if (signal?.aborted === true) tell({ type: "cancelled", reason: messageOf(signal.reason) });
    throw error;
  } finally {
    stopListening();
  }
}

async function placeOf(
  { host }: OpenRuntime,
  { runId, messages }: LocatedTurn,
  turn: number,
  input: AgentInput,
): Promise<Omit<StatePlace, "pending">> {
  const row = await host.store.read(() => turnOf(runId, turn));
  return {
    host,
    scope: { runId, nodeId: "main", iteration: turn - 1, path: String(turn - 1), parentKey: "" },
    budgetId: row?.budgetId ?? runId,
    turn,
    history: input.toolHistory,
    messages,
  };
}

/** The call or task around it is what resumes, and what waits when something in here does. */
async function invokeInside(
  agent: Agent,
  scope: Scope,
  input: AgentInput,
  invoked: InvokeOptions,
): Promise<InvokeResult> {
  const { host, identity } = scope;
  const tell = tellerOf(agent, invoked, (topic, message) => host.warnOnce(topic, message));
  const messages = (input.messages ?? []).map(withContent);
  const signals = [invoked.signal, getToolContext()?.signal, scope.root.signal].filter(
    (one) => one !== undefined,
  );
  await scope.ready;
  const { end, setup } = await drive(agent, {
    scope,
    messages,
    hash: chainHashes(messages).at(-1) ?? "",
    system: systemOf(agent),
    plan: planIn(input.plan) ?? NO_PLAN,
    context: input.context ?? null,
    runIds: [identity.runId],
    ownLimits: agent.options.limits ?? {},
    firstPlace: scope.nextLoop() * ANSWERS_PER_LOOP,
    signal: signals.length === 0 ? undefined : AbortSignal.any(signals),
    tell,
    isStreamed: invoked.stream === true,
  });
  const place = {
    host,
    scope: identity,
    budgetId: scope.budgetId,
    turn: 1,
    history: input.toolHistory ?? [],
    messages,
    pending: end.pending ?? [],
  };
  return finish(place, toKept(end, setup), tell);
}

interface DriveOptions {
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
  readonly tell: Tell;
  readonly isStreamed: boolean;
}

async function drive(agent: Agent, how: DriveOptions): Promise<{ end: AgentEnd; setup: AgentSetup }> {
  const { options, model } = agent;
  const { scope, messages, system, tell, signal, isStreamed } = how;
  const { maxContextTokens = MAX_CONTEXT_TOKENS } = options.limits ?? {};
  const { summarization, toolResponses = {} } = options;
  const asked = typeof summarization === "object" ? summarization.summaryTriggerTokens : undefined;
  const triggerTokens = Math.min(
    asked ?? Infinity,
    maxContextTokens * (asked === undefined ? TRIGGER_SHARE : 1),
  );
  const maxResultChars =
    toolResponses.maxToolResponseChars ?? Math.floor(bytesOfTokens(maxContextTokens) * RESULT_SHARE);
  const { store } = scope.host;
  const source = { store, runIds: how.runIds, maxChars: maxResultChars };
  const tools = bindTools(agent.tools, new PlanBook(how.plan), source);
  const window = new ContextWindow(messages, {
    context: how.context,
    rules: retentionRules(toolResponses),
    sizeOf: await createMessageCounter(options.countTokens, model.id),
    overhead: estimateTokens([system, tools.offered]),
    trigger: triggerTokens,
  });
  const history = new History(messages, {
    tools: tools.byName,
    secret: store.secret,
    hash: how.hash,
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
      (position) => tell({ type: "replay-diverged", position }),
      how.firstPlace,
    ),
    history,
    window,
    budget: new AgentBudget(scope, how.ownLimits),
    triggerTokens,
    maxResultChars,
    isStreamed,
    signal,
    tell,
  };
  return { end: await driveAgent(setup), setup };
}

async function finish(place: StatePlace, kept: KeptResult, tell: Tell): Promise<InvokeResult> {
  const state = await readState(place, kept);
  const { status, stop, content, output, outputError, budget, usage } = kept;
  for (const { id, toolName, toolCallId, args } of state.pendingApprovals) {
    tell({ type: "tool_approval", status: "pending", id, toolName, toolCallId, args });
  }
  const found = output === undefined ? {} : { output: output.value };
  if (status !== "waiting") tell({ type: "finalAnswer", content, ...found });
  return {
    runId: state.runId,
    status,
    stop,
    content,
    messages: [...state.messages],
    ...found,
    ...(outputError === undefined ? {} : { outputError }),
    ...(budget === undefined ? {} : { budget }),
    metadata: { usage },
    state,
  };
}

/** The window is the agent's alone; the rest is the run's. */
function runLimits({
  maxContextTokens: _window,
  ...limits
}: SmartAgentLimits): Omit<SmartAgentLimits, "maxContextTokens"> {
  return limits;
}

function systemOf({ options, tools }: Agent): string {
  const { name, systemPrompt } = options;
  return buildSystemPrompt({
    name,
    systemPrompt,
    hasPlan: tools.todoSpec !== undefined,
    hasOutput: tools.responseSpec !== undefined,
    capabilities: "",
  });
}

function tellerOf(
  { options }: Agent,
  invoked: InvokeOptions,
  warnOnce: (topic: string, message: string) => void,
): Tell {
  const listeners = [options.onEvent, invoked.onEvent].filter((one) => one !== undefined);
  const blame = (error: unknown): void =>
    warnOnce("listener", `an event listener threw: ${messageOf(error)}`);
  return (event: SmartAgentEvent) => {
    for (const listener of listeners) {
      try {
        const returned: unknown = listener(event);
        if (returned instanceof Promise) returned.catch(blame);
      } catch (error) {
        blame(error);
      }
    }
  };
}
