/**
 * Finds a call in the messages that an AI SDK loop passes with it: its turn of the chat, and the number of earlier equal calls
 * in that turn. A loop that resumes from its messages makes only the remaining calls, so counting calls alone would mistake
 * the second of two equal calls for the first.
 */
import { toProviderNames } from "../definition/provider-names.ts";
import { canonicalText } from "../util/canonical.ts";

export interface CallInMessages {
  /** User messages so far, at least 1. */
  readonly turn: number;
  /** Equal calls of this turn that come before this one. */
  readonly earlier: number;
  /** The messages already contain this call: the loop resumes it. */
  readonly isResumed: boolean;
}

interface Part {
  readonly type?: unknown;
  readonly toolCallId?: unknown;
  readonly toolName?: unknown;
  readonly input?: unknown;
}

interface ModelCall {
  readonly toolName: string;
  readonly args: unknown;
  readonly toolCallId: string | undefined;
}

/** `undefined` without a history. */
export function findCallInMessages(
  call: ModelCall,
  messages: readonly unknown[] | undefined,
): CallInMessages | undefined {
  if (!Array.isArray(messages) || messages.length === 0) return undefined;
  const lastUser = messages.findLastIndex((message) => roleOf(message) === "user");
  const turn = Math.max(1, messages.filter((message) => roleOf(message) === "user").length);
  const sinceUser = messages.slice(lastUser + 1);
  const lastSaid = sinceUser.findLastIndex((message) => roleOf(message) === "assistant");
  const said = sinceUser.filter((message) => roleOf(message) === "assistant").map(partsOf);
  const last = said.at(-1) ?? [];
  const isEqual = equalityTo(call, last);
  const equalIn = (parts: readonly Part[]): number => parts.filter(isEqual).length;
  const results = sinceUser.slice(lastSaid + 1).flatMap(partsOf);
  const resolved = countOf(results, "tool-result", call.toolCallId);
  const own = last.flatMap((part, index) =>
    part.toolCallId === call.toolCallId && isEqual(part) ? [index] : [],
  );
  const isResumed = own.length > 0 && countOf(last, "tool-call", call.toolCallId) > resolved;
  const before = said.slice(0, isResumed ? -1 : undefined).reduce((sum, parts) => sum + equalIn(parts), 0);
  if (!isResumed) return { turn, earlier: before, isResumed };
  // Models reuse ids: of several calls with this one, those with a result come first.
  const position = own[Math.min(resolved, own.length - 1)] ?? 0;
  return { turn, earlier: before + equalIn(last.slice(0, position)), isResumed };
}

function countOf(parts: readonly Part[], type: string, toolCallId: string | undefined): number {
  return parts.filter((part) => part.type === type && part.toolCallId === toolCallId).length;
}

/** The model may know a tool by its own name, by the provider's name for it, or by a name that the program chose. */
function equalityTo(
  { toolName, args, toolCallId }: ModelCall,
  last: readonly Part[],
): (part: Part) => boolean {
  const text = textOf(args);
  const given = last.filter((part) => part.toolCallId === toolCallId && textOf(part.input) === text);
  const names = new Set([toolName, ...toProviderNames([toolName]), ...given.map((part) => part.toolName)]);
  return (part) => part.type === "tool-call" && names.has(part.toolName) && textOf(part.input) === text;
}

function textOf(value: unknown): string {
  try {
    return canonicalText(value);
  } catch {
    // The call itself refuses input that cannot be read. Until then it counts as equal.
    return "";
  }
}

function roleOf(message: unknown): unknown {
  return typeof message === "object" && message !== null && "role" in message ? message.role : undefined;
}

function partsOf(message: unknown): readonly Part[] {
  const content =
    typeof message === "object" && message !== null && "content" in message ? message.content : undefined;
  if (!Array.isArray(content)) return [];
  return content.filter((part): part is Part => typeof part === "object" && part !== null);
}
