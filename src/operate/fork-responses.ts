/**
 * Decides which model responses of a scope come before the cut of a fork. Pure: it reads nothing. What is not known to come
 * after the cut is kept, because a response that was received is not requested again.
 */
import { countCalls, hasRedactedCall } from "../invoke/recording/redact-recording.ts";
import type { CallToCopy, ResponseToCopy } from "../store/tables/copy-run.ts";
import { FIRST_BY_REQUEST } from "../store/tables/responses.ts";
import { decode } from "../util/encode.ts";

/** @param cut the first call of the scope that is not copied, with those after it @param kept those before it */
export function responsesBefore(
  responses: readonly ResponseToCopy[],
  cut: CallToCopy,
  calls: { readonly kept: readonly CallToCopy[]; readonly dropped: readonly CallToCopy[] },
): ResponseToCopy[] {
  const current = responses.filter(({ attempt }) => attempt === cut.attempt);
  const asking = askingFor(current, cut, calls.kept);
  // Its arguments are no longer known: the model must write them again.
  const isUnusable =
    asking !== undefined &&
    cut.toolCallId !== null &&
    hasRedactedCall(decode(asking.responseJson), cut.toolCallId);
  const later = laterThan(current, asking, calls);
  return responses.filter((response) => {
    if (response.attempt !== cut.attempt) return response.attempt < cut.attempt;
    if (response === asking) return !isUnusable;
    if (asking !== undefined && isCounted(response) && isCounted(asking) && response.isAnswer)
      return response.position < asking.position;
    return !later.has(response);
  });
}

/**
 * The response that asks for the cut. Models reuse ids: it comes after the responses that ask for the calls before the
 * cut.
 */
function askingFor(
  responses: readonly ResponseToCopy[],
  { toolCallId, attempt }: CallToCopy,
  kept: readonly CallToCopy[],
): ResponseToCopy | undefined {
  if (toolCallId === null) return undefined;
  const naming = responses.filter(({ responseJson }) => names(responseJson, toolCallId));
  // Only these have an order.
  if (!naming.every(isCounted)) return naming[0];
  let before = kept.filter((call) => call.toolCallId === toolCallId && call.attempt === attempt).length;
  const inOrder = naming.toSorted((one, other) => one.position - other.position);
  for (const response of inOrder) {
    before -= Math.max(1, countCalls(decode(response.responseJson), toolCallId));
    if (before < 0) return response;
  }
  return inOrder.at(-1);
}

function isCounted({ position }: ResponseToCopy): boolean {
  return position < FIRST_BY_REQUEST;
}

/** Responses that name a call after the cut, or answer a request that does. */
function laterThan(
  responses: readonly ResponseToCopy[],
  asking: ResponseToCopy | undefined,
  { kept, dropped }: { readonly kept: readonly CallToCopy[]; readonly dropped: readonly CallToCopy[] },
): ReadonlySet<ResponseToCopy> {
  // Models reuse ids: one that a call before the cut has too says nothing.
  const before = new Set(kept.map(({ toolCallId }) => toolCallId));
  const ids = dropped.map(({ toolCallId }) => toolCallId).filter((id) => !before.has(id));
  const isNamed = (text: string | null): boolean => text !== null && ids.some((id) => names(text, id));
  const later = new Set(
    responses.filter((one) => one !== asking && (isNamed(one.responseJson) || isNamed(one.requestJson))),
  );
  // Only the difference to an earlier request is stored.
  const at = new Map(responses.map((one) => [one.position, one]));
  for (let size = -1; size !== later.size;) {
    size = later.size;
    for (const one of responses) {
      const after = at.get(previousOf(one) ?? -1);
      if (after !== undefined && one !== asking && later.has(after)) later.add(one);
    }
  }
  return later;
}

function previousOf({ requestJson }: ResponseToCopy): number | undefined {
  return requestJson === null ? undefined : (JSON.parse(requestJson) as { readonly after?: number }).after;
}

function names(text: string, toolCallId: string | null): boolean {
  // Some formats have calls as JSON in a text.
  return (
    toolCallId !== null &&
    (text.includes(JSON.stringify(toolCallId)) ||
      text.includes(JSON.stringify(JSON.stringify(toolCallId)).slice(1, -1)))
  );
}
