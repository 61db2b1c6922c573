/**
 * The loop: fit the request into the window, call the model, store the response, run its calls, add their results, repeat. A
 * resumed loop starts from the beginning: it replays stored responses and calls the model from the first missing one.
 */
import { assertNotAborted } from "../loop/call-results.ts";
import type { ReceivedResponse, RecordedResponses } from "../loop/recorded-responses.ts";
import { partsOfAnswer } from "../stream/parts-of-response.ts";
import type { StreamPartDetails } from "../stream/stream-part.ts";
import type { Scope } from "../invoke/scope.ts";
import { sha256 } from "../util/hash.ts";
import { askModel } from "./ask-model.ts";
import { type AgentBudget, costOfAnswer } from "./budget.ts";
import { fitWindow } from "./context/fit-window.ts";
import type { ContextWindow } from "./context/context-window.ts";
import type { Emit } from "./events.ts";
import { type History, toCallMessage } from "./history.ts";
import type { AgentMessage } from "../model/messages.ts";
import type { AgentModel, AskOptions, ModelAnswer, ModelUsage } from "../model/agent-model.ts";
import type { AgentStop, SmartAgentOptions } from "./options.ts";
import { parseTextOutput } from "./parse-text-output.ts";
import { runToolCalls } from "./run-tool-calls.ts";
import type { AgentUsage, ContextState } from "./state.ts";
import type { AgentTools } from "./tools/agent-tools.ts";

export interface AgentSetup {
  readonly options: SmartAgentOptions;
  readonly scope: Scope;
  readonly model: AgentModel;
  readonly tools: AgentTools;
  readonly system: string;
  /** The hash of the parts of a request that do not change: system prompt and tools. */
  readonly requestHash: string;
  readonly responses: RecordedResponses;
  readonly history: History;
  readonly window: ContextWindow;
  readonly sizeOf: (message: AgentMessage) => number;
  readonly budget: AgentBudget;
  /** The size at which requests are shortened. */
  readonly triggerTokens: number;
  /** The limit for one result. */
  readonly maxResultChars: number;
  readonly isStreamed: boolean;
  readonly signal: AbortSignal | undefined;
  readonly emit: Emit;
}

export interface AgentEnd {
  readonly stop: AgentStop;
  readonly content: string;
  /** Wrapped, since `undefined` is a valid output. */
  readonly output?: { readonly value: unknown } | undefined;
  readonly outputError?: string | undefined;
  readonly budget?: string | undefined;
  /** The executionIds of the response whose calls wait for approval, in its order. */
  readonly waitingCalls?: readonly string[] | undefined;
  readonly usage: AgentUsage;
}

/** The stored form of one request: first how it was fitted, later the response too. */
export interface StoredAnswer {
  readonly context?: ContextState | undefined;
  /** The usage of the summary for this request. */
  readonly summaryUsage?: ModelUsage | undefined;
  /** The exceeded budget: no tools were offered. */
  readonly withdrawn?: string | undefined;
  readonly answer?: ModelAnswer | undefined;
}

/** How often in a row an invalid output is sent back. */
const MAX_CORRECTIONS = 3;
const MAX_TRUNCATED = 3;

/** @throws TOOL_ABORTED, TOOL_MODEL_FAILED, and errors of the store */
export async function driveAgent(setup: AgentSetup): Promise<AgentEnd> {
  const { options, history, signal, tools } = setup;
  let usage: AgentUsage = { requests: 0, inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, costUsd: 0 };
  let misses = 0;
  let cuts = 0;
  for (;;) {
    assertNotAborted(signal, "agent");
    const { answer, withdrawn, costUsd, usage: answerUsage } = await nextAnswer(setup);
    usage = addAnswer(usage, answerUsage, costUsd);
    const end = (stop: AgentStop, more: Partial<AgentEnd> = {}): AgentEnd => ({
      stop,
      content: answer.text,
      usage,
      ...(withdrawn === undefined ? {} : { budget: withdrawn }),
      ...more,
    });
    const ran = await runToolCalls(setup, answer, withdrawn);
    assertNotAborted(signal, "agent");
    // A response with pending calls joins the history when a resume has run them.
    if (ran.isWaiting) return end("approval", { waitingCalls: ran.executionIds });
    history.answer(answer);
    history.results(ran.results);
    if (answer.finish === "refused") return end("refused", { outputError: outputErrorOf(options) });
    if (answer.calls.length > 0) {
      if (ran.output !== undefined) return end("output", { output: ran.output });
      if (ran.isTerminal) return end("terminal-tool");
      cuts = answer.finish === "cut" ? cuts + 1 : 0;
      if (cuts >= MAX_TRUNCATED) return end("cut", { outputError: outputErrorOf(options) });
      misses = ran.hasMissed ? misses + 1 : 0;
      if (misses > MAX_CORRECTIONS) return end("no-output", { outputError: ran.problem });
      if (withdrawn !== undefined && !ran.hasMissed)
        return end("budget", { outputError: outputErrorOf(options) });
      continue;
    }
    if (tools.responseSpec === undefined) {
      return end(answer.finish === "cut" ? "cut" : withdrawn === undefined ? "answer" : "budget");
    }
    const found = await parseTextOutput(tools.responseSpec, answer.text);
    if ("value" in found) return end("output", { output: found });
    misses += 1;
    if (misses > MAX_CORRECTIONS) return end("no-output", { outputError: found.problem });
    history.say(`${found.problem} Give the final answer by calling ${tools.responseName}.`);
  }
}

function outputErrorOf({ outputSchema }: SmartAgentOptions): string | undefined {
  return outputSchema === undefined ? undefined : "The agent ended without an output.";
}

interface NextAnswer {
  readonly answer: ModelAnswer;
  readonly withdrawn: string | undefined;
  readonly costUsd: number;
  readonly usage: ModelUsage;
}

async function nextAnswer(setup: AgentSetup): Promise<NextAnswer> {
  const { responses, requestHash, history, window, budget, model, options, emit } = setup;
  const slot = await responses.next(sha256(`${requestHash} ${history.hash}`), () => ({
    messages: history.stored,
    settings: { system: setup.system, tools: setup.tools.offered },
  }));
  const kept = slot.recorded?.value as StoredAnswer | undefined;
  const before = kept ?? (await prepare(setup));
  if (kept?.context !== undefined) window.apply(kept.context);
  if (kept === undefined && before.context !== undefined) {
    // The next request lacks the summarized messages, so another summary could not be made: store this one now.
    await slot.save(before);
  }
  if (before.withdrawn !== undefined) emit({ type: "budget", budget: before.withdrawn });
  const isReplayed = before.answer !== undefined;
  const received = isReplayed ? undefined : await slot.receive();
  const answer = before.answer ?? (await ask(setup, before.withdrawn, received));
  const usage = addUsages(answer.usage, before.summaryUsage);
  const counted = countedUsage(answer, usage, window.tokens, setup.sizeOf);
  const { costUsd, problem } = costOfAnswer(options.costOf, model.id, counted);
  budget.note(counted, costUsd);
  window.correct(answer.usage.inputTokens);
  const saved = isReplayed
    ? before
    : ((await received?.save(
        { ...before, answer },
        partsOfReceived(answer, received.hasParts()),
        budget.account(counted, costUsd),
      )) as StoredAnswer);
  emit({ type: "metadata", modelName: model.id, usage: answer.usage, costUsd, replayed: isReplayed });
  // Thrown after the response is stored: it was paid for.
  if (problem !== undefined) throw problem;
  return { answer: saved.answer ?? answer, withdrawn: before.withdrawn, costUsd, usage };
}

/** Decisions before a request: which budget is exceeded, and which messages are left out. */
async function prepare(setup: AgentSetup): Promise<StoredAnswer> {
  const withdrawn = await setup.budget.spent();
  const fitted = await fitWindow(setup, withdrawn !== undefined);
  return {
    ...(withdrawn === undefined ? {} : { withdrawn }),
    ...(fitted === undefined ? {} : { context: fitted.context, summaryUsage: fitted.usage }),
  };
}

/** The parts that readers have not received: all of them, if the response was not streamed. */
function partsOfReceived(answer: ModelAnswer, isStreamed: boolean): StreamPartDetails[] {
  const parts = partsOfAnswer({ ...answer });
  return isStreamed ? parts.filter(({ type }) => type === "tool-call" || type === "finish") : parts;
}

async function ask(
  setup: AgentSetup,
  withdrawn: string | undefined,
  received: ReceivedResponse | undefined,
): Promise<ModelAnswer> {
  const { model, system, tools, window, signal, scope, emit, isStreamed } = setup;
  const isFinal = withdrawn !== undefined;
  const offered = isFinal ? tools.whenSpent : tools.offered;
  const request: AskOptions = {
    messages: window.messages,
    system: isFinal ? `${system}\n\n${spentPrompt(withdrawn)}` : system,
    tools: offered,
    mustCall: isFinal && offered.length > 0,
    outputSchema: model.isStructured && tools.isAlone && !isFinal ? tools.outputJsonSchema : undefined,
    signal,
    onPart:
      isStreamed || received?.isRead() === true
        ? (part) => {
            received?.add(part);
            if (isStreamed && part.type === "text-delta") emit({ type: "stream", text: part.delta });
          }
        : undefined,
  };
  try {
    return await askModel(model, request, scope, () => received?.discard());
  } catch (error) {
    if (signal?.aborted !== true) received?.discard();
    received?.abandon();
    throw error;
  }
}

function spentPrompt(budget: string): string {
  return `The budget ${budget} is spent: no more tools can be called. Give the final answer now, with what you have.`;
}

function addUsages(one: ModelUsage, other: ModelUsage | undefined): ModelUsage {
  if (other === undefined) return one;
  const sum = (name: keyof ModelUsage): number | undefined =>
    one[name] === undefined && other[name] === undefined ? undefined : (one[name] ?? 0) + (other[name] ?? 0);
  return {
    inputTokens: sum("inputTokens"),
    outputTokens: sum("outputTokens"),
    cachedInputTokens: sum("cachedInputTokens"),
  };
}

function addAnswer(total: AgentUsage, usage: ModelUsage, costUsd: number): AgentUsage {
  return {
    requests: total.requests + 1,
    inputTokens: total.inputTokens + (usage.inputTokens ?? 0),
    outputTokens: total.outputTokens + (usage.outputTokens ?? 0),
    cachedInputTokens: total.cachedInputTokens + (usage.cachedInputTokens ?? 0),
    costUsd: total.costUsd + costUsd,
  };
}

/**
 * Fills in the usage that a model does not report, by the token counter of the agent, so that budgets still hold.
 * @param reported by the model, for the response and for summaries before it
 * @param requestTokens the size of the request by the same counter
 */
function countedUsage(
  { text, calls }: ModelAnswer,
  reported: ModelUsage,
  requestTokens: number,
  sizeOf: (message: AgentMessage) => number,
): ModelUsage {
  const asMessage = (): AgentMessage => ({
    role: "assistant",
    content: text,
    tool_calls: calls.map((call) => toCallMessage(call)),
  });
  return {
    ...reported,
    inputTokens: reported.inputTokens ?? requestTokens,
    outputTokens: reported.outputTokens ?? sizeOf(asMessage()),
  };
}
