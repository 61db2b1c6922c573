/**
 * Where a call stands in the messages that an AI SDK loop passes with it: in which turn of the chat, and after how many
 * equal calls of that turn. A loop that resumes from its messages makes only the calls that are left, so counting the
 * calls that are made would take the second of two equal calls for the first.
 */
import { toProviderNames } from "../definition/provider-names.ts";
import { canonicalText } from "../util/canonical.ts";

export interface PlaceInHistory {
  /** User messages so far, at least 1. */
  readonly turn: number;
  /** Equal calls of this turn that come before this one. */
  readonly earlier: number;
  /** The messages hold this very call already: the loop resumes it. */
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

/** `undefined` where there is no history. */
export function placeInHistory(
  call: ModelCall,
  messages: readonly unknown[] | undefined,
): PlaceInHistory | undefined {
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

/** The model knows a tool by its own name, by the one that its provider takes, or by one that the program gave it. */
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
    // What cannot be read is refused by the call itself; until then it counts as equal.
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
