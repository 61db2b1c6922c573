/**
 * Stored responses of a model, by their position in a scope. A response is committed before its calls run, and replayed when
 * the loop resumes. When a request differs from the stored one, the loop calls the model from there on.
 */
import { ToolwrightError } from "../errors.ts";
import {
  ANY_REQUEST,
  DELETED_RESPONSE,
  FIRST_BY_REQUEST,
  forgetLaterResponses,
  keepReplacedParts,
  type RecordedResponse,
  readResponse,
  saveResponse,
} from "../store/tables/responses.ts";
import type { Transaction } from "../store/store.ts";
import { decode, encode } from "../util/encode.ts";
import { digest } from "../util/hash.ts";
import type { AskedModel } from "../invoke/asked-model.ts";
import type { Scope } from "../invoke/scope.ts";
import type { Replay } from "../invoke/replay/replay.ts";
import type { ResponseRequest } from "../invoke/replay/recorded-requests.ts";
import { LiveResponse } from "../stream/live-response.ts";
import type { PartOrigin, StreamPartDetails } from "../stream/stream-part.ts";
import { CopiedResponses } from "./copied-responses.ts";
import { RequestLog } from "./request-log.ts";

export interface ResponseSlot {
  /** The stored response to an equal request. */
  readonly recorded: { readonly value: unknown } | undefined;
  /** The stored request at this position differs: no stored response is used from here on. */
  readonly hasDiverged: boolean;
  /**
   * Commits the value and returns what a replay would return. A later call replaces it.
   * @param also statements for the same transaction
   * @throws TOOL_RUN_FENCED
   */
  save(value: unknown, also?: () => Transaction<void>): Promise<unknown>;
  /** For the response itself: what readers of the run receive while it arrives. Called right before the request. */
  receive(): Promise<ReceivedResponse>;
  /** The request failed: the next request takes this position. */
  release(): void;
}

/** A response that is being received. Its parts reach the readers of the run immediately. */
export interface ReceivedResponse extends Pick<
  LiveResponse,
  "add" | "discard" | "abandon" | "isRead" | "hasParts"
> {
  /**
   * The same as `save` of the slot, for the complete response.
   * @param end the parts that must not be seen before the commit: calls, and the end
   */
  save(value: unknown, end: readonly StreamPartDetails[], also?: () => Transaction<void>): Promise<unknown>;
}

export interface RecordedResponses {
  /**
   * Takes the next position.
   * @param request what the model is asked, for recorded runs and replays
   * @param earlierHashes the hashes that earlier versions would have for the same request
   */
  next(
    requestHash: string,
    request?: () => AskedModel,
    earlierHashes?: readonly string[],
  ): Promise<ResponseSlot>;
}

/**
 * @param onDiverged called once, with the position from which stored responses are no longer used
 * @param first the first position, where several loops share a scope
 */
export function recordedResponsesOf(
  scope: Scope,
  onDiverged: (position: number) => void,
  first = 0,
): RecordedResponses {
  let next = first;
  let isLive = false;
  const requests = new RequestLog(scope);
  return {
    async next(requestHash, request, earlierHashes = []) {
      const position = next;
      next += 1;
      scope.asksModel = true;
      await scope.ready;
      assertRecording(scope);
      const { replay } = scope.host;
      if (replay !== undefined)
        return replayedSlot(scope, replay, { position, isByRequest: false, requestHash, asked: request?.() });
      const requestJson = await requests.describe(position, request);
      const release = (): void => {
        if (next === position + 1) next = position;
      };
      const found = isLive ? undefined : await readAt(scope, position, release);
      const isSame =
        found !== undefined && [requestHash, ANY_REQUEST, ...earlierHashes].includes(found.requestHash);
      const hasDiverged = found !== undefined && !isSame;
      if (hasDiverged) {
        isLive = true;
        onDiverged(position - first);
      }
      const asked = { requestHash, requestJson };
      const slot = slotAt(scope, position, asked, isSame ? found : undefined, hasDiverged);
      return { ...slot, release, hasDiverged };
    },
  };
}

/**
 * For loops that run side by side in one scope, in no fixed order: a response is found by its request, and by how often that
 * request was made before. A request without a stored response goes to the model.
 */
export function recordedResponsesByRequest(scope: Scope): RecordedResponses {
  const requests = new RequestLog(scope);
  const copied = new CopiedResponses(scope);
  return {
    async next(requestHash, request) {
      const count = scope.countRequest(requestHash);
      scope.asksModel = true;
      await scope.ready;
      assertRecording(scope);
      const position = positionOfRequest(requestHash, count);
      const { replay } = scope.host;
      if (replay !== undefined)
        return replayedSlot(scope, replay, { position, isByRequest: true, requestHash, asked: request?.() });
      const requestJson = await requests.describe(position, request);
      const release = (): void => scope.uncountRequest(requestHash, count);
      const found = await readAt(scope, position, release);
      const isSame = found?.requestHash === requestHash;
      const slot = slotAt(scope, position, { requestHash, requestJson }, isSame ? found : undefined);
      if (isSame) copied.noteUsed(position);
      const copy = isSame ? undefined : await copied.take(request);
      return {
        ...slot,
        ...(copy === undefined
          ? {}
          : { recorded: { value: await slot.save(copy.value, () => copy.forget()) } }),
        release,
        hasDiverged: false,
      };
    },
  };
}

/** Far beyond the positions of loops that count their responses. */
function positionOfRequest(requestHash: string, count: number): number {
  return FIRST_BY_REQUEST + Buffer.from(digest([requestHash, count]), "base64url").readUIntBE(0, 6);
}

/** @param release gives the position back: if the loop asks again, it asks for the same response */
async function readAt(
  scope: Scope,
  position: number,
  release: () => void,
): Promise<RecordedResponse | undefined> {
  const location = { scopeId: scope.id, attempt: scope.attempt, position };
  const found = await scope.host.store.read(() => readResponse(location));
  if (found?.responseJson === DELETED_RESPONSE) {
    release();
    throw deletedResponse(scope);
  }
  // The results of its calls follow, and readers of the run receive them.
  if (found !== undefined) await scope.host.streams.wanted(scope.identity.runId).catch(() => undefined);
  return found;
}

function slotAt(
  scope: Scope,
  position: number,
  request: { readonly requestHash: string; readonly requestJson: string | null },
  recorded: RecordedResponse | undefined,
  hasDiverged = false,
): Omit<ResponseSlot, "hasDiverged" | "release"> {
  const location = { scopeId: scope.id, attempt: scope.attempt, position };
  const { streams } = scope.host;
  const { runId } = scope.identity;
  let replaces = hasDiverged;
  const save = async (
    value: unknown,
    ...also: readonly (undefined | (() => Transaction<void>))[]
  ): Promise<unknown> => {
    const responseJson = encode(value);
    const changes = await commit(scope, function* () {
      const saved = yield* saveResponse(location, { ...request, responseJson }, scope.writer);
      // The parts of the new response are stored below.
      if (saved > 0 && replaces) yield* keepReplacedParts(runId, location);
      if (saved > 0 && hasDiverged) yield* forgetLaterResponses(location);
      if (saved > 0) for (const more of also) if (more !== undefined) yield* more();
      return saved;
    });
    if (changes === 0) throw fencedScope(scope);
    replaces = false;
    return decode(responseJson);
  };
  return {
    recorded: recorded === undefined ? undefined : { value: decode(recorded.responseJson) },
    save,
    async receive() {
      // The parts are a cache: the response is requested even if they cannot be written.
      const stream = await streams.wanted(runId).catch(() => undefined);
      const live = new LiveResponse(streams, originOf(scope), location, stream);
      return {
        isRead: () => live.isRead(),
        hasParts: () => live.hasParts(),
        add: (part) => live.add(part),
        discard: () => live.discard(),
        abandon: () => live.abandon(),
        save: (value, end, also) => live.commit(end, (parts) => save(value, also, parts)),
      };
    },
  };
}

/** Another answer to the same request could repeat the effects of the first one in other words. */
function deletedResponse({ identity: { runId, nodeId }, attempt }: Scope): ToolwrightError {
  return new ToolwrightError(
    "TOOL_RUN_DELETED",
    `A model response that attempt ${attempt} of task "${nodeId}" in run "${runId}" needs was deleted: by retention, or when the task had ended, since its tools hide values.`,
    {
      details: { runId, nodeId, attempt },
      effect: "none",
      hint: "Start another run, or another attempt: it asks the model again, and gets the recorded results of equal calls.",
    },
  );
}

/** In a replay the response comes from the fixture, and a request to the model cannot be made. */
function replayedSlot(scope: Scope, replay: Replay, request: ResponseRequest): ResponseSlot {
  const recorded = replay.respond(scope, request);
  const location = { requestHash: request.requestHash, requestJson: null };
  return {
    ...slotAt(scope, request.position, location, undefined),
    recorded,
    hasDiverged: false,
    release: () => undefined,
    receive: () =>
      Promise.reject(
        replay.failureOf(scope) ??
          new ToolwrightError("TOOL_REPLAY_DIFFERS", "The recorded run has no response here."),
      ),
  };
}

export function originOf({ id, attempt, identity, writer }: Scope): PartOrigin {
  const { runId, nodeId, iteration, parentKey } = identity;
  return { runId, scopeId: id, attempt, nodeId, iteration, parentKey, writer };
}

/** A loop may swallow the error, so the scope fails as well: its run must not continue without the response. */
async function commit<T>(scope: Scope, write: () => Transaction<T>): Promise<T> {
  try {
    return await scope.host.store.transaction(write, "normal");
  } catch (error) {
    if (ToolwrightError.is(error)) scope.fail(error);
    throw error;
  }
}

/** After a failed write, another request to the model could have no effect. */
function assertRecording({ root, parent }: Scope): void {
  const failure = root.failure ?? parent?.failure;
  if (failure !== undefined) throw failure;
}

export function fencedScope(scope: Scope): ToolwrightError {
  const { runId, nodeId } = scope.identity;
  return new ToolwrightError(
    "TOOL_RUN_FENCED",
    `Another process has taken over task "${nodeId}" of run "${runId}".`,
  );
}
