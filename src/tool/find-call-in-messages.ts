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
  /** The index of an earlier equal call that waits for approval: this one continues it. */
  readonly continues?: number | undefined;
  /** The messages already contain this call: the loop resumes it. */
  readonly isResumed: boolean;
}

interface Part {
  readonly type?: unknown;
  readonly toolCallId?: unknown;
  readonly toolName?: unknown;
  readonly input?: unknown;
  readonly output?: unknown;
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
  const responses = responsesIn(messages.slice(lastUser + 1));
  const last = responses.at(-1) ?? { parts: [], results: [] };
  const isEqual = equalityTo(call, last.parts);
  const own = last.parts.flatMap((part, index) =>
    part.toolCallId === call.toolCallId && isEqual(part) ? [index] : [],
  );
  const resolved = resultsOf(last, call.toolCallId).length;
  const isResumed = own.length > 0 && callsOf(last, call.toolCallId).length > resolved;
  const counted = new EqualCalls(isEqual);
  for (const response of isResumed ? responses.slice(0, -1) : responses) counted.add(response);
  if (!isResumed) return { turn, ...counted.next(), isResumed };
  // Models reuse ids: of several calls with this one, those with a result come first.
  const position = own[Math.min(resolved, own.length - 1)] ?? 0;
  return { turn, earlier: counted.indexIn(last, position), isResumed };
}

/** What the model said at once, and the results that follow it. */
interface Response {
  readonly parts: readonly Part[];
  readonly results: Part[];
}

function responsesIn(messages: readonly unknown[]): Response[] {
  const responses: Response[] = [];
  for (const message of messages) {
    if (roleOf(message) === "assistant") responses.push({ parts: partsOf(message), results: [] });
    else responses.at(-1)?.results.push(...partsOf(message));
  }
  return responses;
}

function callsOf({ parts }: Response, toolCallId: unknown): Part[] {
  return parts.filter((part) => part.type === "tool-call" && part.toolCallId === toolCallId);
}

function resultsOf({ results }: Response, toolCallId: unknown): Part[] {
  return results.filter((part) => part.type === "tool-result" && part.toolCallId === toolCallId);
}

/**
 * Gives the equal calls of a turn their indexes. A call whose result says that it waits for approval has not ended: the next
 * equal call continues it, unless both are calls of one response.
 */
class EqualCalls {
  readonly #isEqual: (part: Part) => boolean;
  #count = 0;
  #waiting: readonly number[] = [];

  constructor(isEqual: (part: Part) => boolean) {
    this.#isEqual = isEqual;
  }

  add(response: Response): void {
    const before = [...this.#waiting];
    const after: number[] = [];
    for (const [position, part] of response.parts.entries()) {
      if (!this.#isEqual(part)) continue;
      let index = before.shift();
      if (index === undefined) {
        index = this.#count;
        this.#count += 1;
      }
      const sameId = callsOf({ ...response, parts: response.parts.slice(0, position) }, part.toolCallId);
      if (saysWaiting(resultsOf(response, part.toolCallId)[sameId.length])) after.push(index);
    }
    this.#waiting = [...before, ...after];
  }

  /** The index of the equal call at this position of the next response. */
  indexIn({ parts }: Response, position: number): number {
    const before = parts.slice(0, position).filter(this.#isEqual).length;
    return this.#waiting[before] ?? this.#count + before - this.#waiting.length;
  }

  next(): Pick<CallInMessages, "earlier" | "continues"> {
    return { earlier: this.#count, continues: this.#waiting[0] };
  }
}

const WAITS = "approval_pending";

/** Our error, as the SDK sends it to the model. */
function saysWaiting(result: Part | undefined): boolean {
  const output = result?.output;
  const text = typeof output === "object" && output !== null && "value" in output ? output.value : undefined;
  if (typeof text !== "string" || !text.includes(WAITS)) return false;
  try {
    const error: unknown = JSON.parse(text);
    return typeof error === "object" && error !== null && "error_type" in error && error.error_type === WAITS;
  } catch {
    // A text of the tool.
    return false;
  }
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
