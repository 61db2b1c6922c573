/**
 * The loop: ask, put the response on record, run its calls, tell the model what came of them, ask again. It is driven from
 * the start each time; what is on record is handed back in its place, and from the first thing that is not, it is live.
 */
import type { Message, MessageParam } from "@anthropic-ai/sdk/resources/messages";
import type { Approval } from "../../invoke/approval.ts";
import { warnAboutUnclaimedCalls } from "../../invoke/journal/warning.ts";
import { assertNotAborted, errorResult, type TerminalCall, truncatedCall } from "../../loop/call-results.ts";
import type { RecordedResponses, ResponseSlot } from "../../loop/recorded-responses.ts";
import type { Scope } from "../../invoke/scope.ts";
import type { Tool } from "../../tool/tool.ts";
import { refusal } from "../../runtime/options.ts";
import { askModel, type ModelRequest } from "./ask-model.ts";
import { type Container, containerAfter, containerFor } from "./container.ts";
import { estimateTokens } from "../../util/estimate-tokens.ts";
import { History } from "./history.ts";
import type { ModelResponse } from "./model-response.ts";
import { type AgentLoopOptions, checkMessages, DEFAULTS, type LoopNews, type LoopStop } from "./options.ts";
import { type FinishedCalls, type RequestedBlock, runBlocks } from "./run-calls.ts";
import { resultFormat } from "./tool-result.ts";
import { createTrimmer } from "./trim-history.ts";

export interface LoopSetup {
  readonly options: AgentLoopOptions;
  readonly scope: Scope;
  readonly responses: RecordedResponses;
  readonly request: Omit<ModelRequest, "messages" | "container">;
  /** That of the turn before, in a chat. */
  readonly container: Container | undefined;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly signal: AbortSignal | undefined;
  readonly emit: (turn: number, news: LoopNews) => void;
}

export interface LoopEnd {
  readonly stop: LoopStop;
  readonly history: History;
  /** The history ends with an answer that the API paused. */
  readonly isPaused?: boolean;
  readonly container?: Container | undefined;
  readonly response?: Message;
  readonly terminal?: TerminalCall | undefined;
  readonly pending?: readonly Approval[];
  readonly error?: unknown;
}

/** @throws TOOL_ABORTED, and whatever keeps the record from being written */
export async function driveLoop(setup: LoopSetup): Promise<LoopEnd> {
  const { options, scope, request, tools, signal, emit } = setup;
  const { maxTurns = DEFAULTS.maxTurns, maxContextTokens = DEFAULTS.maxContextTokens } = options;
  const { secret } = scope.host.store;
  const history = new History(options.messages, {
    tools,
    secret,
    request: { ...request, toolChoice: options.params?.tool_choice, maxContextTokens },
  });
  /** Calls that were made, or found on record, by now. */
  const claimed = new Set<string>();
  const room = maxContextTokens - estimateTokens(request);
  let turn = 0;
  let container = setup.container;
  /** The API paused the last answer: nothing can be said before it has continued. */
  let isPaused = false;
  let hasDiverged = false;
  const trimmer = createTrimmer((dropped, left) => emit(turn, { type: "history-trimmed", dropped, left }));
  while (turn < maxTurns) {
    turn += 1;
    assertNotAborted(signal, "loop");
    const slot = await setup.responses.next(history.hash);
    hasDiverged ||= slot.hasDiverged;
    const warnsOf = hasDiverged && !isPaused ? claimed : undefined;
    if (warnsOf !== undefined) hasDiverged = false;
    const { steered, response: recorded } = await takeSteered(setup, slot, turn, { isPaused, warnsOf });
    history.say(steered);
    const messages = trimmer.fit(history.messages, room);
    const inContainer = containerFor(options.params?.container, container, scope.host.clock.now());
    const asked = recorded ?? (await ask(setup, { ...request, messages, container: inContainer }, turn));
    if ("error" in asked) return { stop: "api-error", history, isPaused, container, error: asked.error };
    const response = recorded ?? ((await slot.save({ steered, response: asked })) as Kept).response ?? asked;
    const { message } = response;
    container = containerAfter(message, container);
    emit(turn, { type: "response-received", message, replayed: recorded !== undefined });
    if (message.stop_reason === "refusal") {
      return { stop: "refusal", history, container, response: message };
    }
    const calls = callsIn(response);
    const ended = CUT_OFF.has(message.stop_reason) ? leave(calls) : await runAll(setup, calls);
    for (const key of ended.keys) claimed.add(key);
    assertNotAborted(signal, "loop");
    if (ended.pending.length > 0) return { stop: "approval", history, container, pending: ended.pending };
    history.answer(message);
    if (calls.length > 0) history.results(ended.results);
    isPaused = message.stop_reason === "pause_turn" && calls.length === 0;
    const stop = stopOf(message, calls.length > 0, ended);
    if (stop !== undefined) return { stop, history, container, response: message, terminal: ended.terminal };
  }
  return { stop: "max-turns", history, isPaused, container };
}

/** What stands on record for a turn: first what was put in before it, then the response as well. */
interface Kept {
  readonly steered: readonly MessageParam[];
  readonly response?: ModelResponse;
}

/** On record before it is sent: whoever gave it has given it away. */
async function takeSteered(
  setup: LoopSetup,
  slot: ResponseSlot,
  turn: number,
  { isPaused, warnsOf }: { isPaused: boolean; warnsOf: ReadonlySet<string> | undefined },
): Promise<Kept> {
  const { options, scope, emit } = setup;
  const kept = slot.recorded?.value as Kept | undefined;
  // An answer that the API paused is sent back as the last message: what the program has to say comes after it.
  let steered = kept?.steered ?? (isPaused ? [] : await options.steer?.()) ?? [];
  if (kept === undefined) {
    checkMessages(steered, "steer");
    if (steered.some(({ role }) => role !== "user")) throw refusal("steer", "may put in user messages only");
    const warning = warnsOf === undefined ? "" : await warnAboutUnclaimedCalls(scope, warnsOf);
    if (warning !== "") steered = [{ role: "user", content: warning }, ...steered];
    if (steered.length > 0) await slot.save({ steered });
  }
  if (steered.length > 0) {
    emit(turn, { type: "messages-steered", messages: steered, replayed: kept !== undefined });
  }
  return kept ?? { steered };
}

async function ask(
  { options, signal, emit }: LoopSetup,
  request: ModelRequest,
  turn: number,
): Promise<ModelResponse | { error: unknown }> {
  let hasEmitted = false;
  const emitting = (news: LoopNews): void => {
    hasEmitted = true;
    emit(turn, news);
  };
  try {
    return await askModel(options, request, signal, {
      onText: (text) => emitting({ type: "text-delta", text }),
      onThinking: (thinking) => emitting({ type: "thinking-delta", thinking }),
    });
  } catch (error) {
    if (hasEmitted) emit(turn, { type: "response-discarded" });
    assertNotAborted(signal, "loop");
    return { error };
  }
}

function callsIn({ message, malformed }: ModelResponse): RequestedBlock[] {
  return message.content.flatMap((block, index) =>
    block.type === "tool_use" ? [{ block, malformed: malformed[index] }] : [],
  );
}

async function runAll(setup: LoopSetup, calls: readonly RequestedBlock[]): Promise<FinishedCalls> {
  const { scope, tools, options, signal } = setup;
  const maxParallel =
    options.limits?.maxParallelTools ?? scope.host.limits.maxParallelTools ?? DEFAULTS.maxParallelTools;
  return runBlocks(calls, { scope, tools, maxParallel, signal });
}

const CUT_OFF: ReadonlyMap<Message["stop_reason"], LoopStop> = new Map([
  ["max_tokens", "max-tokens"],
  ["model_context_window_exceeded", "context-window"],
]);

function leave(calls: readonly RequestedBlock[]): FinishedCalls {
  const results = calls.map(({ block }) =>
    errorResult(truncatedCall(block.name, "response"), resultFormat(block.id)),
  );
  return { results, pending: [], keys: [], terminal: undefined };
}

function stopOf(
  { stop_reason: reason }: Message,
  hasCalls: boolean,
  { terminal }: FinishedCalls,
): LoopStop | undefined {
  if (terminal !== undefined) return "terminal-tool";
  if (reason === "model_context_window_exceeded") return "context-window";
  if (hasCalls || reason === "pause_turn") return undefined;
  return CUT_OFF.get(reason) ?? "end-turn";
}
