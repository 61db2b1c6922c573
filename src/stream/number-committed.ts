/**
 * Assigns indexes to responses, and the results of their calls, that were committed while the run had no reader. Any
 * process may do it.
 */
import type { Transaction } from "../store/store.ts";
import { type EndedModelCall, endedModelCalls } from "../store/tables/ended-model-calls.ts";
import {
  insertNumberedParts,
  readParts,
  reserveIndexes,
  saveNumbered,
  unnumberedResponses,
} from "../store/tables/streams.ts";
import { decode } from "../util/encode.ts";
import { partsOfResponse } from "./parts-of-response.ts";
import { detailsOfEnded, KnownResults } from "./result-parts.ts";
import { type NumberedPart, locationOf, responseId } from "./stream-part.ts";

/** Returns the parts that are new to every reader, in the order of their indexes. */
export function* numberCommitted(runId: string): Transaction<NumberedPart[]> {
  const found: NumberedPart[] = [];
  let ended: readonly EndedModelCall[] | undefined;
  for (const row of yield* unnumberedResponses(runId)) {
    const details = partsOfResponse(decode(row.responseJson));
    if (details.length === 0) continue;
    const first = yield* reserveIndexes(runId, details.length + 1);
    const response = responseId(row);
    const parts = details.map((part, index) => ({ ...locationOf(row, first + index, response), ...part }));
    yield* saveNumbered(row, { json: JSON.stringify(parts), lastIndex: first + details.length - 1 });
    // The results of its calls belong before the next response.
    ended ??= yield* endedModelCalls(runId);
    const results = yield* numberResults(runId, ended, new KnownResults(parts));
    found.push(...parts, ...results);
  }
  return found;
}

/** The same for calls that ended between two responses, and for calls that numbered responses lack. */
export function* numberMissingResults(runId: string): Transaction<NumberedPart[]> {
  const ended = yield* endedModelCalls(runId);
  if (ended.length === 0) return [];
  const texts = yield* readParts(runId, 0);
  const parts = texts.flatMap((json) => JSON.parse(json) as NumberedPart[]);
  return yield* numberResults(runId, ended, new KnownResults(parts));
}

function* numberResults(
  runId: string,
  ended: readonly EndedModelCall[],
  known: KnownResults,
): Transaction<NumberedPart[]> {
  const found: NumberedPart[] = [];
  for (const call of ended) {
    const response = known.callerOf(call, call.toolCallId);
    const details = response === undefined ? undefined : detailsOfEnded(call);
    if (response === undefined || details === undefined) continue;
    if (!known.take({ ...locationOf(call, 0, response), ...details })) continue;
    // One index more, for the end of the run.
    const index = yield* reserveIndexes(runId, 2);
    const part = { ...locationOf(call, index, response), ...details };
    yield* insertNumberedParts(runId, call.scopeId, index, JSON.stringify([part]));
    found.push(part);
  }
  return found;
}
