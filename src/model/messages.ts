/**
 * Messages of an agent, in the shape that most libraries share. They are JSON without values that must not be stored. Messages
 * of callers are validated.
 */
import { refusal } from "../runtime/options.ts";
import { sha256 } from "../util/hash.ts";

export interface AgentMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly ContentPart[];
  readonly name?: string | undefined;
  /** In messages of the assistant. */
  readonly tool_calls?: readonly ToolCallMessage[] | undefined;
  /** In messages of a tool: the call that it answers. */
  readonly tool_call_id?: string | undefined;
  /** In messages of a tool: the text is JSON. */
  readonly format?: "json" | undefined;
  readonly is_error?: true | undefined;
  /** In messages of a tool: the handle of the full result for `get_tool_response`. */
  readonly executionId?: string | undefined;
  /** In messages of the assistant: data that the provider needs back unchanged, such as its reasoning. */
  readonly provider?: { readonly kind: string; readonly content: readonly unknown[] } | undefined;
}

export interface ContentPart {
  readonly type: string;
  readonly [name: string]: unknown;
}

export interface ToolCallMessage {
  readonly id: string;
  readonly type: "function";
  readonly function: {
    readonly name: string;
    /** As the model sent it, usually JSON. */
    readonly arguments: string;
  };
}

const ROLES: ReadonlySet<unknown> = new Set(["system", "user", "assistant", "tool"]);

/** @throws TOOL_OPTION_INVALID */
export function checkAgentMessages(messages: unknown): asserts messages is readonly unknown[] {
  if (!Array.isArray(messages)) throw wrong(`not ${messages === null ? "null" : typeof messages}`);
}

/** @throws TOOL_OPTION_INVALID */
export function checkAgentMessage(message: unknown, index: number): asserts message is AgentMessage {
  const problem = problemWith(message);
  if (problem !== undefined) throw wrong(`and message ${index} ${problem}`);
}

function problemWith(message: unknown): string | undefined {
  if (typeof message !== "object" || message === null) return "is not an object";
  const { role, content, tool_calls: calls, tool_call_id: id, provider } = message as Record<string, unknown>;
  if (!ROLES.has(role))
    return `has the role ${JSON.stringify(role)}; it must be one of ${[...ROLES].join(", ")}`;
  const isContent = typeof content === "string" || (Array.isArray(content) && content.every(isPart));
  if (!isContent && !isMessageOfCalls(message)) return "has no content: a string, or a list of parts";
  if (role === "tool" && typeof id !== "string") return "is a tool's, without tool_call_id";
  if (calls !== undefined && !(Array.isArray(calls) && calls.every(isCall))) {
    return "has tool_calls that are not { id, function: { name, arguments } }";
  }
  if (provider !== undefined && !isProvider(provider)) return "has a provider that is not { kind, content }";
  return undefined;
}

/** Whether it is one of the assistant with calls, which may have no content. */
export function isMessageOfCalls(message: unknown): message is AgentMessage {
  if (typeof message !== "object" || message === null) return false;
  const { role, tool_calls: calls } = message as Partial<AgentMessage>;
  return role === "assistant" && calls !== undefined;
}

function isPart(part: unknown): boolean {
  return typeof part === "object" && part !== null && "type" in part && typeof part.type === "string";
}

function isProvider(provider: unknown): boolean {
  if (typeof provider !== "object" || provider === null) return false;
  const { kind, content } = provider as { kind?: unknown; content?: unknown };
  const isList = Array.isArray(content) && content.every((one) => typeof one === "object" && one !== null);
  return typeof kind === "string" && isList;
}

function isCall(call: unknown): boolean {
  if (typeof call !== "object" || call === null) return false;
  const { id, function: what } = call as { id?: unknown; function?: { name?: unknown; arguments?: unknown } };
  return typeof id === "string" && typeof what?.name === "string" && typeof what.arguments === "string";
}

function wrong(how: string): Error {
  return refusal("messages", `must be a list of messages such as { role: "user", content: "Hello" }, ${how}`);
}

/** A message with calls may have no content; everywhere below, it has one. */
export function withContent(message: AgentMessage): AgentMessage {
  return message.content === undefined || message.content === null
    ? ({ ...(message as object), content: "" } as AgentMessage)
    : message;
}

export function textOf({ content }: AgentMessage): string {
  if (typeof content === "string") return content;
  return content.map(({ type, text }) => (type === "text" && typeof text === "string" ? text : "")).join("");
}

export const NOTHING_SAID = sha256("");

/** The hash of a list of messages, computed one message at a time. @param text the canonical text of the message */
export function chainHash(before: string, text: string): string {
  return sha256(`${before} ${text}`);
}
