/** Converts messages to the AI SDK's prompt format. */
import { parseInput } from "../tool/parse-input.ts";
import { remembered } from "../util/remembered.ts";
import { ByConversation } from "./by-conversation.ts";
import { type AgentMessage, type ContentPart, textOf } from "./messages.ts";

export const SDK_KIND = "ai-sdk";

export interface SdkMessage {
  readonly role: AgentMessage["role"];
  readonly content: string | readonly object[];
}

/** The part of a list of messages that has been converted to a prompt. */
interface Converted {
  readonly messages: readonly AgentMessage[];
  /** The number of messages that are in the prompt. */
  count: number;
  readonly prompt: SdkMessage[];
  /** The length of the prompt before each message. */
  readonly starts: number[];
}

/**
 * Converts only messages that are new since the last request. The cost does not grow with the history, neither in one invoke
 * nor from one invoke of a conversation to the next.
 */
export function createPromptMaker(): (messages: readonly AgentMessage[]) => SdkMessage[] {
  const made = new WeakMap<readonly AgentMessage[], Converted>();
  const parts = new WeakMap<AgentMessage, object>();
  const once: Once = <T extends object>(message: AgentMessage, make: () => T): T =>
    remembered(parts, message, make) as T;
  const conversations = new ByConversation<Converted>();
  const start = (messages: readonly AgentMessage[]): Converted => {
    const converted = startingLike(conversations.take(messages) ?? NOTHING, messages);
    convertRest(converted, once);
    conversations.keep(messages, (kept) => startingLike(converted, kept));
    return converted;
  };
  return (messages) => {
    const converted = remembered(made, messages, () => start(messages));
    convertRest(converted, once);
    return converted.prompt.slice();
  };
}

const NOTHING: Converted = { messages: [], count: 0, prompt: [], starts: [] };

/** Messages that both lists share are already converted. Messages are frozen, so equal ones are the same object. */
function startingLike(earlier: Converted, messages: readonly AgentMessage[]): Converted {
  const most = Math.min(earlier.count, messages.length);
  let count = 0;
  while (count < most && earlier.messages[count] === messages[count]) count += 1;
  // The results of one response share a message of the prompt.
  const isResult = (message: AgentMessage | undefined): boolean => message?.role === "tool";
  while (count > 0 && (isResult(messages[count]) || isResult(earlier.messages[count]))) count -= 1;
  const length = earlier.starts[count] ?? earlier.prompt.length;
  return {
    messages,
    count,
    prompt: earlier.prompt.slice(0, length),
    starts: earlier.starts.slice(0, count),
  };
}

/** Converts a message, or returns the cached result. */
type Once = <T extends object>(message: AgentMessage, make: () => T) => T;

function convertRest(converted: Converted, once: Once): void {
  const { messages, prompt, starts } = converted;
  const names = new Map<string, string>();
  let results: object[] | undefined;
  for (const message of messages.slice(converted.count)) {
    starts.push(prompt.length);
    for (const call of message.tool_calls ?? []) names.set(call.id, call.function.name);
    if (message.role !== "tool") {
      results = undefined;
      const made = once(message, () => toSdkMessage(message));
      // Providers refuse an empty response.
      if (message.role !== "assistant" || made.content.length > 0) prompt.push(made);
      continue;
    }
    // The results of one response go into one message.
    if (results === undefined) prompt.push({ role: "tool", content: (results = []) });
    const name = message.name ?? names.get(message.tool_call_id ?? "") ?? "tool";
    results.push(once(message, () => toResultPart(message, name)));
  }
  converted.count = messages.length;
}

function toSdkMessage(message: AgentMessage): SdkMessage {
  const { role, content } = message;
  if (role === "system") return { role, content: textOf(message) };
  if (role === "assistant") return { role, content: toAssistantParts(message) };
  if (typeof content === "string") return { role, content: [{ type: "text", text: content }] };
  return { role, content: content.map(toUserPart) };
}

function toAssistantParts(message: AgentMessage): object[] {
  const calls = new Map((message.tool_calls ?? []).map((call) => [call.id, call]));
  const given = message.provider?.kind === SDK_KIND ? message.provider.content : [];
  const parts = given.flatMap((part): object[] => {
    const { type, toolCallId, providerMetadata, ...rest } = part as Record<string, unknown>;
    const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
    const call = type === "tool-call" ? calls.get(String(toolCallId)) : undefined;
    if (type !== "tool-call") return [{ type, ...rest, ...options }];
    if (call === undefined)
      return rest["providerExecuted"] === true ? [{ type, toolCallId, ...rest, ...options }] : [];
    calls.delete(call.id);
    return [{ ...toCallPart(call), ...options }];
  });
  const text = textOf(message);
  const isSaid = given.length > 0 || text === "";
  return [...(isSaid ? [] : [{ type: "text", text }]), ...parts, ...[...calls.values()].map(toCallPart)];
}

function toCallPart({
  id,
  function: { name, arguments: text },
}: NonNullable<AgentMessage["tool_calls"]>[number]): object {
  // Providers take an object; input that was not valid JSON got an error result.
  return { type: "tool-call", toolCallId: id, toolName: name, input: parseInput(text)?.value ?? {} };
}

function toResultPart(message: AgentMessage, toolName: string): object {
  const text = textOf(message);
  const parsed = message.format === "json" ? parseInput(text) : undefined;
  const kind = parsed === undefined ? "text" : "json";
  const type = message.is_error === true ? `error-${kind}` : kind;
  const value = parsed === undefined ? text : parsed.value;
  return { type: "tool-result", toolCallId: message.tool_call_id, toolName, output: { type, value } };
}

/** AI SDK parts pass unchanged; images of other libraries become files. */
function toUserPart(part: ContentPart): object {
  const url = imageUrlOf(part);
  if (url === undefined) return part;
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  if (inline !== null) return { type: "file", mediaType: inline[1], data: { type: "data", data: inline[2] } };
  return { type: "file", mediaType: "image", data: { type: "url", url: new URL(url) } };
}

function imageUrlOf({ type, image_url: image }: ContentPart): string | undefined {
  if (type !== "image_url") return undefined;
  const url: unknown = typeof image === "object" && image !== null && "url" in image ? image.url : image;
  return typeof url === "string" ? url : undefined;
}
