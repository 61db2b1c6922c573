/** Validates the options of `runAgentLoop` and `runChatTurn` before the first request. */
import type { Anthropic } from "@anthropic-ai/sdk";
import type { MessageParam } from "@anthropic-ai/sdk/resources/messages";
import {
  aBoolean,
  aFullText,
  aFunction,
  aRunId,
  anInteger,
  anObject,
  aRuntime,
  aSignal,
  aToolSource,
  aList,
  aText,
  type Check,
  describe,
  either,
  Problem,
} from "../../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../../definition/option-table.ts";
import { LIMITS, refusal } from "../../runtime/options.ts";
import type { LoopEventDetails } from "../../invoke/events.ts";
import type * as LoopTypes from "./loop-types.ts";

type AnthropicClient = LoopTypes.AnthropicClient;
type SdkClient = Pick<Anthropic, "messages">;

/** The loop types with the types of the SDK, for internal use. */
export type AgentLoopOptions = LoopTypes.AgentLoopOptions<SdkClient>;
export type AgentLoopResult = LoopTypes.AgentLoopResult<SdkClient>;
export type AgentLoopEvent = LoopTypes.AgentLoopEvent<SdkClient>;
export type { LoopStop } from "./loop-types.ts";

/** An event of the loop itself, without its turn. */
export type LoopEventBody = LoopEventDetails extends infer Event
  ? Event extends LoopEventDetails
    ? Omit<Event, "turn">
    : never
  : never;

/** `loop`: one loop per run. `chat`: each new input with the same run id is another turn. */
export type LoopKind = "loop" | "chat";

export const DEFAULTS = {
  maxTurns: 50,
  maxContextTokens: 200_000,
  maxTokens: 8_192,
  maxParallelTools: 8,
} as const;

const aClient: Check = (value, field) => {
  if (typeof (value as AnthropicClient | null)?.messages?.create !== "function")
    throw new Problem(field, `must be an Anthropic client, such as new Anthropic(), not ${describe(value)}.`);
};

const loopTable = (surface: string): OptionTable =>
  optionTable<AgentLoopOptions>(
    surface,
    {
      client: aClient,
      model: aFullText,
      system: either("a string or a list of text blocks", aText, aList),
      messages: (value, field) => {
        messagesIn(value, field);
        if ((value as unknown[]).length === 0) throw new Problem(field, "must contain at least one message.");
      },
      tools: aToolSource,
      maxTurns: anInteger(1),
      runtime: aRuntime,
      runId: aRunId,
      name: aFullText,
      signal: aSignal,
      onEvent: aFunction,
      stream: aBoolean,
      maxContextTokens: anInteger(1),
      maxTokens: anInteger(1),
      limits: LIMITS,
      steer: aFunction,
      params: anObject,
    },
    { required: ["client", "model", "messages"], example: "{ client, model, messages }" },
  );

export const LOOP_OPTIONS = { loop: loopTable("runAgentLoop"), chat: loopTable("runChatTurn") };

export function checkLoopOptions(kind: LoopKind, options: AgentLoopOptions): void {
  checkOptions(LOOP_OPTIONS[kind], options);
}

/** @throws TOOL_OPTION_INVALID */
export function checkMessages(messages: unknown, name: string): asserts messages is readonly MessageParam[] {
  try {
    messagesIn(messages, name);
  } catch (error) {
    throw error instanceof Problem ? refusal(name, error.message) : error;
  }
}

function messagesIn(messages: unknown, field: string): void {
  const isMessage = (message: unknown): boolean =>
    typeof message === "object" &&
    message !== null &&
    "role" in message &&
    typeof message.role === "string" &&
    "content" in message &&
    (typeof message.content === "string" || Array.isArray(message.content));
  const invalidIndex = Array.isArray(messages) ? messages.findIndex((message) => !isMessage(message)) : 0;
  if (invalidIndex < 0) return;
  const found = Array.isArray(messages)
    ? `and messages[${invalidIndex}] has no role and content of that kind`
    : `not ${describe(messages)}`;
  throw new Problem(
    field,
    `must be a list of messages such as { role: "user", content: "Hello" }, ${found}.`,
  );
}
