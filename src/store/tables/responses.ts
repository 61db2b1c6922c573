/** Responses of models, by their place in a scope: what was received is never asked for again. */
import { text } from "./columns.ts";
import { change, first } from "../statement.ts";
import type { Transaction } from "../store.ts";

export interface ResponsePlace {
  readonly scopeId: number;
  readonly attempt: number;
  readonly position: number;
}

export interface RecordedResponse {
  readonly requestHash: string;
  readonly responseJson: string;
}

export function* readResponse(place: ResponsePlace): Transaction<RecordedResponse | undefined> {
  const row = yield* first(
    `SELECT request_hash, response_json FROM toolwright_responses
     WHERE scope_id = ?1 AND attempt = ?2 AND position = ?3`,
    place.scopeId,
    place.attempt,
    place.position,
  );
  if (row === undefined) return undefined;
  return { requestHash: text(row, "request_hash"), responseJson: text(row, "response_json") };
}

/** 0 when the scope was taken over in the meantime. */
export function saveResponse(
  place: ResponsePlace,
  response: RecordedResponse,
  writer: { readonly rootScopeId: number; readonly epoch: number | null },
): Transaction<number> {
  return change(
    `INSERT INTO toolwright_responses (scope_id, attempt, position, request_hash, response_json)
     SELECT CAST(?1 AS BIGINT), CAST(?2 AS BIGINT), CAST(?3 AS BIGINT), ?4, ?5 FROM toolwright_scopes
     WHERE id = ?6 AND attempt = ?2 AND (CAST(?7 AS BIGINT) IS NULL OR epoch = ?7) {share}
     ON CONFLICT (scope_id, attempt, position) DO UPDATE SET request_hash = excluded.request_hash,
       response_json = excluded.response_json`,
    place.scopeId,
    place.attempt,
    place.position,
    response.requestHash,
    response.responseJson,
    writer.rootScopeId,
    writer.epoch,
  );
}

export function* forgetResponses(scopeId: number, attempt: number): Transaction<void> {
  yield* change("DELETE FROM toolwright_responses WHERE scope_id = ?1 AND attempt = ?2", scopeId, attempt);
}
