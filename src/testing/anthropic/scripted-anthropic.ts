/// <reference lib="esnext.disposable" preserve="true" />
/**
 * A server on loopback with the Messages API and scripted responses. Tests use it with the real client, so that retries,
 * streams and errors are real as well. It refuses the requests that the API would refuse.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { checkOptions } from "../../definition/option-table.ts";
import {
  answerOf,
  checkScript,
  SCRIPTED_ANTHROPIC_OPTIONS,
  type ScriptedModelOptions,
  turnAt,
} from "../model/script.ts";
import {
  type AnthropicAnswer,
  createMessageSpeaker,
  failureBody,
  type HttpFailure,
  anAnthropicAnswer,
  isFailure,
  isGarbage,
  type SpokenMessage,
} from "./answer.ts";
import { problemWith } from "./check-request.ts";
import { streamEvents, toServerSentEvent, wholeMessage } from "./stream-events.ts";

export interface AnthropicRequest {
  /** The number of the request, from 0. Refused requests are not counted. */
  readonly index: number;
  readonly body: Readonly<Record<string, unknown>> & {
    readonly model: string;
    readonly messages: readonly { readonly role: string; readonly content: unknown }[];
    readonly tools?: readonly { readonly name: string }[];
    readonly stream?: boolean;
  };
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** One turn: the response, or a function that computes it from the request. */
export type AnthropicTurn =
  | AnthropicAnswer
  | ((request: AnthropicRequest) => AnthropicAnswer | PromiseLike<AnthropicAnswer>);

export interface ScriptedAnthropic extends AsyncDisposable {
  /** For `new Anthropic({ baseURL, apiKey: "any" })`. */
  readonly baseURL: string;
  /** Every request that the script answered, in order. */
  readonly requests: readonly AnthropicRequest[];
  /** The reasons of refused requests. */
  readonly refused: readonly string[];
}

/**
 * @example
 * await using server = await createScriptedAnthropic([
 *   [{ toolName: "place_order", input: { sku: "A-1" } }],
 *   { status: 529 },
 *   "Done.",
 * ]);
 * const client = new Anthropic({ baseURL: server.baseURL, apiKey: "any" });
 */
export async function createScriptedAnthropic(
  script: readonly AnthropicTurn[],
  options: Pick<ScriptedModelOptions, "atEnd"> = {},
): Promise<ScriptedAnthropic> {
  checkOptions(SCRIPTED_ANTHROPIC_OPTIONS, options);
  checkScript(SCRIPTED_ANTHROPIC_OPTIONS, script, anAnthropicAnswer);
  const requests: AnthropicRequest[] = [];
  const refused: string[] = [];
  const speak = createMessageSpeaker();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = JSON.parse(await textOf(request)) as AnthropicRequest["body"];
    const problem = problemWith(body);
    if (problem !== undefined) {
      refused.push(problem);
      fail(response, { status: 400, message: problem });
      return;
    }
    const asked = { index: requests.length, body, headers: request.headers };
    requests.push(asked);
    const turn = turnAt(script, asked.index, options);
    const { index } = asked;
    const said = await answerOf(SCRIPTED_ANTHROPIC_OPTIONS, turn, asked, { index, check: anAnthropicAnswer });
    if (said instanceof Error) fail(response, { status: 500, message: said.message });
    else if (isFailure(said)) fail(response, said);
    else if (isGarbage(said)) response.setHeader("content-type", contentType(body)).end(said.garbage);
    else send(response, speak(said, { index: asked.index, model: body.model }), body.stream === true);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      // The script has ended: a retry would not help.
      fail(response, { status: 400, message: error instanceof Error ? error.message : String(error) });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseURL: `http://127.0.0.1:${port}`,
    requests,
    refused,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(response: ServerResponse, spoken: SpokenMessage, isStream: boolean): void {
  const { cutAfter, holdAfter } = spoken;
  response.setHeader("content-type", contentType({ stream: isStream }));
  if (!isStream) {
    const text = JSON.stringify(wholeMessage(spoken));
    if (cutAfter === undefined) response.end(text);
    else response.write(text.slice(0, text.length / 2), () => response.destroy());
    return;
  }
  const events = streamEvents(spoken).map(toServerSentEvent);
  const sent = events.slice(0, cutAfter ?? holdAfter).join("");
  if (cutAfter !== undefined) response.write(sent, () => response.destroy());
  else if (holdAfter !== undefined) response.write(sent);
  else response.end(sent);
}

function fail(response: ServerResponse, failure: HttpFailure): void {
  response
    .writeHead(failure.status, { "content-type": "application/json", ...failure.headers })
    .end(JSON.stringify(failureBody(failure)));
}

function contentType({ stream }: { readonly stream?: unknown }): string {
  return stream === true ? "text/event-stream" : "application/json";
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += String(chunk);
  return text;
}
