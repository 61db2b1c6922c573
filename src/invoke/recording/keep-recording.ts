/**
 * Deletes the model responses of a task that has ended, or of a run that is given up. In a recorded run, redacts them
 * instead. Runs in the transaction that stores the end.
 */
import type { Transaction } from "../../store/store.ts";
import {
  type KeptResponse,
  type KeptValues,
  readKeptResponses,
  readKeptValues,
  type RecordedPlace,
  type RecordedTask,
  replaceResponse,
} from "../../store/tables/recorded-responses.ts";
import { isRecorded, saveRecordedCopy } from "../../store/tables/recordings.ts";
import {
  coverArgumentsIn,
  emptyResponsesIn,
  forgetParts,
  forgetResponsesIn,
  hasUnrepeatableEffects,
} from "../../store/tables/retention.ts";
import { redactedParts } from "../../stream/redacted-parts.ts";
import { decode, encode } from "../../util/encode.ts";
import type { FoundValue } from "./find-hidden.ts";
import { Redaction } from "./redact-recording.ts";

/** A result that is stored elsewhere in plain text. A fixture has this copy of it. */
export interface ResultCopy {
  readonly part: string;
  /** A function is called only if it is needed: the messages of a turn may be long. */
  readonly json: string | (() => Transaction<string>);
}

/**
 * Returns the number of changed rows.
 * @param result may repeat values that its tools hide
 * @param callsIn where to find the calls that the task's requests show: a chat turn shows the calls of all earlier turns
 */
export function* endReplay(
  location: RecordedPlace,
  result?: ResultCopy,
  callsIn: RecordedPlace = location,
): Transaction<number> {
  const covered = yield* coverArgumentsIn(location);
  if (!(yield* isRecorded(location.runId))) return covered + (yield* forgetResponsesIn(location));
  const forgotten = yield* forgetParts(location);
  const { responses, redaction } = redactResponses(
    yield* readKeptResponses(location),
    yield* readKeptValues(callsIn),
  );
  let changes = 0;
  for (const { row, responseJson, requestJson } of responses)
    if (responseJson !== row.responseJson || requestJson !== row.requestJson) {
      const partsJson = row.partsJson === null ? null : redactedParts(row.partsJson, decode(responseJson));
      changes += yield* replaceResponse(row, responseJson, requestJson, partsJson);
    }
  if (result !== undefined && redaction.hidesSomething) {
    const json = typeof result.json === "string" ? result.json : yield* result.json();
    yield* saveRecordedCopy(location.runId, result.part, redactJson(redaction, json));
  }
  return covered + forgotten + changes;
}

/**
 * The same for a task of a program that has ended. What its function returned is not stored, so the program may run it again. A
 * model that is asked again could repeat its effects in other words, so it must not be asked for these responses. If the
 * task had no such effect, it may.
 */
export function* endProgramTask(task: RecordedTask): Transaction<void> {
  if ((yield* isRecorded(task.runId)) || !(yield* hasUnrepeatableEffects(task))) yield* endReplay(task);
  else {
    yield* coverArgumentsIn(task);
    yield* emptyResponsesIn(task);
  }
}

/** For a run that retention gives up: a process that resumes or repeats it must not ask for these responses again. */
export function* giveUpReplay(runId: string): Transaction<number> {
  if (yield* isRecorded(runId)) return yield* endReplay({ runId });
  return (yield* coverArgumentsIn({ runId })) + (yield* emptyResponsesIn({ runId }));
}

export interface RedactedResponse {
  readonly row: KeptResponse;
  readonly responseJson: string;
  readonly requestJson: string | null;
}

/** @param found further values that are hidden */
export function redactResponses(
  responses: readonly KeptResponse[],
  values: readonly KeptValues[],
  found: readonly FoundValue[] = [],
): { readonly responses: RedactedResponse[]; readonly redaction: Redaction } {
  const redaction = new Redaction(values.map(toLogged));
  redaction.addHidden(found);
  const decoded = responses.map((row) => ({
    row,
    response: decode(row.responseJson),
    request: row.requestJson === null ? undefined : decode(row.requestJson),
  }));
  for (const { request } of decoded) redaction.noteResults(request);
  const hidden = decoded.map(({ row, response, request }) => ({
    row,
    response: redaction.hideInCalls(response),
    request: redaction.hideInCalls(request),
  }));
  // A value that one response hides may appear in the text of an earlier one, so texts come second.
  const redacted = hidden.map(({ row, response, request }) => {
    if (!redaction.hidesSomething)
      return { row, responseJson: row.responseJson, requestJson: row.requestJson };
    return {
      row,
      responseJson: encode(redaction.hideInTexts(response)),
      requestJson: request === undefined ? null : encode(redaction.hideInTexts(request)),
    };
  });
  return { responses: redacted, redaction };
}

export function redactJson(redaction: Redaction, json: string): string {
  return redaction.hidesSomething ? encode(redaction.hideInTexts(redaction.hideInCalls(decode(json)))) : json;
}

function toLogged({ toolCallId, inputJson, outputJson }: KeptValues) {
  return {
    toolCallId,
    input: inputJson === null ? undefined : decode(inputJson),
    output: outputJson === null ? undefined : decode(outputJson),
  };
}
