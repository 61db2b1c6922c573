/**
 * Puts the results of each response in the order of its calls. After a decision, the AI SDK's streams list them in the order in
 * which they end, so a resumed loop would make another request than the stored one.
 */

interface Message {
  readonly role?: unknown;
  readonly content?: unknown;
}

interface Part {
  readonly type?: unknown;
  readonly toolCallId?: unknown;
}

/** Returns the prompt itself if its results are in order. */
export function withOrderedResults(prompt: unknown): unknown {
  if (!Array.isArray(prompt)) return prompt;
  let calls: readonly Part[] = [];
  let isChanged = false;
  const messages = (prompt as readonly unknown[]).map((message) => {
    const { role } = asMessage(message);
    if (role === "assistant") calls = partsOf(message).filter(({ type }) => type === "tool-call");
    if (role !== "tool" || calls.length < 2) return message;
    const content = orderedLike(calls, partsOf(message));
    if (content === undefined) return message;
    isChanged = true;
    return { ...asMessage(message), content };
  });
  return isChanged ? messages : prompt;
}

/** Other parts keep their places. `undefined` if the results are in order already. */
function orderedLike(calls: readonly Part[], parts: readonly Part[]): Part[] | undefined {
  const places = new Map(calls.map(({ toolCallId }, place) => [toolCallId, place]));
  const placeOf = ({ toolCallId }: Part): number => places.get(toolCallId) ?? calls.length;
  const results = parts.filter(isResult);
  const ordered = results.toSorted((one, other) => placeOf(one) - placeOf(other));
  if (results.every((result, index) => result === ordered[index])) return undefined;
  let next = 0;
  return parts.map((part) => (isResult(part) ? (ordered[next++] ?? part) : part));
}

function isResult({ type }: Part): boolean {
  return type === "tool-result";
}

function partsOf(message: unknown): readonly Part[] {
  const { content } = asMessage(message);
  return Array.isArray(content)
    ? content.map((part: unknown) => (typeof part === "object" && part !== null ? part : {}))
    : [];
}

function asMessage(message: unknown): Message {
  return typeof message === "object" && message !== null ? message : {};
}
