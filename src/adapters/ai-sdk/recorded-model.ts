/** An AI SDK model whose responses are on record: committed before anything of them happens, and not asked for again. */
import { assertNoForeignRun } from "../../definition/context.ts";
import { sharedByCopies } from "../../definition/package-copy.ts";
import { scopeHere } from "../../invoke/call-here.ts";
import {
  type RecordedResponses,
  recordedResponsesByRequest,
  recordedResponsesOf,
} from "../../loop/recorded-responses.ts";
import { type NamedCall, noteModelNames } from "../../invoke/model-names.ts";
import { warnAboutUnclaimedCalls } from "../../invoke/journal/warning.ts";
import type { Scope } from "../../invoke/scope.ts";
import { canonicalText } from "../../util/canonical.ts";
import { sha256 } from "../../util/hash.ts";
import { withUniqueCallIds } from "./unique-call-ids.ts";
import type { LanguageModelLike } from "../../model/sdk-model.ts";

interface ModelRequest {
  readonly prompt: unknown;
  readonly tools?: unknown;
  readonly toolChoice?: unknown;
  readonly abortSignal?: unknown;
  readonly headers?: unknown;
}

/** How it is asked: an answer in one piece cannot be handed back as a stream, nor the other way round. */
type Way = "generate" | "stream";

/** Models that are recorded, and what they were made of. */
const plainModels = sharedByCopies("recorded models.1", () => new WeakMap<object, object>());

/**
 * For agents that a tool or `runtime.run` drives: after a crash they are handed what they were told before. A model of a
 * workflow's task needs none of this. Outside any run it is the model itself.
 *
 * @example
 * const researcher = new ToolLoopAgent({ model: recordModel(anthropic("claude-sonnet-4-5")), tools });
 */
export function recordModel<M extends LanguageModelLike<ModelRequest>>(model: M): M {
  const { provider, modelId } = model;
  // Several models may be asked the same, and the same in several ways: all that is asked tells them apart.
  return wrap(model, recordedResponsesByRequest, ({ abortSignal: _signal, headers: _headers, ...asked }) => ({
    provider,
    modelId,
    ...asked,
  }));
}

/**
 * For a loop that is alone in its scope, whose responses come in one order.
 * @param onDiverged told once per scope, with the place from which the record is no longer used
 */
export function journalModel<M extends LanguageModelLike<ModelRequest>>(
  model: M,
  onDiverged: (position: number) => void,
): M {
  return wrap(
    model,
    (scope) => recordedResponsesOf(scope, onDiverged),
    ({ prompt, tools, toolChoice }) => ({ prompt, tools, toolChoice }),
  );
}

/** @param asked what tells one request from another */
function wrap<M extends LanguageModelLike<ModelRequest>>(
  given: M,
  recordsOf: (scope: Scope) => RecordedResponses,
  asked: (request: ModelRequest) => object,
): M {
  // What is recorded already is not recorded twice.
  const model = (plainModels.get(given) ?? given) as M;
  const records = new WeakMap<Scope, RecordedResponses>();

  const notes = new WeakMap<Scope, Note>();

  const answer = async <Request extends ModelRequest>(
    way: Way,
    request: Request,
    ask: (request: Request) => Promise<unknown>,
  ): Promise<unknown> => {
    assertNoForeignRun();
    const scope = scopeHere();
    // Outside any task there is nothing to go on with later.
    if (scope === undefined) return ask(request);
    const responses = records.get(scope) ?? recordsOf(scope);
    records.set(scope, responses);
    const slot = await responses.next(sha256(canonicalText({ way, ...asked(request) })));
    if (slot.recorded !== undefined) {
      noteModelNames(scope, callsIn(slot.recorded.value));
      return slot.recorded.value;
    }
    if (slot.hasDiverged) {
      const text = await warnAboutUnclaimedCalls(scope, scope.assigned);
      notes.set(scope, { text, place: Array.isArray(request.prompt) ? request.prompt.length : 0 });
    }
    const response = withOwnIds(await ask(withNote(request, notes.get(scope))), request.prompt);
    noteModelNames(scope, callsIn(response));
    return isBroken(response) ? withoutCalls(response) : slot.save(response);
  };

  const recorded = new Proxy(model, {
    get(target, name) {
      if (name === "doGenerate") {
        return async (options: ModelRequest) =>
          answer("generate", options, async (request) => storable(await target.doGenerate(request)));
      }
      if (name === "doStream") {
        return async (options: ModelRequest) => {
          const parts = await answer("stream", options, async (request) =>
            collect((await target.doStream(request)).stream),
          );
          return { stream: streamOf(parts as unknown[]) };
        };
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  plainModels.set(recorded, model);
  return recorded;
}

/** What a loop is told that goes another way than on record, and where in its messages. */
interface Note {
  readonly text: string;
  readonly place: number;
}

/** The loop does not know of it, so it is put into every request from there on. */
function withNote<Request extends ModelRequest>(request: Request, note: Note | undefined): Request {
  const { prompt } = request;
  if (note === undefined || note.text === "" || !Array.isArray(prompt)) return request;
  const said = { role: "user", content: [{ type: "text", text: note.text }] };
  return { ...request, prompt: (prompt as unknown[]).toSpliced(note.place, 0, said) };
}

function withOwnIds(response: unknown, prompt: unknown): unknown {
  if (Array.isArray(response)) return withUniqueCallIds(response, prompt);
  const { content } = response as { content?: unknown };
  return Array.isArray(content)
    ? { ...(response as object), content: withUniqueCallIds(content, prompt) }
    : response;
}

/** What the loop depends on: not the bodies of the request and of the answer on the wire. */
function storable(result: object): object {
  const { request: _request, response, ...rest } = result as Record<string, unknown>;
  if (typeof response !== "object" || response === null) return rest;
  const { headers: _headers, body: _body, ...kept } = response as Record<string, unknown>;
  return { ...rest, response: kept };
}

async function collect(stream: ReadableStream<unknown>): Promise<unknown[]> {
  const parts: unknown[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

/** A response counts when it is complete. Providers do not throw when a stream breaks off: they say so in it. */
function isBroken(response: unknown): response is unknown[] {
  if (!Array.isArray(response)) return false;
  return response.some(isOfType("error")) || !response.some(isOfType("finish"));
}

/** Nothing of it may happen. The loop is told that it failed. */
function withoutCalls(parts: readonly unknown[]): unknown[] {
  const said = parts.filter((part) => !isOfType("tool-call")(part));
  if (said.some(isOfType("error"))) return said;
  return [...said, { type: "error", error: new Error("The stream ended before the response was complete.") }];
}

/** Of an answer in one piece, or of the parts of a stream. */
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
