/** An AI SDK model whose responses are on record. */
import type { LanguageModelLike } from "../adapters/ai-sdk/language-model.ts";
import { scopeHere } from "../invoke/call-here.ts";
import { type RecordedResponses, recordedResponsesOf } from "../invoke/recorded-responses.ts";
import type { Scope } from "../invoke/scope.ts";
import { canonicalText } from "../util/canonical.ts";
import { sha256 } from "../util/hash.ts";

interface ModelRequest {
  readonly prompt: unknown;
  readonly tools?: unknown;
  readonly toolChoice?: unknown;
}

/** @param onDiverged told once per scope, with the place from which the record is no longer used */
export function journalModel<M extends LanguageModelLike<ModelRequest>>(
  model: M,
  onDiverged: (position: number) => void,
): M {
  const records = new WeakMap<Scope, RecordedResponses>();

  const answer = async (request: ModelRequest, ask: () => Promise<unknown>): Promise<unknown> => {
    const scope = scopeHere();
    // Outside any task there is nothing to go on with later.
    if (scope === undefined) return ask();
    const responses = records.get(scope) ?? recordedResponsesOf(scope, onDiverged);
    records.set(scope, responses);
    const slot = await responses.next(hashOf(request));
    return slot.recorded === undefined ? slot.save(await ask()) : slot.recorded.value;
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
