/** What `runAgentLoop` and `runChatTurn` take and give. A wrong option is refused before anything is asked. */
import type { Anthropic } from "@anthropic-ai/sdk";
import type { MessageCreateParamsBase, MessageParam } from "@anthropic-ai/sdk/resources/messages";
import type { Approval } from "../../invoke/approval.ts";
import type { Limits } from "../../invoke/host.ts";
import { checkLimits, checkSignal, refusal } from "../../runtime/options.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { ToolSource } from "../../tool/offer-tools.ts";
import { isStorableText, isTooLongForId } from "../../util/storable-text.ts";
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

const KNOWN = new Set<string>([
  "client",
  "model",
  "system",
  "messages",
  "tools",
  "maxTurns",
  "runtime",
  "runId",
  "signal",
  "onEvent",
  "stream",
  "maxContextTokens",
  "maxTokens",
  "limits",
  "steer",
  "params",
] satisfies (keyof AgentLoopOptions)[]);

export function checkLoopOptions(options: AgentLoopOptions): void {
  const unknown = Object.keys(options).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) {
    throw refusal(unknown, `is not one of a loop. It takes ${[...KNOWN].join(", ")}`);
  }
  if (typeof options.client?.messages?.create !== "function") {
    throw refusal("client", "must be an Anthropic client: new Anthropic()");
  }
  if (typeof options.model !== "string" || options.model === "") {
    throw refusal("model", "must be the name of a model");
  }
  checkMessages(options.messages, "messages");
  if (options.messages.length === 0) throw refusal("messages", "must hold at least one message");
  for (const name of ["maxTurns", "maxTokens", "maxContextTokens"] as const) {
    const value = options[name];
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0)) {
      throw refusal(name, "must be a whole number from 1");
    }
  }
  const { runId } = options;
  if (runId !== undefined && (typeof runId !== "string" || runId === "" || !isStorableText(runId))) {
    throw refusal("runId", "must be a text that is not empty");
  }
  if (runId !== undefined && isTooLongForId(runId)) throw refusal("runId", "is too long");
  for (const name of ["onEvent", "steer"] as const) {
    if (options[name] !== undefined && typeof options[name] !== "function") {
      throw refusal(name, "must be a function");
    }
  }
  checkSignal(options.signal);
  checkLimits(options.limits);
}

export function checkMessages(messages: unknown, name: string): asserts messages is readonly MessageParam[] {
  const isGood = (message: unknown): boolean =>
    typeof message === "object" &&
    message !== null &&
    "role" in message &&
    typeof message.role === "string" &&
    "content" in message &&
    (typeof message.content === "string" || Array.isArray(message.content));
  if (!Array.isArray(messages) || !messages.every(isGood)) {
    throw refusal(name, 'must be a list of messages such as { role: "user", content: "Hello" }');
  }
}
