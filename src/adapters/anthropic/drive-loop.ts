/**
 * The loop: request a response, log it, run its calls, send their results, and repeat. A resume drives it from the
 * start: logged responses and calls are replayed in order, and the first one that is not logged is live.
 */
import type { Message, MessageParam } from "@anthropic-ai/sdk/resources/messages";
import type { Approval } from "../../invoke/approval.ts";
import { warnAboutUnclaimedCalls } from "../../invoke/journal/retry-warning.ts";
import { assertNotAborted, errorResult, type TerminalCall, truncatedCall } from "../../loop/call-results.ts";
import type { ReceivedResponse, RecordedResponses, ResponseSlot } from "../../loop/recorded-responses.ts";
import type { Scope } from "../../invoke/scope.ts";
import type { ChatAnswer } from "../../invoke/telemetry.ts";
import { traceChat } from "../../invoke/trace-work.ts";
import { endOfMessage, partsOfMessage } from "../../stream/parts-of-response.ts";
import type { Tool } from "../../tool/tool.ts";
import { refusal } from "../../runtime/options.ts";
import { askModel, type ModelRequest } from "./ask-model.ts";
import { type Container, containerAfter, containerFor } from "./container.ts";
import { estimateTokens } from "../../model/estimate-tokens.ts";
import { History } from "./history.ts";
import type { ModelResponse } from "./model-response.ts";
import {
  type AgentLoopOptions,
  checkMessages,
  DEFAULTS,
  type LoopEventBody,
  type LoopStop,
} from "./options.ts";
import { type FinishedCalls, type RequestedBlock, runBlocks } from "./run-calls.ts";
import { resultFormat } from "./tool-result.ts";
import { createTrimmer } from "./trim-history.ts";

export interface LoopSetup {
  readonly options: AgentLoopOptions;
  readonly scope: Scope;
  readonly responses: RecordedResponses;
  readonly request: Omit<ModelRequest, "messages" | "container">;
  /** The container of the previous turn of a chat. */
  readonly container: Container | undefined;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly signal: AbortSignal | undefined;
  readonly emit: (round: number, event: LoopEventBody) => void;
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

/** @throws TOOL_ABORTED, and errors of the store */
export async function driveLoop(setup: LoopSetup): Promise<LoopEnd> {
  const { options, scope, request, tools, signal, emit } = setup;
  const { maxTurns = DEFAULTS.maxTurns, maxContextTokens = DEFAULTS.maxContextTokens } = options;
  const { secret } = scope.host.store;
  const settings = { ...request, toolChoice: options.params?.tool_choice, maxContextTokens };
  const history = new History(options.messages, { tools, secret, request: settings });
  /** Keys of the calls that were made or replayed so far. */
  const claimed = new Set<string>();
  const room = maxContextTokens - estimateTokens(request);
  let round = 0;
  let container = setup.container;
  /** The API paused the last answer: no message can be added before it continues. */
  let isPaused = false;
  let hasDiverged = false;
  const trimmer = createTrimmer((dropped, left) => emit(round, { type: "history-trimmed", dropped, left }));
  while (round < maxTurns) {
    round += 1;
    assertNotAborted(signal, "loop");
    const slot = await setup.responses.next(history.hash, () => ({
      messages: [...options.messages, ...history.stored],
      settings,
    }));
    hasDiverged ||= slot.hasDiverged;
    const warnsOf = hasDiverged && !isPaused ? claimed : undefined;
    if (warnsOf !== undefined) hasDiverged = false;
    const { steered, response: recorded } = await takeSteered(setup, slot, round, { isPaused, warnsOf });
    history.add(steered);
    const messages = trimmer.fit(history.messages, room);
    const inContainer = containerFor(options.params?.container, container, scope.host.clock.now());
    const live = recorded === undefined ? await slot.receive() : undefined;
    const received =
      recorded ??
      (await requestResponse(setup, { ...request, messages, container: inContainer }, round, live));
    if ("error" in received)
      return { stop: "api-error", history, isPaused, container, error: received.error };
    const response = recorded ?? (await saveResponse(live, steered, received));
    const { message } = response;
    container = containerAfter(message, container);
    emit(round, { type: "response-received", message, replayed: recorded !== undefined });
    if (message.stop_reason === "refusal") {
      return { stop: "refusal", history, container, response: message };
    }
    const calls = callsIn(response);
    const ended = CUT_OFF.has(message.stop_reason) ? skipCalls(calls) : await runAll(setup, calls);
    for (const key of ended.keys) claimed.add(key);
    assertNotAborted(signal, "loop");
    if (ended.pending.length > 0) return { stop: "approval", history, container, pending: ended.pending };
    history.addAnswer(message);
    if (calls.length > 0) history.addResults(ended.results);
    isPaused = message.stop_reason === "pause_turn" && calls.length === 0;
    const stop = stopOf(message, calls.length > 0, ended);
    if (stop !== undefined) return { stop, history, container, response: message, terminal: ended.terminal };
  }
  return { stop: "max-turns", history, isPaused, container };
}

/** The stored form of a round: first the steered messages, later also the response. */
interface StoredTurn {
  readonly steered: readonly MessageParam[];
  readonly response?: ModelResponse;
}

/** Steered messages are stored before they are sent: `steer` does not return them a second time. */
async function takeSteered(
  setup: LoopSetup,
  slot: ResponseSlot,
  round: number,
  { isPaused, warnsOf }: { isPaused: boolean; warnsOf: ReadonlySet<string> | undefined },
): Promise<StoredTurn> {
  const { options, scope, emit } = setup;
  const stored = slot.recorded?.value as StoredTurn | undefined;
  // A paused answer must be the last message of the request, so steered messages wait until it is complete.
  let steered = stored?.steered ?? (isPaused ? [] : await options.steer?.()) ?? [];
  if (stored === undefined) {
    checkMessages(steered, "steer");
    if (steered.some(({ role }) => role !== "user")) throw refusal("steer", "must return user messages only");
    const warning = warnsOf === undefined ? "" : await warnAboutUnclaimedCalls(scope, warnsOf);
    if (warning !== "") steered = [{ role: "user", content: warning }, ...steered];
    if (steered.length > 0) await slot.save({ steered });
  }
  if (steered.length > 0) {
    emit(round, { type: "messages-steered", messages: steered, replayed: stored !== undefined });
  }
  return stored ?? { steered };
}

async function saveResponse(
  live: ReceivedResponse | undefined,
  steered: StoredTurn["steered"],
  response: ModelResponse,
): Promise<ModelResponse> {
  const message = { ...response.message };
  const end = live?.hasParts() === true ? endOfMessage(message) : partsOfMessage(message);
  const saved = (await live?.save({ steered, response }, end)) as StoredTurn | undefined;
  return saved?.response ?? response;
}

async function requestResponse(
  { options, scope, signal, emit }: LoopSetup,
  request: ModelRequest,
  round: number,
  live: ReceivedResponse | undefined,
): Promise<ModelResponse | { error: unknown }> {
  let hasEmitted = false;
  const emitDelta = (event: LoopEventBody): void => {
    hasEmitted = true;
    emit(round, event);
  };
  try {
    const isStreamed = options.stream === true || live?.isRead() === true;
    const { model, maxTokens } = options;
    const about = { model, provider: "anthropic", isStreamed, isJson: false, maxTokens };
    const asked = (): Promise<ModelResponse> =>
      askModel(isStreamed ? { ...options, stream: true } : options, request, signal, {
        onPart: (part) => live?.add(part),
        onText: (text) => emitDelta({ type: "text-delta", text }),
        onThinking: (thinking) => emitDelta({ type: "thinking-delta", thinking }),
      });
    return await traceChat(scope, about, asked, ({ message }) => answerOf(message));
  } catch (error) {
    if (hasEmitted) emit(round, { type: "response-discarded" });
    if (signal?.aborted !== true) live?.discard();
    live?.abandon();
    assertNotAborted(signal, "loop");
    return { error };
  }
}

/** `input_tokens` of the API has no cached tokens. */
function answerOf({ model, id, stop_reason: reason, usage }: Message): ChatAnswer {
  const cachedInputTokens = usage?.cache_read_input_tokens ?? undefined;
  const cacheWriteTokens = usage?.cache_creation_input_tokens ?? undefined;
  return {
    model,
    id,
    finishReason: reason ?? undefined,
    inputTokens: usage && usage.input_tokens + (cachedInputTokens ?? 0) + (cacheWriteTokens ?? 0),
    outputTokens: usage?.output_tokens,
    cachedInputTokens,
    cacheWriteTokens,
  };
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

/** The last call of a truncated response may be incomplete without showing it, so none of its calls run. */
function skipCalls(calls: readonly RequestedBlock[]): FinishedCalls {
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
