/**
 * The loop: make the request fit, ask, put the answer on record, run its calls, tell the model what came of them, ask again.
 * It is driven from the start each time; what is on record is handed back in its place, and from the first thing that is
 * not, it is live.
 */
import { assertNotAborted } from "../loop/call-results.ts";
import type { RecordedResponses } from "../loop/recorded-responses.ts";
import type { Scope } from "../invoke/scope.ts";
import { sha256 } from "../util/hash.ts";
import { askModel } from "./ask-model.ts";
import { type AgentBudget, costOfAnswer } from "./budget.ts";
import { fitWindow } from "./context/fit-window.ts";
import type { ContextWindow } from "./context/context-window.ts";
import { countedUsage } from "./estimated-usage.ts";
import type { Emit } from "./events.ts";
import type { History } from "./history.ts";
import type { AgentMessage } from "../model/messages.ts";
import type { AgentModel, AskOptions, ModelAnswer, ModelUsage } from "../model/agent-model.ts";
import type { AgentStop, SmartAgentOptions } from "./options.ts";
import { outputInText } from "./output-in-text.ts";
import { runToolCalls } from "./run-tool-calls.ts";
import type { AgentUsage, ContextState } from "./state.ts";
import type { AgentTools } from "./tools/agent-tools.ts";

export interface AgentSetup {
  readonly options: SmartAgentOptions;
  readonly scope: Scope;
  readonly model: AgentModel;
  readonly tools: AgentTools;
  readonly system: string;
  /** What every request has beside what was said, as a hash. */
  readonly requestHash: string;
  readonly responses: RecordedResponses;
  readonly history: History;
  readonly window: ContextWindow;
  readonly sizeOf: (message: AgentMessage) => number;
  readonly budget: AgentBudget;
  /** From how much on something is left out of requests. */
  readonly triggerTokens: number;
  /** What one result may have at most. */
  readonly maxResultChars: number;
  readonly isStreamed: boolean;
  readonly signal: AbortSignal | undefined;
  readonly emit: Emit;
}

export interface AgentEnd {
  readonly stop: AgentStop;
  readonly content: string;
  /** There when it is there: any value is one. */
  readonly output?: { readonly value: unknown } | undefined;
  readonly outputError?: string | undefined;
  readonly budget?: string | undefined;
  /** The executionIds of the response whose calls wait for approval, in its order. */
  readonly waitingCalls?: readonly string[] | undefined;
  readonly usage: AgentUsage;
}

/** What stands on record for one request: first how it was made to fit, then the answer as well. */
export interface StoredAnswer {
  readonly context?: ContextState | undefined;
  /** What a summary for it used. */
  readonly summaryUsage?: ModelUsage | undefined;
  /** The budget that was spent: no tools were offered. */
  readonly withdrawn?: string | undefined;
  readonly answer?: ModelAnswer | undefined;
}

/** How often an answer that is no output is sent back in a row. */
const MOST_CORRECTIONS = 3;
const MOST_CUT = 3;

/** @throws TOOL_ABORTED, TOOL_MODEL_FAILED, and whatever keeps the record from being written */
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
    // What waits is not said yet: it is run and said when it is decided.
    if (ran.isWaiting) return end("approval", { waitingCalls: ran.executionIds });
    history.answer(answer);
    history.results(ran.results);
    if (answer.finish === "refused") return end("refused", { outputError: outputErrorOf(options) });
    if (answer.calls.length > 0) {
      if (ran.output !== undefined) return end("output", { output: ran.output });
      if (ran.isTerminal) return end("terminal-tool");
      cuts = answer.finish === "cut" ? cuts + 1 : 0;
      if (cuts >= MOST_CUT) return end("cut", { outputError: outputErrorOf(options) });
      misses = ran.hasMissed ? misses + 1 : 0;
      if (misses > MOST_CORRECTIONS) return end("no-output", { outputError: ran.problem });
      if (withdrawn !== undefined && !ran.hasMissed)
        return end("budget", { outputError: outputErrorOf(options) });
      continue;
    }
    if (tools.responseSpec === undefined) {
      return end(answer.finish === "cut" ? "cut" : withdrawn === undefined ? "answer" : "budget");
    }
    const found = await outputInText(tools.responseSpec, answer.text);
    if ("value" in found) return end("output", { output: found });
    misses += 1;
    if (misses > MOST_CORRECTIONS) return end("no-output", { outputError: found.problem });
    history.say(`${found.problem} Give the final answer by calling ${tools.responseName}.`);
  }
}

function outputErrorOf({ outputSchema }: SmartAgentOptions): string | undefined {
  return outputSchema === undefined ? undefined : "The work ended before there was an output.";
}

interface NextAnswer {
  readonly answer: ModelAnswer;
  readonly withdrawn: string | undefined;
  readonly costUsd: number;
  readonly usage: ModelUsage;
}

async function nextAnswer(setup: AgentSetup): Promise<NextAnswer> {
  const { responses, requestHash, history, window, budget, model, options, emit } = setup;
  const slot = await responses.next(sha256(`${requestHash} ${history.hash}`));
  const kept = slot.recorded?.value as StoredAnswer | undefined;
  const before = kept ?? (await prepare(setup));
  if (kept?.context !== undefined) window.apply(kept.context);
  if (kept === undefined && before.context !== undefined) {
    // What it was made of is gone from the next request on: it must not be made again in other words.
    await slot.save(before);
  }
  if (before.withdrawn !== undefined) emit({ type: "budget", budget: before.withdrawn });
  const isReplayed = before.answer !== undefined;
  const answer = before.answer ?? (await ask(setup, before.withdrawn));
  const usage = addUsages(answer.usage, before.summaryUsage);
  const counted = countedUsage(answer, usage, window.tokens, setup.sizeOf);
  const { costUsd, problem } = costOfAnswer(options.costOf, model.id, counted);
  budget.note(counted, costUsd);
  window.correct(answer.usage.inputTokens);
  const saved = isReplayed
    ? before
    : ((await slot.save({ ...before, answer }, budget.account(counted, costUsd))) as StoredAnswer);
  emit({ type: "metadata", modelName: model.id, usage: answer.usage, costUsd, replayed: isReplayed });
  // Not before it is on record: it was paid for.
  if (problem !== undefined) throw problem;
  return { answer: saved.answer ?? answer, withdrawn: before.withdrawn, costUsd, usage };
}

/** What is decided before a request: which budget is spent, and what is left out. */
async function prepare(setup: AgentSetup): Promise<StoredAnswer> {
  const withdrawn = await setup.budget.spent();
  const fitted = await fitWindow(setup, withdrawn !== undefined);
  return {
    ...(withdrawn === undefined ? {} : { withdrawn }),
    ...(fitted === undefined ? {} : { context: fitted.context, summaryUsage: fitted.usage }),
  };
}

async function ask(setup: AgentSetup, withdrawn: string | undefined): Promise<ModelAnswer> {
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
    onText: isStreamed ? (text) => emit({ type: "stream", text }) : undefined,
  };
  return askModel(model, request, scope.host.clock);
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
