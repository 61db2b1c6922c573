/** Gives indexes to responses that were committed before the first reader came. Any process may do it. */
import type { Transaction } from "../store/store.ts";
import { reserveIndexes, saveNumbered, unnumberedResponses } from "../store/tables/streams.ts";
import { decode } from "../util/encode.ts";
import { partsOfResponse } from "./parts-of-response.ts";
import { placeOf, responseId } from "./stream-part.ts";

export function* numberResponses(runId: string): Transaction<void> {
  for (const row of yield* unnumberedResponses(runId)) {
    const details = partsOfResponse(decode(row.responseJson));
    if (details.length === 0) continue;
    const first = yield* reserveIndexes(runId, details.length + 1);
    const response = responseId(row);
    const parts = details.map((part, index) => ({ ...placeOf(row, first + index, response), ...part }));
    yield* saveNumbered(row, { json: JSON.stringify(parts), lastIndex: first + details.length - 1 });
  }
}
