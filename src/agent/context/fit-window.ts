/** Fits the next request into the window, and emits an event about it. */
import { bytesOfTokens } from "../../model/estimate-tokens.ts";
import { askModel } from "../ask-model.ts";
import type { AgentSetup } from "../drive-agent.ts";
import type { ModelUsage } from "../../model/agent-model.ts";
import type { ContextState } from "../state.ts";
import type { WindowStep } from "./context-window.ts";
import { summaryNote, summaryRequest } from "./summarize.ts";

/** The share of the window for the note that replaces messages left out. */
const NOTE_SHARE = 0.2;

export interface Fitted {
  readonly context: ContextState;
  /** The usage of the summary, if one was requested. */
  readonly usage: ModelUsage | undefined;
}

/** `undefined` when nothing had to be done. @param isSpent no budget is left for a summary */
export async function fitWindow(setup: AgentSetup, isSpent: boolean): Promise<Fitted | undefined> {
  const { window, emit } = setup;
  const step = window.nextStep();
  if (step === undefined) return undefined;
  const before = window.tokens;
  const archivedBefore = window.state?.archivedUpTo ?? 0;
  const { summary, usage } = await summaryOf(setup, step, window.state?.summary ?? "", isSpent);
  const context = { archivedUpTo: step.archivedUpTo, droppedUpTo: step.droppedUpTo, summary };
  window.apply(context);
  emit({
    type: "summarization",
    summary: step.dropped.length === 0 ? "" : summary,
    archivedCount: step.archivedUpTo - archivedBefore,
    messagesCompressed: step.dropped.length,
    tokenCountBefore: before,
    tokenCountAfter: window.tokens,
  });
  return { context, usage };
}

async function summaryOf(
  setup: AgentSetup,
  { dropped }: WindowStep,
  before: string,
  isSpent: boolean,
): Promise<{ summary: string; usage: ModelUsage | undefined }> {
  if (dropped.length === 0) return { summary: before, usage: undefined };
  const window = bytesOfTokens(setup.triggerTokens);
  const note = (summary: string): string => summaryNote(summary, before, dropped, window * NOTE_SHARE);
  if (setup.options.summarization === false || isSpent) return { summary: note(""), usage: undefined };
  const maxChars = Math.floor(window / 2);
  const request = summaryRequest(before, dropped, maxChars);
  const asked = { ...request, tools: [], mustCall: false, outputSchema: undefined, onPart: undefined };
  const answer = await askModel(setup.model, { ...asked, signal: setup.signal }, setup.scope);
  return { summary: note(answer.text), usage: answer.usage };
}
