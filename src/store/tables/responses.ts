/** Responses of models, by their position in a scope: a received response is never requested again. */
import { change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";
import { columns, integer, type NewRowOf, type RowOf, text, textOrNull } from "./table.ts";
import { FROM_CURRENT_SCOPE, type Writer } from "./write-calls.ts";

const LOCATION = columns({
  scopeId: integer("scope_id"),
  attempt: integer("attempt"),
  position: integer("position"),
});

const RESPONSE = columns({
  requestHash: text("request_hash"),
  responseJson: text("response_json"),
  /** Only in recorded runs. */
  requestJson: textOrNull("request_json"),
});

export type ResponseLocation = RowOf<(typeof LOCATION)["map"]>;
export type RecordedResponse = RowOf<(typeof RESPONSE)["map"]>;

const READ = `SELECT ${RESPONSE.list()} FROM toolwright_responses
WHERE scope_id = ?1 AND attempt = ?2 AND position = ?3`;

export function* readResponse({
  scopeId,
  attempt,
  position,
}: ResponseLocation): Transaction<RecordedResponse | undefined> {
  const row = yield* first(READ, scopeId, attempt, position);
  return row === undefined ? undefined : RESPONSE.parse(row);
}

const SAVE = `INSERT INTO toolwright_responses (${LOCATION.list()}, ${RESPONSE.list()})
SELECT ${LOCATION.parameters(4)}, ${RESPONSE.parameters(7)} ${FROM_CURRENT_SCOPE}
ON CONFLICT (scope_id, attempt, position) DO UPDATE SET ${RESPONSE.excluded()}`;

/** 0 when the scope was taken over in the meantime. */
export function saveResponse(
  location: ResponseLocation,
  response: NewRowOf<(typeof RESPONSE)["map"]>,
  writer: Omit<Writer, "attempt">,
): Transaction<number> {
  return change(
    SAVE,
    location.attempt,
    writer.rootScopeId,
    writer.epoch,
    ...LOCATION.values(location),
    ...RESPONSE.values(response),
  );
}

export function* forgetResponses(scopeId: number, attempt: number): Transaction<void> {
  yield* change("DELETE FROM toolwright_responses WHERE scope_id = ?1 AND attempt = ?2", scopeId, attempt);
  yield* change("DELETE FROM toolwright_stream_parts WHERE scope_id = ?1", scopeId);
}
