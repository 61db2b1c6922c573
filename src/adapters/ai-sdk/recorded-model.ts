/**
 * An AI SDK model that logs its responses: each is committed before its calls run, and replayed instead of requested
 * again. Streams pass while they are recorded.
 */
import { ToolwrightError } from "../../errors.ts";
import { assertNoForeignRun } from "../../definition/context.ts";
import { sharedByCopies } from "../../definition/package-copy.ts";
import { currentScope } from "../../invoke/call-in-context.ts";
import {
  type ReceivedResponse,
  type RecordedResponses,
  recordedResponsesByRequest,
  recordedResponsesOf,
  type ResponseSlot,
} from "../../loop/recorded-responses.ts";
import type { AskedModel } from "../../invoke/asked-model.ts";
import { type NamedCall, noteModelNames } from "../../invoke/model-names.ts";
import { warnAboutUnclaimedCalls } from "../../invoke/journal/retry-warning.ts";
import type { Scope } from "../../invoke/scope.ts";
import { endOfThrown, openChat, traceChat } from "../../invoke/trace-work.ts";
import { canonicalText } from "../../util/canonical.ts";
import { sha256 } from "../../util/hash.ts";
import { fromSdkPart, partsOfResponse } from "../../stream/parts-of-response.ts";
import { openStream } from "./open-stream.ts";
import { withOrderedResults } from "./ordered-results.ts";
import { recordStream } from "./record-stream.ts";
import { toStreamParts } from "./to-stream-parts.ts";
import { aboutRequest, answerOfResponse } from "./trace-response.ts";
import { uniqueCallIds, withUniqueCallIds } from "./unique-call-ids.ts";
import { toShownJson } from "../../util/shown-value.ts";
import type { LanguageModelLike } from "../../model/sdk-model.ts";

interface ModelRequest {
  readonly prompt: unknown;
  readonly tools?: unknown;
  readonly toolChoice?: unknown;
  readonly abortSignal?: unknown;
  readonly headers?: unknown;
}

type RequestMode = "generate" | "stream";

/** The original model of each recorded one. */
const plainModels = sharedByCopies("recorded models.1", () => new WeakMap<object, object>());

/**
 * For agents that run inside a tool or `runtime.run`: after a crash, logged responses are replayed. Models of
 * workflow tasks are recorded without it. Outside any run, requests go to the model unchanged.
 *
 * @example
 * const researcher = new ToolLoopAgent({ model: recordModel(anthropic("claude-sonnet-5-5")), tools });
 */
export function recordModel<M extends LanguageModelLike<ModelRequest>>(model: M): M {
  assertModel(model);
  const { provider, modelId } = model;
  // Several models may receive the same prompt, so the whole request identifies a response.
  return wrap(
    model,
    recordedResponsesByRequest,
    ({ abortSignal: _signal, headers: _headers, ...request }) => ({
      provider,
      modelId,
      ...request,
    }),
    { onReplay: noteRecordedAnswer },
  );
}

/** The AI SDK also takes the name of a model, which has no requests that could be recorded. */
function assertModel(model: unknown): void {
  if (typeof model === "object" && model !== null) return;
  throw new ToolwrightError(
    "TOOL_OPTION_INVALID",
    `recordModel takes a model of an AI SDK provider, not ${toShownJson(model)}.`,
    {
      details: { option: "model" },
      hint: 'Pass a model object, such as anthropic("claude-sonnet-5-5") from @ai-sdk/anthropic, or gateway("…") from ai.',
    },
  );
}

/** After a change of the code, a second start of the program would otherwise seem to ignore it. */
function noteRecordedAnswer({ host, identity }: Scope, calls: readonly NamedCall[]): void {
  // A response with calls is replayed after every crash or approval, and so are the answers of agents inside a tool.
  if (calls.length > 0 || identity.parentKey !== "" || host.replay !== undefined) return;
  host.warnOnce(
    "recorded answer",
    `run "${identity.runId}" was used before, so this is its recorded answer; the model was not called for it. ` +
      "Use another runId to start over.",
  );
}

/** Records the models of one loop. */
export type RecordModel = <M extends LanguageModelLike<ModelRequest>>(model: M) => M;

/**
 * For the only loop of a scope, whose requests have a fixed order, whichever of its models gets them.
 * @param onDiverged called once per scope with the position of the first request that differs from the log
 */
export function createJournal(onDiverged: (position: number) => void): RecordModel {
  const memory = newMemory();
  return (model) =>
    wrap(
      model,
      (scope) => recordedResponsesOf(scope, onDiverged),
      ({ prompt, tools, toolChoice }) => ({ prompt, tools, toolChoice }),
      { memory, isDriven: true },
    );
}

interface WrapOptions {
  /** What the models of one loop share. */
  readonly memory?: LoopMemory | undefined;
  /** Called with the calls of each replayed response. */
  readonly onReplay?: ((scope: Scope, calls: readonly NamedCall[]) => void) | undefined;
  /** The loop is driven here: it stops where a call waits, and a model that cannot stream returns the whole response. */
  readonly isDriven?: boolean | undefined;
}

interface LoopMemory {
  readonly records: WeakMap<Scope, RecordedResponses>;
  readonly notes: WeakMap<Scope, Note>;
}

function newMemory(): LoopMemory {
  return { records: new WeakMap(), notes: new WeakMap() };
}

/** @param identify returns the fields that tell one request from another */
function wrap<M extends LanguageModelLike<ModelRequest>>(
  given: M,
  recordsOf: (scope: Scope) => RecordedResponses,
  identify: (request: ModelRequest) => object,
  { memory = newMemory(), onReplay = () => undefined, isDriven = false }: WrapOptions,
): M {
  // Do not record a recorded model twice.
  const model = (plainModels.get(given) ?? given) as M;
  const { records, notes } = memory;

  /** `undefined` outside any run, where there is nothing to resume. */
  const prepare = async <Request extends ModelRequest>(
    way: RequestMode,
    given: Request,
  ): Promise<Prepared<Request> | undefined> => {
    assertNoForeignRun();
    const scope = currentScope();
    if (scope === undefined) return undefined;
    if (isDriven) assertNothingWaits(scope);
    const responses = records.get(scope) ?? recordsOf(scope);
    records.set(scope, responses);
    const prompt = withOrderedResults(given.prompt);
    const request = prompt === given.prompt ? given : { ...given, prompt };
    const hashOf = (mode: RequestMode, of: ModelRequest = request): string =>
      sha256(canonicalText({ way: mode, ...identify(of) }));
    // Runs of earlier versions can still be resumed. They requested whole responses for agents of tasks, and did not order results.
    const earlier = [
      ...(way === "stream" ? [hashOf("generate")] : []),
      ...(request === given ? [] : [hashOf(way, given)]),
    ];
    const slot = await responses.next(hashOf(way), () => askedOf(identify(request)), earlier);
    if (slot.recorded !== undefined) {
      const calls = callsIn(slot.recorded.value);
      noteModelNames(scope, calls);
      onReplay(scope, calls);
    } else if (slot.hasDiverged) {
      const text = await warnAboutUnclaimedCalls(scope, scope.assigned);
      notes.set(scope, { text, index: Array.isArray(request.prompt) ? request.prompt.length : 0 });
    }
    return { scope, slot, request: withNote(request, notes.get(scope)) };
  };

  const generate = async (target: M, options: ModelRequest): Promise<unknown> => {
    const prepared = await prepare("generate", options);
    if (prepared === undefined) return storable(await target.doGenerate(options));
    const { scope, slot, request } = prepared;
    if (slot.recorded !== undefined) return slot.recorded.value;
    const received = await slot.receive();
    try {
      const about = aboutRequest(target, request, false);
      const ask = async (): Promise<object> => target.doGenerate(request);
      const answer = await traceChat(scope, about, ask, answerOfResponse);
      const response = withOwnIds(storable(answer), options.prompt);
      noteModelNames(scope, callsIn(response));
      return await received.save(response, partsOfResponse(response).slice(1));
    } catch (error) {
      stopReceiving(received, slot, options);
      throw error;
    }
  };

  const stream = async (target: M, options: ModelRequest): Promise<unknown> => {
    const prepared = await prepare("stream", options);
    if (prepared === undefined) return target.doStream(options);
    const { scope, slot, request } = prepared;
    if (slot.recorded !== undefined) return { stream: streamOf(toStreamParts(slot.recorded.value)) };
    const received = await slot.receive();
    const chat = openChat(scope, aboutRequest(target, request, true));
    const open = async (): Promise<ReadableStream<unknown>> =>
      isDriven
        ? openStream(target, request, (response) => streamOf(toStreamParts(storable(response))))
        : (await target.doStream(request)).stream;
    try {
      const source = await (chat === undefined ? open() : chat.within(open));
      const recorded = recordStream(source, uniqueCallIds(options.prompt), {
        onPart: (part) => {
          for (const said of fromSdkPart(part)) received.add(said);
        },
        save: async (parts, passed) => {
          chat?.end({ answer: answerOfResponse(parts) });
          noteModelNames(scope, callsIn(parts));
          return (await received.save(parts, parts.slice(passed).flatMap(fromSdkPart))) as unknown[];
        },
        onBroken: (error) => {
          chat?.end(endOfThrown(error));
          stopReceiving(received, slot, options);
        },
      });
      return { stream: recorded };
    } catch (error) {
      chat?.end(endOfThrown(error));
      stopReceiving(received, slot, options);
      throw error;
    }
  };

  const recorded = new Proxy(model, {
    get(target, name) {
      if (name === "doGenerate") return (options: ModelRequest) => generate(target, options);
      if (name === "doStream") return (options: ModelRequest) => stream(target, options);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  plainModels.set(recorded, model);
  return recorded;
}

/**
 * The SDK has no result for a call in whose tool another call waits, and would tell the model that it failed. Like a call that
 * waits itself, it ends the loop; the resume makes it again.
 */
function assertNothingWaits({ root, identity }: Scope): void {
  if (root.waiting.size === 0) return;
  throw new ToolwrightError(
    "TOOL_APPROVAL_PENDING",
    `A call of task "${identity.nodeId}" waits for a decision, so its model is not asked before.`,
    { effect: "none" },
  );
}

/** The model itself is not part of it: a replay calls no model. */
function askedOf(identity: object): AskedModel {
  const {
    prompt,
    provider: _provider,
    modelId: _modelId,
    includeRawChunks: _raw,
    ...settings
  } = identity as Record<string, unknown>;
  return { messages: Array.isArray(prompt) ? (prompt as unknown[]) : [prompt], settings };
}

interface Prepared<Request> {
  readonly scope: Scope;
  readonly slot: ResponseSlot;
  /** With the warning of a loop that differs from its log. */
  readonly request: Request;
}

/** Nothing of the response counts. A loop that was stopped has not failed: it may resume, and retracts the parts then. */
function stopReceiving(received: ReceivedResponse, slot: ResponseSlot, { abortSignal }: ModelRequest): void {
  slot.release();
  if (!(abortSignal instanceof AbortSignal && abortSignal.aborted)) received.discard();
  received.abandon();
}

/** A warning for a loop that differs from its log, and its index among the messages. */
interface Note {
  readonly text: string;
  readonly index: number;
}

/** The loop's own messages do not contain the note, so it is inserted into every later request. */
function withNote<Request extends ModelRequest>(request: Request, note: Note | undefined): Request {
  const { prompt } = request;
  if (note === undefined || note.text === "" || !Array.isArray(prompt)) return request;
  const message = { role: "user", content: [{ type: "text", text: note.text }] };
  return { ...request, prompt: (prompt as unknown[]).toSpliced(note.index, 0, message) };
}

function withOwnIds(response: unknown, prompt: unknown): unknown {
  const { content } = response as { content?: unknown };
  return Array.isArray(content)
    ? { ...(response as object), content: withUniqueCallIds(content, prompt) }
    : response;
}

/** Drops the raw request and response, which the loop does not depend on. */
function storable(result: object): object {
  const { request: _request, response, ...rest } = result as Record<string, unknown>;
  if (typeof response !== "object" || response === null) return rest;
  const { headers: _headers, body: _body, ...metadata } = response as Record<string, unknown>;
  return { ...rest, response: metadata };
}

/** @param response a whole response, or the parts of a stream */
function callsIn(response: unknown): NamedCall[] {
  const parts: unknown = Array.isArray(response)
    ? response
    : (response as { content?: unknown } | undefined)?.content;
  if (!Array.isArray(parts)) return [];
  return (parts as unknown[]).filter(isNamedCall);
}

function isNamedCall(part: unknown): part is NamedCall {
  if (!isOfType("tool-call")(part)) return false;
  const { toolCallId, toolName } = part as Record<string, unknown>;
  return typeof toolCallId === "string" && typeof toolName === "string";
}

function isOfType(type: string): (part: unknown) => boolean {
  return (part) => typeof part === "object" && part !== null && "type" in part && part.type === type;
}

function streamOf(parts: readonly unknown[]): ReadableStream<unknown> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}
