/**
 * A model whose responses are on record: committed before anything of them happens, and handed back in their places when
 * the loop is driven again. When the loop asks something else than what is on record, it goes on live from there.
 */
import { scopeHere } from "../invoke/call-here.ts";
import type { Scope } from "../invoke/scope.ts";
import { readResponse, saveResponse } from "../store/responses.ts";
import { canonicalText } from "../util/canonical.ts";
import { decode, encode } from "../util/encode.ts";
import { sha256 } from "../util/hash.ts";
import { ToolwrightError } from "../errors.ts";

/** The part of the AI SDK's language model that is needed here. */
export interface LanguageModelLike {
  doGenerate(options: ModelRequest): PromiseLike<object>;
  doStream(options: ModelRequest): PromiseLike<{ stream: ReadableStream<unknown> }>;
}

interface ModelRequest {
  readonly prompt: unknown;
  readonly tools?: unknown;
  readonly toolChoice?: unknown;
}

export function isLanguageModel(value: unknown): value is LanguageModelLike {
  return (
    typeof value === "object" &&
    value !== null &&
    "doGenerate" in value &&
    typeof value.doGenerate === "function" &&
    "doStream" in value
  );
}

/** @param onDiverged told once per scope, with the place from which the record is no longer used */
export function journalModel<M extends LanguageModelLike>(
  model: M,
  onDiverged: (position: number) => void,
): M {
  const progress = new WeakMap<Scope, { position: number; isLive: boolean }>();

  const answer = async (request: ModelRequest, ask: () => Promise<unknown>): Promise<unknown> => {
    const scope = scopeHere();
    // Outside any task there is nothing to go on with later.
    if (scope === undefined) return ask();
    await scope.ready;
    const state = progress.get(scope) ?? { position: 0, isLive: false };
    progress.set(scope, state);
    const place = { scopeId: scope.id, attempt: scope.attempt, position: state.position };
    state.position += 1;
    const requestHash = hashOf(request);
    const { store } = scope.host;
    const recorded = state.isLive ? undefined : await store.read(() => readResponse(place));
    if (recorded?.requestHash === requestHash) return decode(recorded.responseJson);
    if (recorded !== undefined) {
      state.isLive = true;
      onDiverged(place.position);
    }
    const responseJson = encode(await ask());
    const changes = await store.transaction(
      () => saveResponse(place, { requestHash, responseJson }, scope.writer),
      "normal",
    );
    if (changes === 0) throw lost(scope);
    return decode(responseJson);
  };

  return new Proxy(model, {
    get(target, name) {
      if (name === "doGenerate") {
        return async (options: ModelRequest) =>
          answer(options, async () => storable(await target.doGenerate(options)));
      }
      if (name === "doStream") {
        return async (options: ModelRequest) => {
          const parts = await answer(options, async () => collect((await target.doStream(options)).stream));
          return { stream: streamOf(parts as unknown[]) };
        };
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** What the loop depends on: not the bodies of the request and of the answer on the wire. */
function storable(result: object): object {
  const { request: _request, response, ...rest } = result as Record<string, unknown>;
  if (typeof response !== "object" || response === null) return rest;
  const { headers: _headers, body: _body, ...kept } = response as Record<string, unknown>;
  return { ...rest, response: kept };
}

function hashOf({ prompt, tools, toolChoice }: ModelRequest): string {
  return sha256(canonicalText({ prompt, tools, toolChoice }));
}

/** A response counts when it is complete: a stream that breaks off leaves nothing. */
async function collect(stream: ReadableStream<unknown>): Promise<unknown[]> {
  const parts: unknown[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

function streamOf(parts: readonly unknown[]): ReadableStream<unknown> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

function lost(scope: Scope): ToolwrightError {
  const { runId, nodeId } = scope.identity;
  return new ToolwrightError(
    "TOOL_RUN_FENCED",
    `Another process has taken over task "${nodeId}" of run "${runId}".`,
  );
}
