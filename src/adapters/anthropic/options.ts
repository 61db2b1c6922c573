/** What `runAgentLoop` and `runChatTurn` take and give. A wrong option is refused before anything is asked. */
import type { Anthropic } from "@anthropic-ai/sdk";
import type { MessageCreateParamsBase, MessageParam } from "@anthropic-ai/sdk/resources/messages";
import type { Approval } from "../../invoke/approval.ts";
import type { Limits } from "../../invoke/host.ts";
import {
  aBoolean,
  aFullText,
  aFunction,
  anId,
  anInteger,
  anObject,
  aRuntime,
  aSignal,
  aToolSource,
  aList,
  aText,
  type Check,
  either,
  Problem,
} from "../../definition/option-checks.ts";
import { checkOptions, optionTable, type OptionTable } from "../../definition/option-table.ts";
import { LIMITS, refusal } from "../../runtime/options.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { ToolSource } from "../../tool/offer-tools.ts";
import type { Container } from "./container.ts";
import type { AgentLoopEvent } from "./events.ts";

/** The part of the SDK's client that is used; those for other clouds have it too. */
export interface AnthropicClient {
  readonly messages: Pick<Anthropic["messages"], "create">;
}

export interface AgentLoopOptions {
  readonly client: AnthropicClient;
  readonly model: string;
  readonly system?: MessageCreateParamsBase["system"];
  /** What the run begins with. The same run id goes on with the same messages only. */
  readonly messages: readonly MessageParam[];
  /** Default: the global registry. */
  readonly tools?: ToolSource | undefined;
  /** How many responses are asked for at most. Default 50. */
  readonly maxTurns?: number | undefined;
  /** Default: one on `toolwright.db`, opened and closed by this call. */
  readonly runtime?: Runtime | undefined;
  /** Default: a fresh run. */
  readonly runId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: AgentLoopEvent) => void) | undefined;
  /** Whether responses are streamed. Default `false`. */
  readonly stream?: boolean | undefined;
  /** What a request may hold, by estimate; beyond it the oldest messages are left out. Default 200,000. */
  readonly maxContextTokens?: number | undefined;
  /** `max_tokens` of each request. Default 8,192. */
  readonly maxTokens?: number | undefined;
  /** Those of the run. `maxParallelTools` is 8 where nobody says. */
  readonly limits?: Limits | undefined;
  /** Asked before each request: messages to put in. What it gives is on record, and is not asked for again. */
  readonly steer?:
    | (() => readonly MessageParam[] | undefined | PromiseLike<readonly MessageParam[] | undefined>)
    | undefined;
  /** Whatever else goes into each request: `thinking`, `tool_choice`, `temperature`; `tools` are added to ours. */
  readonly params?:
    | Partial<Omit<MessageCreateParamsBase, "model" | "messages" | "max_tokens" | "stream" | "system">>
    | undefined;
}

/** `loop`: one run, one loop. `chat`: each further input under the run id is a further turn. */
export type LoopKind = "loop" | "chat";

/** What made a loop stop. The last four leave the run as it is: the same run id goes on with it. */
export type LoopStop =
  | "end-turn"
  | "terminal-tool"
  | "max-tokens"
  | "context-window"
  | "refusal"
  | "approval"
  | "max-turns"
  | "api-error";

export interface AgentLoopResult {
  readonly status: "complete" | "failed" | "waiting";
  /** In words. */
  readonly reason: string;
  readonly stop: LoopStop;
  /** Those that it began with and those that were added. Always such that they can be sent. */
  readonly messages: MessageParam[];
  /** The terminal tool that ended it. */
  readonly terminal?: { readonly name: string; readonly input: unknown; readonly output: unknown };
  readonly runId: string;
  /** Where the API ran code. A further turn of a chat is sent with it; for another run, pass `params: { container: id }`. */
  readonly container?: Container | undefined;
  /** What it waits for. */
  readonly approvals?: readonly Approval[];
  /** What the client threw. */
  readonly error?: unknown;
}

export const DEFAULTS = {
  maxTurns: 50,
  maxContextTokens: 200_000,
  maxTokens: 8_192,
  maxParallelTools: 8,
} as const;

const aClient: Check = (value, field) => {
  if (typeof (value as AnthropicClient | null)?.messages?.create !== "function")
    throw new Problem(field, "must be an Anthropic client: new Anthropic().");
};

const loopTable = (surface: string): OptionTable =>
  optionTable<AgentLoopOptions>(
    surface,
    {
      client: aClient,
      model: aFullText,
      system: either("a text or a list of text blocks", aText, aList),
      messages: (value, field) => {
        messagesIn(value, field);
        if ((value as unknown[]).length === 0) throw new Problem(field, "must hold at least one message.");
      },
      tools: aToolSource,
      maxTurns: anInteger(1),
      runtime: aRuntime,
      runId: anId,
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
  const isGood = (message: unknown): boolean =>
    typeof message === "object" &&
    message !== null &&
    "role" in message &&
    typeof message.role === "string" &&
    "content" in message &&
    (typeof message.content === "string" || Array.isArray(message.content));
  if (!Array.isArray(messages) || !messages.every(isGood)) {
    throw new Problem(field, 'must be a list of messages such as { role: "user", content: "Hello" }.');
  }
}
