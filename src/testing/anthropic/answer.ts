/** The response of one turn, as a test writes it, and as the message that the API would send. */
import {
  aFullText,
  aList,
  aNumber,
  anInteger,
  anObject,
  aText,
  type Check,
} from "../../definition/option-checks.ts";
import { anAnswer, createSpeaker, PARTS, type ScriptedAnswer, type ScriptedParts } from "../model/script.ts";

export interface AnthropicParts extends ScriptedParts {
  /** Default: `tool_use` if there are calls, else `end_turn`. */
  readonly stopReason?: string | undefined;
  /** Content blocks of the API, instead of text and calls. */
  readonly content?: readonly object[] | undefined;
  /** The container in which the API ran code. */
  readonly container?: { readonly id: string; readonly expires_at: string } | undefined;
  /** Closes the connection after this many events of a stream, or in the middle of a body. */
  readonly cutAfter?: number | undefined;
  /** Stops sending after this many events of a stream, and leaves the connection open. */
  readonly holdAfter?: number | undefined;
}

/** An HTTP error. */
export interface HttpFailure {
  readonly status: number;
  /** Default: the error type of the API for the status. */
  readonly errorType?: string | undefined;
  readonly message?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A text, calls, both, an HTTP error (an `Error` is a 500), or invalid bytes. */
export type AnthropicAnswer = ScriptedAnswer | AnthropicParts | HttpFailure | { readonly garbage: string };

type Names<Answer> = Answer extends object ? keyof Answer : never;

export const anAnthropicAnswer: Check = anAnswer({
  ...PARTS,
  stopReason: aText,
  content: aList,
  container: anObject,
  cutAfter: anInteger(0),
  holdAfter: anInteger(0),
  status: aNumber(100),
  errorType: aFullText,
  message: aText,
  headers: anObject,
  garbage: aText,
} satisfies Record<Names<AnthropicParts | HttpFailure | { readonly garbage: string }>, Check>);

export interface SpokenMessage {
  readonly message: {
    readonly id: string;
    readonly type: "message";
    readonly role: "assistant";
    readonly model: string;
    readonly content: readonly Block[];
    readonly stop_reason: string;
    readonly stop_sequence: null;
    readonly container: { readonly id: string; readonly expires_at: string; readonly skills: null } | null;
    readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
  };
  readonly cutAfter: number | undefined;
  readonly holdAfter: number | undefined;
}

export interface Block {
  readonly type: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly citations?: null;
  /** For a call: the input text, which is sent in pieces. */
  readonly inputJson?: string;
}

export function isFailure(answer: AnthropicAnswer): answer is HttpFailure {
  return typeof answer === "object" && "status" in answer;
}

export function isGarbage(answer: AnthropicAnswer): answer is { readonly garbage: string } {
  return typeof answer === "object" && "garbage" in answer;
}

export type MessageSpeaker = (
  said: Exclude<ScriptedAnswer, Error> | AnthropicParts,
  request: { readonly index: number; readonly model: string },
) => SpokenMessage;

export function createMessageSpeaker(): MessageSpeaker {
  const speak = createSpeaker();
  return (said, { index, model }) => {
    const parts: AnthropicParts =
      typeof said === "object" && !Array.isArray(said) ? (said as AnthropicParts) : {};
    const { text, toolCalls } = speak(said);
    const blocks: Block[] = [
      ...(text === undefined ? [] : [{ type: "text", text, citations: null }]),
      ...toolCalls.map(({ toolCallId, toolName, inputJson }) => ({
        type: "tool_use",
        id: toolCallId,
        name: toolName,
        caller: { type: "direct" },
        inputJson,
      })),
    ];
    const content = (parts.content as readonly Block[] | undefined) ?? blocks;
    const hasCalls = content.some(({ type }) => type === "tool_use");
    return {
      message: {
        id: `msg_${index + 1}`,
        type: "message",
        role: "assistant",
        model,
        content,
        stop_reason: parts.stopReason ?? (hasCalls ? "tool_use" : "end_turn"),
        stop_sequence: null,
        container: parts.container === undefined ? null : { ...parts.container, skills: null },
        usage: { input_tokens: 10, output_tokens: 5 },
      },
      cutAfter: parts.cutAfter,
      holdAfter: parts.holdAfter,
    };
  };
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  529: "overloaded_error",
};

export function failureBody({ status, errorType, message }: HttpFailure): object {
  return {
    type: "error",
    error: {
      type: errorType ?? ERROR_TYPES[status] ?? "api_error",
      message: message ?? `scripted ${status}`,
    },
    request_id: "req_scripted",
  };
}
