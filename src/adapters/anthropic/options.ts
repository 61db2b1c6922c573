/** What `runAgentLoop` and `runChatTurn` take and give. A wrong option is refused before anything is asked. */
import type { Anthropic } from "@anthropic-ai/sdk";
import type { MessageParam } from "@anthropic-ai/sdk/resources/messages";
import { checkLimits, checkSignal, refusal } from "../../runtime/options.ts";
import { isStorableText, isTooLongForId } from "../../util/storable-text.ts";
import type * as LoopTypes from "./loop-types.ts";

type SdkClient = Pick<Anthropic, "messages">;

/** With the types of the SDK, for the loops themselves. */
export type AgentLoopOptions = LoopTypes.AgentLoopOptions<SdkClient>;
export type AgentLoopResult = LoopTypes.AgentLoopResult<SdkClient>;
export type AgentLoopEvent = LoopTypes.AgentLoopEvent<SdkClient>;
export type { LoopStop } from "./loop-types.ts";

/** An event of the loop itself, without its turn. */
export type LoopNews = AgentLoopEvent extends infer Event
  ? Event extends { readonly turn: number }
    ? Omit<Event, "turn">
    : never
  : never;

/** `loop`: one run, one loop. `chat`: each further input under the run id is a further turn. */
export type LoopKind = "loop" | "chat";

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
